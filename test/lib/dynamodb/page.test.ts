import { beforeAll, describe, expect, inject, it, vi } from 'vitest';
import { type PageRequest, readPage } from '../../../lib/dynamodb/page.ts';
import { auditIndexes, createdAtKey } from '../../../lib/dynamodb/tables.ts';
import { useOwnTables } from '../../support/own-tables.ts';
import { writeBatches } from '../../support/write-batches.ts';

const shardCount = 8;
const size = 120;

/** The shards and times of the entries of a list. */
interface Distribution {
  readonly name: string;
  readonly shardOf: (i: number) => number;
  readonly millisecondOf: (i: number) => number;
  readonly count: number;
}

const distribution = (
  name: string,
  shardOf: (i: number) => number,
  { millisecondOf = (i: number) => i, count = size } = {},
): Distribution => ({ name, shardOf, millisecondOf, count });

const distributions: readonly Distribution[] = [
  distribution('all in one shard', () => 3),
  distribution('in two shards, one far behind', (i) => (i < size - 5 ? 0 : 7)),
  distribution('half of them in one shard', (i) => (i % 2 ? 2 : i % shardCount)),
  distribution('here and there', (i) => (i * i + Math.floor(i / 11)) % shardCount),
  distribution('shard after shard, ten of each millisecond', (i) => Math.floor(i / 15), {
    millisecondOf: (i) => Math.floor(i / 10),
  }),
  distribution('as many as a page', (i) => i % shardCount, { count: 100 }),
  distribution('none', () => 0, { count: 0 }),
];

describe('readPage', () => {
  let table: string;
  beforeAll(async () => {
    const { audit } = await useOwnTables();
    table = audit;
    const items = distributions.flatMap((where, list) =>
      Array.from({ length: where.count }, (_, i) => {
        const id = list * 1_000_000 + i;
        const created_at = new Date(1_800_000_000_000 + where.millisecondOf(i)).toISOString();
        const shard = `${where.name}#${where.shardOf(i)}`;
        return { id, created_at, shard, created_at_id: createdAtKey({ id, created_at }) };
      }),
    );
    await writeBatches(inject('engine'), table, items);
  });

  const partitionsOf = ({ name }: Distribution) =>
    Array.from({ length: shardCount }, (_, shard) => `${name}#${shard}`);

  /** Reads a list to its end. */
  const walk = async (request: Omit<PageRequest, 'table' | 'index' | 'attributes'>) => {
    const ids: unknown[] = [];
    const sizes: number[] = [];
    let after: string | undefined;
    for (let pages = 0; pages <= 2 * size; pages += 1) {
      const index = auditIndexes.byCreatedAt;
      const page = await readPage({ table, index, attributes: ['id'], ...request, after });
      ids.push(...page.entries.map(({ id }) => id));
      sizes.push(page.entries.length);
      after = page.next;
      if (after === undefined) return { ids, sizes };
    }
    throw new Error('The list has no end');
  };

  describe.each(distributions)('over the list “$name”', (where) => {
    const list = distributions.indexOf(where);
    const oldestFirst = Array.from({ length: where.count }, (_, i) => list * 1_000_000 + i);
    const newestFirst = oldestFirst.toReversed();
    const partitions = partitionsOf(where);

    it.each([17, 100])('yields each entry once, in order, in pages of %i', async (limit) => {
      const { ids, sizes } = await walk({ partitions, order: 'desc', limit });

      expect(ids).toEqual(newestFirst);
      // Every page but the last is full, and the last is empty only if there are no entries at all.
      expect(sizes.slice(0, -1).every((entries) => entries === limit)).toBe(true);
      expect(sizes.length).toBe(Math.max(1, Math.ceil(where.count / limit)));
    });

    it('also yields the entries oldest first', async () => {
      const { ids } = await walk({ partitions, order: 'asc', limit: 16 });

      expect(ids).toEqual(oldestFirst);
    });
  });

  const named = (name: string) => distributions.find((where) => where.name === name);

  it('yields each entry once in pages of any size from 1 to 100', async () => {
    const where = 'in two shards, one far behind';
    const partitions = [`${where}#0`, `${where}#7`];
    const newest = distributions.findIndex(({ name }) => name === where) * 1_000_000 + size - 1;
    const expected = Array.from({ length: size }, (_, i) => newest - i);

    for (const limit of [1, 3, 10, 29, 30, 31, 60, 99]) {
      const { ids } = await walk({ partitions, order: 'desc', limit });
      expect([limit, ids]).toEqual([limit, expected]);
    }
  });

  /** The id of the i-th entry of a distribution. */
  const idOf = (where: Distribution, i: number) => distributions.indexOf(where) * 1_000_000 + i;
  const spread = [named('here and there'), named('half of them in one shard')].filter((x) => !!x);

  describe.each(spread)(
    'with a bound on the entries that it reads, over the list “$name”',
    (where) => {
      const partitions = partitionsOf(where);
      const wanted = [3, 57, 58, 110].map((i) => idOf(where, i));
      const matches = ({ id }: Readonly<Record<string, unknown>>) => wanted.includes(Number(id));

      it.each([8, 1000])(
        'yields each matching entry once, in order, with the bound %i',
        async (mostRead) => {
          for (const order of ['desc', 'asc'] as const) {
            const { ids } = await walk({ partitions, order, limit: 2, matches, mostRead });

            expect(ids).toEqual(order === 'asc' ? wanted : wanted.toReversed());
          }
        },
      );

      it('returns the next position also for a page without entries', async () => {
        const request = { partitions, order: 'desc', limit: 5, mostRead: 16 } as const;

        const { ids, sizes } = await walk({ ...request, matches: () => false });

        expect(ids).toEqual([]);
        expect(sizes.length).toBeGreaterThan(5);
      });
    },
  );

  /** Sort keys, some of a form that the service never writes, and some that occur more than once. */
  const oddKeys = [
    '!',
    '#',
    '[',
    '["x"]',
    '~',
    '\u0001',
    'é',
    '\u{1f600}',
    '\u{10ffff}',
    '2026-03-01T00:00:00.000Z#0000000000000004',
    '2026-03-01T00:00:00.000Z#0000000000000005',
    '2026-03-01T00:00:00.000Z#0000000000000004x',
    '2026-03-01T00:00:00.000Z#0000000000000004',
    '2026-03-01T00:00:00.000Z',
    '2026-03-02T00:00:00.000Z',
    'x'.repeat(1024),
    ...Array.from({ length: 3 }, () => '2026-03-01T00:00:00.001Z#0000000000000001'),
  ];
  const inBytes = (a: string, b: string) => Buffer.compare(Buffer.from(a), Buffer.from(b));

  describe('over entries with keys that the service does not write', () => {
    const partitions = ['odd#0', 'odd#1', 'odd#2'];
    beforeAll(async () => {
      const items = oddKeys.map((created_at_id, i) => {
        return { id: 99_000_000 + i, shard: `odd#${i % 4 === 3 ? 0 : i % 3}`, created_at_id };
      });
      await writeBatches(inject('engine'), table, items);
    });
    const keysOf = (ids: readonly unknown[]) => ids.map((id) => oddKeys[Number(id) - 99_000_000]);

    /** The keys of a list as it is read from both ends, each time with the oldest first. */
    const keysIn = async (request: Pick<PageRequest, 'limit'> & Partial<PageRequest>) => {
      const oldest = await walk({ partitions, order: 'asc', ...request });
      const newest = await walk({ partitions, order: 'desc', ...request });
      return [keysOf(oldest.ids), keysOf(newest.ids).toReversed()];
    };

    it.each([4, 5, 16, 100])(
      'yields each entry once, in order, in pages of %i that are longer than any run of equal keys',
      async (limit) => {
        const sorted = oddKeys.toSorted(inBytes);

        expect(await keysIn({ limit })).toEqual([sorted, sorted]);
      },
    );

    it.each([{ limit: 1 }, { limit: 2 }, { limit: 100, mostRead: 3 }])(
      'with %j reaches the end and skips no key, although more entries share one key than fit into a page',
      async (pages) => {
        const keys = [...new Set(oddKeys)].toSorted(inBytes);

        for (const found of await keysIn(pages)) expect([...new Set(found)]).toEqual(keys);
      },
    );

    it.each([4, 100])('yields the entries between two keys, in pages of %i', async (limit) => {
      const [from, to] = ['2026-03-01T00:00:00.000Z', '2026-03-02T00:00:00.000Z'];
      const keys = oddKeys.filter((key) => key >= from && key < to).toSorted(inBytes);

      expect(await keysIn({ limit, from, to })).toEqual([keys, keys]);
    });
  });

  it('reads twice as many entries each time it has found too few of them', async () => {
    const list = distributions.findIndex(({ name }) => name === 'all in one shard');
    const deep = list * 1_000_000 + size - 14;

    const page = await readPage({
      table,
      index: auditIndexes.byCreatedAt,
      attributes: ['id'],
      partitions: ['all in one shard#3'],
      order: 'desc',
      limit: 1,
      matches: ({ id }) => id === deep,
      // These requests read 2, 4 and 8 entries.
      mostRequests: 3,
    });

    expect(page.entries).toEqual([{ id: deep }]);
  });

  it('once a page has enough entries, goes on reading a partition that is behind in steps of the same size', async () => {
    const where = 'in two shards, one far behind';
    const matches = vi.fn(() => true);

    const page = await readPage({
      table,
      index: auditIndexes.byCreatedAt,
      attributes: ['id'],
      partitions: [`${where}#0`, `${where}#7`],
      order: 'asc',
      limit: 16,
      matches,
    });

    expect(page.entries).toHaveLength(16);
    // 13 and all 5 entries, which complete the page; then 13 entries that come before the 5.
    expect(matches).toHaveBeenCalledTimes(31);
  });

  it('returns the position after each of its entries', async () => {
    const [where] = spread;
    const partitions = where ? partitionsOf(where) : [];
    const request = { table, index: auditIndexes.byCreatedAt, attributes: ['id'], partitions };
    for (const order of ['desc', 'asc'] as const) {
      const page = await readPage({ ...request, order, limit: 10 });
      for (let count = 1; count < page.entries.length; count += 1) {
        const after = page.nextAfter(count);
        const rest = await readPage({ ...request, order, limit: 10 - count, after });
        expect(rest.entries).toEqual(page.entries.slice(count));
      }
    }
  });

  it('ends a page early when its entries are very long', async () => {
    const partitions = ['long#0', 'long#1'];
    const items = Array.from({ length: 40 }, (_, i) => {
      const created_at = new Date(1_800_000_000_000 + i).toISOString();
      const created_at_id = createdAtKey({ id: i, created_at });
      const details = 'x'.repeat(350_000);
      return { id: 98_000_000 + i, shard: partitions[i % 2], created_at_id, details };
    });
    for (const item of items) await writeBatches(inject('engine'), table, [item]);

    const { ids, sizes } = await walk({ partitions, order: 'asc', limit: 100 });

    expect(ids).toEqual(items.map(({ id }) => id));
    expect(sizes[0]).toBeLessThan(20);
  });
});
