/** The audit query, compared with a plain filter over the same entries in memory. */
import fc from 'fast-check';
import { afterAll, beforeAll, expect, inject, it, vi } from 'vitest';
import {
  type AuditEntry,
  actions,
  entrySources,
  makeEntry,
  results,
} from '../../lib/audit/entry.ts';
import { type AuditFilter, listEntries } from '../../lib/audit/query.ts';
import { toItem } from '../../lib/audit/record.ts';
import { useOwnTables } from '../support/own-tables.ts';
import { counted, holds } from '../support/runs.ts';
import { writeBatches } from '../support/write-batches.ts';

/** Milliseconds since 1970 of the first entry, and how many entries share a millisecond. */
const begin = Date.UTC(2026, 10, 20);
const together = 3;

/** The times of a clock that was wrong. */
const wrongTimes = ['1969-12-31T23:59:59.999Z', '1970-01-01T00:00:00.000Z', '2025-12-31T23:59:59Z'];

const count = 3000;
/** When the i-th entry was made, by a clock that was wrong for the last of them. */
const timeOf = (i: number) =>
  new Date(wrongTimes[Math.floor((count - 1 - i) / 8)] ?? begin + Math.floor(i / together));

/** Who did what to whom: half of all by user 1, nearly all of it successes; the rest mixed. */
const actionOf = (i: number) =>
  i % 2 === 0
    ? ({ user_id: 1, action: 'LOGIN', result: results[i % 200 === 0 ? 1 : 0] } as const)
    : { user_id: [undefined, 2, 3][i % 3], action: actions[i % 7], result: results[i % 5 ? 0 : 1] };

/** The resource of the i-th entry: machines posted a part of them. */
const resourceOf = (i: number) => {
  if (i % 13 === 0) return 'audit-logs';
  return i % 3 === 0 ? ['shop.orders', 'shop.carts'][i % 2] : 'users';
};

const entries: readonly AuditEntry[] = Array.from({ length: count }, (_, i) => {
  const { user_id, action = 'READ', result = 'SUCCESS' } = actionOf(i);
  // Most of them in one shard, so that the others are read further in time.
  const shard = i % 4 === 0 ? (i / 4) % 8 : 3;
  const tail = i < count - 8 * wrongTimes.length ? 8 * (i % together) + shard : i % 8;
  return makeEntry(
    {
      user_id,
      action,
      result,
      resource: resourceOf(i) ?? '',
      machine_id: i % 4 === 0 ? 1 + (i % 3) : undefined,
      resource_id: i % 11 === 0 ? undefined : i % 7,
      ip_address: `2001:db8::${i % 9}`,
      details: i % 3 === 0 ? { fields: ['name'] } : undefined,
    },
    { now: timeOf(i), random: () => tail },
  );
});

beforeAll(async () => {
  vi.stubEnv('MACHINES', 'on');
  const { audit } = await useOwnTables();
  const items = entries.map((entry) => toItem(entry, { writeId: 'w' }));
  await writeBatches(inject('engine'), audit, items);
});

afterAll(() => void vi.unstubAllEnvs());

const precedes = (a: AuditEntry, b: AuditEntry) =>
  a.created_at === b.created_at ? a.id - b.id : a.created_at < b.created_at ? -1 : 1;

/** Whether an entry has each value that a filter names. */
const hasValues = (entry: AuditEntry, filter: AuditFilter) =>
  [
    [filter.userId, entry.user_id],
    [filter.action, entry.action],
    [filter.result, entry.result],
    [filter.resource, entry.resource],
    [filter.resourceId, entry.resource_id],
    [filter.machineId, entry.machine_id],
    [filter.from, entry.resource.includes('.') ? 'machines' : 'service'],
    [filter.ipAddress?.at(-1), entry.ip_address?.at(-1)],
  ].every(([wanted, found]) => wanted === undefined || found === wanted);

const isAbout = ({ user_id, resource, resource_id }: AuditEntry, about: number) =>
  user_id === about || (resource === 'users' && resource_id === String(about));

const expected = (filter: AuditFilter, order: 'asc' | 'desc'): readonly AuditEntry[] => {
  const { about, since = '', until = '~', resource, resourceId } = filter;
  // Without its resource, the id of a thing is the id of a thing of the service itself.
  const from = resource === undefined && resourceId !== undefined ? 'service' : undefined;
  const wanted = entries.filter(
    (entry) =>
      hasValues(entry, filter) &&
      hasValues(entry, { from }) &&
      (about === undefined || isAbout(entry, about)) &&
      entry.created_at >= since &&
      entry.created_at < until,
  );
  const oldestFirst = wanted
    .toSorted(precedes)
    .map((entry) => ({ ...entry, machine_id: entry.machine_id ?? null, occurred_at: null }));
  return order === 'asc' ? oldestFirst : oldestFirst.toReversed();
};

/** Pages that a list of these entries has at most. */
const maxPages = 200;

const readAll = counted(
  async ([filter, order, limit]: readonly [AuditFilter, 'asc' | 'desc', number]) => {
    const found: AuditEntry[] = [];
    let after: string | undefined;
    for (let pages = 0; pages < maxPages; pages += 1) {
      const page = await listEntries(filter, { order, limit, after });
      expect(page.entries.length).toBeLessThanOrEqual(limit);
      found.push(...page.entries);
      after = page.next;
      if (after === undefined) return found;
    }
    throw new Error('The list has no end');
  },
);

const maybe = <T>(values: readonly T[]) =>
  fc.option(fc.constantFrom(...values), { nil: undefined });
const time = fc
  .integer({ min: -10, max: entries.length / together + 10 })
  .map((i) => new Date(i % 50 === 0 ? (wrongTimes[i % 3] ?? 0) : begin + i).toISOString());
const range = fc
  .tuple(fc.option(time, { nil: undefined }), fc.option(time, { nil: undefined }))
  .map(([a, b]) => (a && b && a > b ? [b, a] : [a, b]))
  .filter(([since, until]) => since === undefined || since !== until);
const filter = fc
  .record({
    whom: fc.oneof(
      fc.record({ userId: maybe([1, 2, 3, 4]), resourceId: maybe(['0', '1', '6', '7']) }),
      fc.record({ about: fc.constantFrom(1, 2, 3, 6, 7) }),
    ),
    from: maybe(entrySources),
    resource: fc.oneof(
      { weight: 2, arbitrary: fc.constant(undefined) },
      fc.constantFrom('users', 'audit-logs', 'shop.orders', 'shop.carts', 'shop.none'),
    ),
    machineId: fc.oneof({ weight: 3, arbitrary: fc.constant(undefined) }, fc.constantFrom(1, 2, 4)),
    ipAddress: maybe(['2001:DB8:0::4', '2001:db8::9']),
    action: maybe(actions),
    result: maybe(results),
    range,
  })
  .map(({ range: [since, until], whom, ...rest }) => ({ ...whom, ...rest, since, until }));

it('Every combination of filter, range, order and page size yields each entry once', async () => {
  const order = fc.constantFrom('asc' as const, 'desc' as const);
  const limit = fc.constantFrom(37, 100, 400, 1000);
  await holds(
    200,
    fc.asyncProperty(filter, order, limit, async (filter, order, limit) => {
      const found = await readAll([filter, order, limit]);

      // Their attributes in one order, too, in which they are answered.
      expect(JSON.stringify(found)).toBe(JSON.stringify(expected(filter, order)));
    }),
  );
});
