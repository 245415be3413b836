import type { AttributeValue } from '@aws-sdk/client-dynamodb';

/** A number of any size: as such where a double holds it exactly, otherwise as text. */
const numberOf = (text: string): number | string => {
  const number = Number(text);
  return Math.abs(number) <= Number.MAX_SAFE_INTEGER && String(number) === text ? number : text;
};

/** What is in a list, a map or a set, as JSON has it. */
const jsonOf = (value: AttributeValue): unknown => {
  // The SDK may lose the value of a name such as __proto__.
  const { S, N, B, L, M, SS, NS, BS, BOOL }: AttributeValue = Object(value);
  if (N !== undefined) return numberOf(N);
  if (B) return Buffer.from(B).toString('base64');
  if (L) return L.map(jsonOf);
  if (M) return Object.fromEntries(Object.entries(M).map(([name, each]) => [name, jsonOf(each)]));
  if (NS) return NS.map(numberOf);
  if (BS) return BS.map((bytes) => Buffer.from(bytes).toString('base64'));
  return S ?? SS ?? BOOL ?? null;
};

/**
 * An attribute of an entry as it is shown. Those that the service writes are shown as they are;
 * others, which somebody wrote past it, in the form of functions/README.md, Odd entries.
 */
export const shown = (value: AttributeValue | undefined): string | number | null => {
  if (value === undefined) return null;
  if (value.S !== undefined) return value.S;
  const json = jsonOf(value);
  if (json === null || typeof json === 'number' || typeof json === 'string') return json;
  return JSON.stringify(json);
};
