/**
 * The attributes that an app declares for its users (functions/README.md, Attributes). They are stored as one JSON text
 * in a user's item. A stored value that no declaration allows is kept, but ignored until a declaration allows it again.
 */
import { readFileSync } from 'node:fs';
import {
  type Attribute,
  attributesFile,
  defaultLength,
  isDay,
  isExact,
} from '../../ground/attribute.ts';
import { invalidField } from '../../ground/errors.ts';
import { config, type ServiceValues } from '../../ground/settings.ts';
import { isLine } from '../../ground/validation.ts';
import type { Change, StoredUser } from '../../users/item.ts';
import type { AttributeValue, GivenAttributes } from '../../users/user.ts';

interface Given {
  readonly attributes?: unknown;
}

let read: { readonly setting: string; readonly declared: readonly Attribute[] } | undefined;

/** The attributes that a setting declares, which on AWS is a file. */
export function declaredAttributes({
  userAttributes: setting,
}: Pick<ServiceValues, 'userAttributes'> = config): readonly Attribute[] {
  if (setting === '') return [];
  if (read?.setting !== setting) {
    const text = setting === attributesFile ? readFileSync(attributesFile, 'utf8') : setting;
    read = { setting, declared: JSON.parse(text) };
  }
  return read.declared;
}

/** Whether a body names no declared attribute. */
export function namesNoAttribute({ attributes }: Given): boolean {
  return declaredAttributes().every(({ name }) => !names(attributes, name));
}

/** Whether a body names no attribute that only admins may write. */
export function namesNoAttributeOfAdmins({ attributes }: Given): boolean {
  return declaredAttributes().every(
    ({ name, writer }) => writer === 'user' || !names(attributes, name),
  );
}

/** The most bytes that all attributes of a user together may take when stored. */
const mostStoredBytes = 4096;

export function storedAttributes({
  attributes = '{}',
}: Pick<StoredUser, 'attributes'>): Readonly<Record<string, AttributeValue>> {
  return JSON.parse(attributes);
}

/** The attributes of a user that are declared and fit their declarations, in the order of the declarations. */
export function attributesOf(user: Pick<StoredUser, 'attributes'>) {
  const stored = storedAttributes(user);
  return Object.fromEntries(
    declaredAttributes()
      .filter((attribute) => fits(attribute, stored))
      .map(({ name }) => [name, stored[name] as AttributeValue]),
  );
}

export function attributeClaims(user: Pick<StoredUser, 'attributes'>) {
  const shown = attributesOf(user);
  return Object.fromEntries(
    declaredAttributes()
      .filter(({ name, token }) => token && name in shown)
      .map(({ name }) => [`attr:${name}`, shown[name]]),
  );
}

/**
 * The change that sets the given attributes, removes the attributes that are given as null, and leaves all others.
 * @throws {DomainError} FIELD_INVALID if all attributes together would take more than {@link mostStoredBytes}
 */
export function attributesSet(
  user: Pick<StoredUser, 'attributes'>,
  given: GivenAttributes | undefined,
): Change {
  if (!given) return {};
  const all = { ...storedAttributes(user), ...given };
  const set = Object.entries(all).filter(([, value]) => value !== null);
  return { fields: { attributes: textOf(set) } };
}

/**
 * The change that removes the attributes that users can write. It is made when a mailed link proves that the user
 * controls an address that was not verified: a stranger may have registered the address and written the attributes.
 */
export function strangersAttributesRemoved(user: StoredUser): Change {
  if (config.emailVerification === 'off' || user.email_verified) return {};
  const own = declaredAttributes().filter(({ writer }) => writer === 'user');
  const stored = storedAttributes(user);
  if (!own.some(({ name }) => Object.hasOwn(stored, name))) return {};
  return attributesSet(user, Object.fromEntries(own.map(({ name }) => [name, null])));
}

/**
 * The part of an entry's details that describes a change of attributes: the names of the attributes that were given,
 * and the old and the new values of choices and, with AUDIT_DETAIL=full, of booleans and dates. Texts and numbers are
 * left out, because they may be personal data.
 * @returns the names for `fields`, and the values as further details
 */
export function attributeDetails(
  user: Pick<StoredUser, 'attributes'>,
  given: GivenAttributes | undefined,
) {
  if (!given) return { fields: [], values: {} };
  const before = attributesOf(user);
  // A name that is not declared changes nothing, and can be any text.
  const known = [
    ...Object.keys(storedAttributes(user)),
    ...declaredAttributes().map(({ name }) => name),
  ];
  const types = config.auditDetail === 'full' ? ['choice', 'boolean', 'date'] : ['choice'];
  const changed = declaredAttributes()
    .filter(({ name, type }) => types.includes(type) && Object.hasOwn(given, name))
    .map(({ name }) => [name, { from: before[name] ?? null, to: given[name] ?? null }] as const)
    .filter(([, { from, to }]) => from !== to);
  return {
    fields: Object.keys(given)
      .filter((name) => known.includes(name))
      .map((name) => `attributes.${name}`),
    values: changed.length > 0 ? { attributes: Object.fromEntries(changed) } : {},
  };
}

function names(attributes: unknown, name: string): boolean {
  return typeof attributes === 'object' && attributes !== null && Object.hasOwn(attributes, name);
}

/**
 * Whether a declaration would allow a stored value to be written. The schemas in field.ts check the same, but are not
 * bundled into the functions that only issue tokens.
 */
function fits(attribute: Attribute, stored: Readonly<Record<string, unknown>>): boolean {
  const { name, type, maxLength = defaultLength, choices = [] } = attribute;
  // No attribute may have the name of a property that every object has.
  const value = stored[name];
  if (type === 'boolean' || type === 'number')
    return typeof value === type && isExact(Number(value));
  if (typeof value !== 'string') return false;
  if (type === 'choice') return choices.includes(value);
  if (type === 'date') return isDay(value);
  return isLine(value) && [...value].length <= maxLength;
}

function textOf(set: readonly (readonly [string, unknown])[]): string | undefined {
  if (set.length === 0) return undefined;
  const text = JSON.stringify(Object.fromEntries(set));
  if (Buffer.byteLength(text) > mostStoredBytes) {
    throw invalidField('attributes', 'must take at most 4,096 bytes in all', 'TOO_LONG');
  }
  return text;
}
