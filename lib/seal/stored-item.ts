/** The items of the audit table in the form that their lines have, and back (lib/seal/README.md, Lines). */
import type { AttributeValue } from '@aws-sdk/client-dynamodb';
import type { StoredItem } from '../dynamodb/client.ts';
import type { Item } from './line.ts';

/** The attributes of an item of the audit table, as its line has them. */
export function nativeItem(item: StoredItem): Item {
  return Object.fromEntries(
    Object.entries(item).map(([name, value]) => [name, nativeValue(value)]),
  );
}

/** An entry in DynamoDB's own form. @throws {SyntaxError} if no item can have these attributes */
export function attributesOf(item: Item): StoredItem {
  return Object.fromEntries(
    Object.entries(item).map(([name, value]) => [name, attributeOf(value)]),
  );
}

/**
 * Text, null and exact integers are unchanged; other values, which no service writes, get DynamoDB's own form. The
 * SDK loses the value of an attribute `__proto__`, which becomes null.
 */
function nativeValue(value: AttributeValue | undefined): unknown {
  if (value === undefined) return null;
  if (value.S !== undefined) return value.S;
  if (value.NULL) return null;
  const number = Number(value.N);
  return Number.isSafeInteger(number) && String(number) === value.N ? number : storedForm(value);
}

/** A value in DynamoDB's own form: members of sets are sorted, bytes are base64. */
function storedForm(value: AttributeValue | undefined): unknown {
  if (value === undefined) return null;
  if (value.B) return { B: base64(value.B) };
  if (value.BS) return { BS: value.BS.map(base64).sort() };
  if (value.SS) return { SS: value.SS.toSorted() };
  if (value.NS) return { NS: value.NS.toSorted() };
  if (value.L) return { L: value.L.map(storedForm) };
  if (!value.M) return value;
  const members = Object.entries(value.M).map(([name, member]) => [name, storedForm(member)]);
  return { M: Object.fromEntries(members) };
}

function base64(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('base64');
}

interface StoredForm {
  readonly B?: string;
  readonly BS?: readonly string[];
  readonly L?: readonly StoredForm[];
  readonly M?: Readonly<Record<string, StoredForm>>;
}

/** The attribute value that {@link nativeValue} converts into a given value. */
function attributeOf(value: unknown): AttributeValue {
  if (typeof value === 'string') return { S: value };
  if (typeof value === 'number') return { N: String(value) };
  return value === null ? { NULL: true } : ofStoredForm(value as StoredForm);
}

/** The types of attributes that DynamoDB has. */
const attributeTypes = ['S', 'N', 'B', 'SS', 'NS', 'BS', 'M', 'L', 'NULL', 'BOOL'];

/** @throws {SyntaxError} if no attribute can have this value, which engines refuse in different ways */
function ofStoredForm(value: StoredForm): AttributeValue {
  const [type = '', ...others] = Object.keys(Object(value));
  if (others.length > 0 || !attributeTypes.includes(type)) {
    throw new SyntaxError('No attribute has this value');
  }
  const bytes = (text: string) => Buffer.from(text, 'base64');
  if (value.B !== undefined) return { B: bytes(value.B) };
  if (value.BS) return { BS: value.BS.map(bytes) };
  if (value.L) return { L: value.L.map(ofStoredForm) };
  if (!value.M) return value as AttributeValue;
  const members = Object.entries(value.M).map(([name, member]) => [name, ofStoredForm(member)]);
  return { M: Object.fromEntries(members) };
}
