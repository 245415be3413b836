import { afterAll, beforeAll, describe, expect, inject, it, vi } from 'vitest';
import { type AuditEntry, type AuditedAction, makeEntry } from '../../../lib/audit/entry.ts';
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

/** Entries that machines posted after all of these, more than one request reads, for users whom no other has. */
const posted: readonly AuditEntry[] = Array.from({ length: count }, (_, i) => {
  const isRare = rareOnes.includes(i);
  const ofOrders = { resource: 'shop.orders', user_id: 20, resource_id: 7, action: 'DELETE' };
  const ofCarts = { resource: 'shop.carts', user_id: 10, resource_id: 1, action: 'CREATE' };
  return makeEntry(
    { ...(isRare ? ofOrders : ofCarts), result: 'SUCCESS', machine_id: 1 } as AuditedAction,
    { now: new Date(begin + count + i), random: () => (i * 5) % 4096 },
  );
});

beforeAll(async () => {
  const { audit } = await useOwnTables(proxy.url);
  const items = [...entries, ...posted].map((entry) => toItem(entry, { writeId: 'w' }));
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

describe('A page of the audit query where there are machines', () => {
  beforeAll(() => void vi.stubEnv('MACHINES', 'on'));
  afterAll(() => void vi.unstubAllEnvs());

  it.each<AuditFilter>([
    { userId: 20 },
    { about: 20 },
    { resource: 'shop.orders' },
    { resource: 'shop.orders', resourceId: '7' },
    { resource: 'shop.orders', action: 'DELETE' },
    { from: 'machines', userId: 20, action: 'DELETE' },
    { from: 'machines', action: 'DELETE' },
    { userId: 2 },
    { from: 'service', action: 'DELETE' },
    { resourceId: '7' },
  ])('of %j reads the entries that it returns and no others', async (filter) => {
    const whole = await read(filter);

    expect([whole.entries.length, whole.read]).toEqual([5, 5]);
    expect(whole.next).toBeUndefined();
  });

  it.each<AuditFilter>([
    {},
    { from: 'service' },
    { from: 'machines' },
    { from: 'service', action: 'LOGIN' },
    { resource: 'shop.carts' },
    { resource: 'shop.carts', resourceId: '1' },
    { resource: 'users' },
    { userId: 10 },
    { about: 10 },
  ])('of %j reads few more than it returns, however many there are', async (filter) => {
    const { entries, read: entriesRead } = await read(filter);

    expect(entries).toHaveLength(100);
    expect(entriesRead).toBeLessThan(280);
  });

  it.each<AuditFilter>([
    { from: 'machines', resource: 'users' },
    { from: 'service', resource: 'shop.orders' },
  ])('of %j, which nothing can meet, reads nothing', async (filter) => {
    const { entries, next, read: entriesRead } = await read(filter);

    expect([entries, next, entriesRead]).toEqual([[], undefined, 0]);
  });

  it.each<AuditFilter>([{ machineId: 2 }, { resource: 'machines' }])(
    'of %j, which nothing matches, reads 2,000 at most and leads on',
    async (filter) => {
      const page = await read(filter);

      expect(page.entries).toEqual([]);
      expect(page.read).toBeLessThanOrEqual(2000);
      expect(page.next).toBeDefined();
    },
  );
});

it('Where there are no machines, a query reads nothing that machines have posted before', async () => {
  const all = await read({});
  const ofUser = await read({ about: 20 });

  expect(all.entries.every(({ resource }) => resource === 'users')).toBe(true);
  expect([ofUser.entries, ofUser.read]).toEqual([[], 0]);
});
