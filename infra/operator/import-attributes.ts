/** The attributes of a line of an import. */
import { DomainError } from '../../lib/ground/errors.ts';
import { validate } from '../../lib/ground/validation.ts';
import { attributesSet, declaredAttributes } from '../../lib/options/attributes/attributes.ts';
import { valueSchema } from '../../lib/options/attributes/field.ts';
import type { GivenAttributes } from '../../lib/users/user.ts';

/**
 * Parses the attributes of a line. Undeclared attributes are kept: a later declaration makes them visible.
 * @returns the attributes as they are stored, undefined if there are none; or every rule that they break, as one
 *   sentence that quotes nothing of the line
 */
export function parseAttributes(given: unknown): {
  readonly attributes?: string | undefined;
  readonly fault?: string;
} {
  if (typeof given !== 'object' || Array.isArray(given)) {
    return given === undefined ? {} : { fault: 'attributes must be an object' };
  }
  const parsed = Object.entries(given ?? {}).map(([name, value]) => parseOne(name, value));
  const faults = parsed.flatMap(({ fault }) => fault ?? []);
  if (faults.length > 0) return { fault: [...new Set(faults)].join('; ') };
  const values = Object.fromEntries(parsed.map(({ name, value }) => [name, value]));
  try {
    return { attributes: attributesSet({}, values as GivenAttributes).fields?.attributes };
  } catch (error) {
    if (error instanceof DomainError) return { fault: error.message };
    throw error;
  }
}

function parseOne(name: string, value: unknown) {
  const attribute = declaredAttributes().find((each) => each.name === name);
  if (attribute && value !== null) {
    const validated = validate(valueSchema(attribute), value);
    return 'output' in validated
      ? { name, value: validated.output }
      : {
          name,
          fault: validated.faults.map(({ rule }) => `attributes.${name} ${rule}`).join('; '),
        };
  }
  // JSON reads 1e999 as a number that it writes as null.
  const isPlain =
    ['string', 'boolean'].includes(typeof value) || value === null || Number.isFinite(value);
  return isPlain
    ? { name, value }
    : { name, fault: 'attributes that are not declared must be text, numbers, true or false' };
}
