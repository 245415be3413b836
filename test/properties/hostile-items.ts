/** Items that whoever can write to the audit table may put there. */
import fc from 'fast-check';
import { createdAtKey } from '../../lib/dynamodb/tables.ts';
import { numberIn } from '../../lib/seal/line.ts';
import type { TestTrail } from '../support/sealed-trail.ts';

const minute = 60_000;

/** A value in DynamoDB's own form, as lib/seal/table.ts hands out what no entry has. */
const deep = (depth: number): unknown =>
  depth === 0 ? { S: 'x' } : { M: { '10': deep(depth - 1), '9': { L: [{ NULL: true }] } } };

const oddValue: fc.Arbitrary<unknown> = fc.oneof(
  fc.constantFrom<unknown>(
    ...[null, undefined, '', 0, -1, Number.MAX_SAFE_INTEGER, '~', '\u0000', '\ud800'],
    ...['\udfff\ud83d', 'é', 'e\u0301', '{"late":true}', ',"late":true}', '"}}\n{"id":1'],
    ...['2026-02-30T00:00:00.000Z', '+275760-09-13T00:00:00.000Z', '2099-01-01T00:00:00.000Z'],
    ...['2026-11-22T12:00:00Z', { N: '1.5' }, { N: `${'9'.repeat(38)}` }, { N: '1E-130' }],
    ...[{ BOOL: true }, { B: 'aGk=' }, { SS: ['a', 'b'] }, { NS: ['1', '2.5'] }],
    ...[{ BS: ['aGk='] }, { L: [{ L: [{ L: [] }] }] }],
  ),
  fc.constant(deep(31)),
  fc.integer({ min: 0, max: 100 }).map((size) => 'x'.repeat(size === 0 ? 390_000 : 10 * size)),
  fc.string({ unit: 'binary', maxLength: 30 }),
  // Times of 70,000 characters, too.
  fc.integer({ min: 0, max: 20 }).map((size) => 'x'.repeat(size === 0 ? 70_000 : size)),
  fc
    .array(fc.oneof(fc.maxSafeInteger(), fc.string()), { maxLength: 3 })
    .map((entries) => JSON.stringify({ entries })),
  fc.constant(JSON.stringify({ entries: Array.from({ length: 5000 }, (_, id) => id) })),
);

const names = [
  ...['id', 'user_id', 'action', 'resource', 'resource_id', 'ip_address', 'user_agent', 'result'],
  ...['details', 'created_at', 'write_id', 'request_id', 'expires_at', 'note', '__proto__'],
  ...['10', '9'],
];
const keys = ['created_at_id', 'shard', 'action_shard', 'user_key', 'failure_shard'];

const change = fc.record({ name: fc.constantFrom(...names), value: oddValue });
const oddKey = fc.record({
  name: fc.constantFrom(...keys),
  // Keys of indexes are texts, or the index leaves the item out.
  value: fc.oneof(
    fc.string({ maxLength: 20 }),
    fc.constantFrom('~', '2026-11-22T12:00:00.000Z', 'x'.repeat(900)),
  ),
});
export const hostile = fc.record({
  changes: fc.array(change, { minLength: 1, maxLength: 4 }),
  keys: fc.array(oddKey, { maxLength: 1 }),
  /** Whether index keys follow the changed fields, as far as these are texts. */
  follows: fc.boolean(),
  age: fc.integer({ min: -minute, max: 3 * minute }),
});
export type Hostile = typeof hostile extends fc.Arbitrary<infer T> ? T : never;

const isText = (value: unknown): value is string => typeof value === 'string';

/** The key of the table is a number, and no item is overwritten. */
const isPossible =
  ({ items }: TestTrail['source']) =>
  ({ name, value }: { name: string; value: unknown }): boolean =>
    name !== 'id' || (numberIn(value) !== undefined && !items.has(Number(numberIn(value))));

/** Puts an item into the table of a trail. */
export const put = (trail: TestTrail, { changes, keys: odd, follows, age }: Hostile): void => {
  const id = trail.add({ action: 'CREATE', resource: 'audit-logs' }, trail.now - age);
  const item = { ...trail.source.items.get(id) };
  trail.source.items.delete(id);
  const attributes = new Map<string, unknown>(Object.entries(item));
  for (const { name, value } of changes.filter(isPossible(trail.source))) {
    // The SDK loses its value.
    attributes.set(name, name === '__proto__' ? null : value);
  }
  const time = attributes.get('created_at');
  const key = isText(time) && createdAtKey({ id, created_at: time }).slice(0, 1000);
  if (follows && key) attributes.set('created_at_id', key);
  for (const { name, value } of odd) attributes.set(name, value);
  const present = [...attributes].filter(([, value]) => value !== undefined);
  const stored = Object.fromEntries(present);
  const place = Number(numberIn(stored.id));
  trail.source.items.set(place, stored);
};
