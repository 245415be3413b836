/** Parses the lines of an import, which another system has written. */
import * as v from 'valibot';
import { instant } from '../../lib/contract/parameters.ts';
import { DomainError, sentenceOf } from '../../lib/ground/errors.ts';
import { parseJson } from '../../lib/ground/rules.ts';
import { config } from '../../lib/ground/settings.ts';
import {
  oneOf,
  rule,
  text,
  trueOrFalse,
  validate,
  validateObject,
} from '../../lib/ground/validation.ts';
import { attributesSet, declaredAttributes } from '../../lib/options/attributes/attributes.ts';
import { valueSchema } from '../../lib/options/attributes/field.ts';
import { issuerNamed } from '../../lib/options/identities/id-token.ts';
import { makeIdentity, mostIdentities } from '../../lib/options/identities/identities.ts';
import { email, name, newEmail } from '../../lib/users/fields.ts';
import type { StoredUser } from '../../lib/users/item.ts';
import { hashCost, isPasswordHash } from '../../lib/users/password.ts';
import { type GivenAttributes, roles, unmatchableHash } from '../../lib/users/user.ts';

/** A user of another system, who has no id in this service yet. */
export interface Candidate {
  readonly line: number;
  readonly user: Omit<StoredUser, 'id' | 'version'>;
  /** The field `id` of the line. */
  readonly oldId: string | number | null;
}

const timeRule =
  'must be a time between 1970 and now, with its offset from UTC, such as 2026-01-31T09:05:00Z';
const hashRule = 'must be a bcrypt hash: $2a$, $2b$ or $2y$, a cost from 04 to 16, 60 characters';
const idRule = 'must be text, or a whole number up to 9007199254740991: put others in quotes';

const time = v.pipe(v.string(timeRule), v.transform(toInstant), v.check(isPast, timeRule));

const invalidForm = { code: 'INVALID_FORMAT' } as const;

const identities = v.pipe(
  v.array(
    v.object({
      issuer: v.pipe(v.string(), v.regex(/^[^#]{1,255}$/), v.transform(issuerNamed)),
      subject: v.pipe(v.string(), v.minLength(1), v.maxLength(255)),
      email: v.nullish(email, null),
      created_at: v.optional(instant),
    }),
  ),
  v.maxLength(mostIdentities),
  v.check(
    (list) =>
      new Set(list.map(({ issuer, subject }) => `${issuer}#${subject}`)).size === list.length,
  ),
);

const isVerified = v.boolean('must be true or false');

const importedUser = v.object({
  name,
  email: newEmail,
  role: v.nullish(oneOf(roles), 'user'),
  auditor: v.optional(trueOrFalse),
  created_at: v.nullish(time, () => new Date().toISOString()),
  suspended_at: v.nullish(time),
  // Null means that the user sets a password by a reset.
  password_hash: v.nullable(
    v.pipe(
      text,
      rule({ ...invalidForm, holds: isPasswordHash, message: () => hashRule }),
      rule({
        ...invalidForm,
        // A higher cost would make refused logins of this user slower than refused logins of other users.
        holds: (hash) => !(hashCost(hash) > config.bcryptCost),
        message: () =>
          `must have a cost of at most ${config.bcryptCost}, the service's BCRYPT_COST: raise it (setting bcryptCost) first`,
      }),
    ),
  ),
  email_verified: v.optional(isVerified, false),
  identities: v.optional(
    v.custom<v.InferInput<typeof identities>>(
      (given) => v.is(identities, given),
      `must be a list of at most ${mostIdentities} objects with issuer and subject`,
    ),
  ),
  id: v.nullish(v.union([v.string(), v.pipe(v.number(), v.safeInteger(idRule))], idRule), null),
});

/**
 * If the service verifies addresses, a line must say whether its address is verified: somebody who registered in the
 * other system with another person's address must not count as the owner of the address.
 */
const importedWhereVerified = v.object({ ...importedUser.entries, email_verified: isVerified });

/**
 * Parses a line.
 * @returns the user; or all rules that the line breaks, in one sentence that quotes nothing from the line
 */
export function parseLine(line: number, text: string): Candidate | { readonly fault: string } {
  // A message of the parser would quote the line, and so the hash.
  const body = parseJson(text);
  if (typeof body !== 'object' || body === null || Array.isArray(body))
    return { fault: 'is not a JSON object' };
  const { attributes, fault } = parseAttributes((body as { attributes?: unknown }).attributes);
  const schema = config.emailVerification === 'off' ? importedUser : importedWhereVerified;
  const parsed = validateObject(schema, { ...body });
  const faults = 'faults' in parsed ? parsed.faults.map(sentenceOf) : [];
  if ('faults' in parsed || fault) return { fault: [...faults, fault ?? []].flat().join('; ') };
  return candidateOf(line, parsed.output, attributes);
}

/**
 * Parses the attributes of a line. Attributes that are not declared are kept: a later declaration makes them visible.
 * @returns the attributes in the form in which they are stored, undefined if there are none; or all rules that they
 *   break, in one sentence that quotes nothing from the line
 */
function parseAttributes(given: unknown): {
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
  // JSON.parse reads 1e999 as Infinity, which JSON.stringify writes as null.
  const isPlain =
    ['string', 'boolean'].includes(typeof value) || value === null || Number.isFinite(value);
  return isPlain
    ? { name, value }
    : { name, fault: 'attributes that are not declared must be text, numbers, true or false' };
}

function candidateOf(
  line: number,
  parsed: v.InferOutput<typeof importedUser>,
  attributes: string | undefined,
): Candidate {
  const { id: oldId, password_hash, suspended_at, identities: given, ...rest } = parsed;
  const linked = v
    .parse(identities, given ?? [])
    .map(({ created_at: at, ...name }) => makeIdentity({ ...name, ...(at && { created_at: at }) }));
  const user = {
    ...rest,
    ...(attributes ? { attributes } : {}),
    ...(suspended_at ? { suspended_at } : {}),
    ...(linked.length > 0 ? { identities: linked } : {}),
    // So logins of users without a hash take the same time as other logins.
    password_hash: password_hash ?? unmatchableHash(),
  };
  return { line, user, oldId };
}

/**
 * The instant of a time in a line; '' if it is no time. A time that PostgreSQL has printed has a space in place of the T,
 * and may have an offset without minutes.
 */
function toInstant(value: string): string {
  const written = value.replace(' ', 'T').replace(/(?<=:[\d.]+[+-]\d\d)$/, ':00');
  const { success, output } = v.safeParse(instant, written);
  return success ? output : '';
}

function isPast(time: string): boolean {
  return time >= '1970' && time <= new Date().toISOString();
}
