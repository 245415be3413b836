import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { type AuditEntry, makeEntry } from '../../../lib/audit/entry.ts';
import { type AuditFilter, listEntries } from '../../../lib/audit/query.ts';
import { toItem } from '../../../lib/audit/record.ts';
import { useOwnTables } from '../../support/own-tables.ts';
import { startProxy } from '../../support/proxy.ts';
import { writeBatches } from '../../support/write-batches.ts';

const proxy = await startProxy(inject('engine'), { measure: true });
afterAll(() => proxy.stop());

const begin = Date.UTC(2026, 10, 20);
const timeOf = (i: number) => new Date(begin + i).toISOString();

/** The fields of the few entries about another user, and the fields of all other entries. */
const rare = { user_id: 2, action: 'DELETE', resource_id: 7, result: 'FAILURE' } as const;
const common = { user_id: 1, action: 'LOGIN', resource_id: 1, result: 'SUCCESS' } as const;
const count = 2500;
const rareOnes = [3, 4, 5, 2000, 2001];

/** A trail of one user's logins and a few other entries, most of which are old. */
const entries: readonly AuditEntry[] = Array.from({ length: count }, (_, i) => {
  const action = rareOnes.includes(i) ? rare : common;
  return makeEntry(
    { ...action, resource: 'users' },
    { now: new Date(begin + i), random: () => (i * 5) % 4096 },
  );
});

beforeAll(async () => {
  const { audit } = await useOwnTables(proxy.url);
  const items = entries.map((entry) => toItem(entry, { writeId: 'w' }));
  await writeBatches(inject('engine'), audit, items);
});

const read = async (filter: AuditFilter, order: 'asc' | 'desc' = 'desc', after?: string) => {
  proxy.forget();
  const page = await listEntries(filter, { limit: 100, order, after });
  return { ...page, read: proxy.consumed.entries };
};

describe('A page of an audit query', () => {
  const early = { since: timeOf(4), until: timeOf(2001) };

  it.each<AuditFilter>([
    { userId: 2 },
    { action: 'DELETE' },
    { resourceId: '7' },
    { about: 7 },
    { result: 'FAILURE' },
    { userId: 2, action: 'DELETE' },
  ])('for %j reads only the entries that it returns', async (filter) => {
    const whole = await read(filter);
    const part = await read({ ...filter, ...early }, 'asc');

    expect([whole.entries.length, whole.read]).toEqual([5, 5]);
    expect([part.entries.length, part.read]).toEqual([3, 3]);
    expect([whole.next, part.next]).toEqual([undefined, undefined]);
  });

  it.each<AuditFilter>([
    {},
    { userId: 1 },
    { action: 'LOGIN' },
    { resourceId: '1' },
    { userId: 1, action: 'LOGIN' },
    { since: timeOf(1000), until: timeOf(2200) },
    { result: 'SUCCESS' },
  ])('for %j reads few more entries than it returns, however many there are', async (filter) => {
    const { entries, read: entriesRead } = await read(filter);

    expect(entries).toHaveLength(100);
    expect(entriesRead).toBeLessThan(160);
  });

  it('reads each entry of a user about the same user at most twice, however many there are', async () => {
    const { entries, read: entriesRead } = await read({ about: 1 });

    expect(entries).toHaveLength(100);
    expect(entriesRead).toBeLessThan(350);
  });

  it.each<AuditFilter>([
    { result: 'SUCCESS', userId: 1, action: 'LOGIN', resourceId: '7' },
    { userId: 1, result: 'FAILURE' },
    { userId: 1, resourceId: '7' },
    { action: 'LOGIN', result: 'FAILURE' },
    { resourceId: '1', action: 'DELETE' },
    { userId: 1, action: 'LOGIN', result: 'FAILURE' },
    { ipAddress: '192.0.2.1' },
    { about: 1, ipAddress: '192.0.2.1' },
  ])(
    'for %j, which matches no entry, reads at most 2,000 entries and leads to the next page',
    async (filter) => {
      const reads: number[] = [];
      let after: string | undefined;
      do {
        const page = await read(filter, 'desc', after);
        expect(page.entries).toEqual([]);
        reads.push(page.read);
        after = page.next;
      } while (after !== undefined && reads.length < 10);

      expect(after).toBeUndefined();
      expect(Math.max(...reads)).toBeLessThanOrEqual(2000);
      expect(reads.length).toBeLessThanOrEqual(5);
    },
  );
});
