/** The field `attributes` of bodies and responses, as the declarations define it (functions/README.md, Attributes). */
import * as v from 'valibot';
import { type Attribute, defaultLength, isDay, isExact } from '../../ground/attribute.ts';
import { hasAttributes, type ServiceValues } from '../../ground/settings.ts';
import { fieldsIf, oneOf, rule, text, trueOrFalse } from '../../ground/validation.ts';
import { shortText } from '../../users/fields.ts';
import type { GivenAttributes, Role } from '../../users/user.ts';
import { declaredAttributes } from './attributes.ts';

type Given = v.GenericSchema<unknown, GivenAttributes>;

/**
 * The field of a body.
 * @param of the caller's role: by null, admins may also remove attributes that are stored but not declared
 * @param given the field as sent; absent: the schema is for the document
 */
export function attributesField(settings: ServiceValues, of: Role, given: unknown = {}) {
  const entries = declaredAttributes(settings).map(
    (attribute) => [attribute.name, v.exactOptional(v.nullable(valueSchema(attribute)))] as const,
  );
  const names = entries.map(([name]) => name);
  const others = Object.keys(given ?? {}).filter((name) => !names.includes(name));
  const undeclared = of === 'admin' ? v.null('is not declared') : v.never('is not declared');
  const all = [...entries, ...others.map((name) => [name, undeclared] as const)];
  const field = v.pipe(
    // An array has no attribute names.
    Array.isArray(given)
      ? v.custom<never>(() => false, 'must be an object')
      : v.strictObject(Object.fromEntries(all), 'must be an object'),
    v.metadata({ name: 'AttributeChanges' }),
    v.description(
      'Those that are given are set, `null` removes one, and all others stay. Who may write which is declared.',
    ),
  );
  return fieldsIf(hasAttributes(settings), { attributes: v.exactOptional(field as Given) });
}

export function shownAttributes(settings: ServiceValues) {
  const entries = declaredAttributes(settings).map(
    (attribute) => [attribute.name, v.exactOptional(valueSchema(attribute))] as const,
  );
  const field = v.pipe(
    v.strictObject(Object.fromEntries(entries)),
    v.metadata({ name: 'Attributes' }),
    v.description(
      'The declared attributes that are set. Absent for callers who are neither the user nor an admin or auditor.',
    ),
  );
  return fieldsIf(hasAttributes(settings), {
    attributes: v.exactOptional(field as v.GenericSchema<unknown, object>),
  });
}

export function valueSchema({ type, maxLength = defaultLength, choices = [] }: Attribute) {
  const ofType = {
    text: () => shortText(maxLength),
    number: () => number,
    boolean: () => trueOrFalse,
    choice: () => oneOf(choices),
    date: () => date,
  };
  return ofType[type]();
}

const most = Number.MAX_SAFE_INTEGER;

const number = v.pipe(
  v.number('must be a number'),
  rule<number>({
    code: 'INVALID_FORMAT',
    holds: isExact,
    message: () => `must be from -${most} to ${most}`,
    keywords: () => ({ minimum: -most, maximum: most }),
  }),
);

export const date = v.pipe(
  text,
  rule({
    code: 'INVALID_FORMAT',
    holds: isDay,
    message: () => 'must be a date such as 2026-11-20',
    keywords: () => ({ format: 'date' }),
  }),
);
