/** How a request of a machine is stored once, at given times, in tables of its own. */
import { DeleteCommand, GetCommand, PutCommand } from '@aws-sdk/lib-dynamodb';
import { beforeAll, describe, expect, inject, it } from 'vitest';
import { postEntries } from '../../../../lib/options/machines/post-entries.ts';
import type { PostedEntry } from '../../../../lib/options/machines/posted-entry.ts';
import type { Post } from '../../../../lib/options/machines/posted-key.ts';
import { type OwnTables, useOwnTables } from '../../../support/own-tables.ts';
import { engineClient, entriesWith } from '../../../support/stored-items.ts';

const engine = engineClient(inject('engine'));
let tables: OwnTables;
beforeAll(async () => {
  tables = await useOwnTables();
});

const minute = 60_000;
const day = 24 * 60 * minute;
const begin = Date.UTC(2026, 10, 20);
let tails = 0;
/** Ends of ids that no other entry has, apart from those that a test names, which are below 10. */
const random = (below: number) => {
  tails += 1;
  return 10 + (tails % (below - 10));
};
/** A time in minutes after the first request. */
const at = (minutes: number) => ({ now: new Date(begin + minutes * minute), random });

const entryOf = (fields: Partial<PostedEntry> = {}): PostedEntry => ({
  action: 'CREATE',
  resource: 'shop.orders',
  result: 'SUCCESS',
  ...fields,
});
const three = ['1', '2', '3'].map((resourceId) => entryOf({ resourceId }));

let keys = 0;
/** A request with a key that no other test has. */
const newPost = (fields: Partial<Post> = {}): Post => {
  keys += 1;
  return {
    machine: 7,
    key: `key-${keys}`,
    entries: three,
    request_id: `request-${keys}`,
    ...fields,
  };
};
/** The items of a request, which its first request id names, in the order of their ids. */
const storedOf = ({ request_id }: Post) =>
  entriesWith(inject('engine'), tables.audit, { request_id });
const remove = (id: number) =>
  engine.send(new DeleteCommand({ TableName: tables.audit, Key: { id } }));
const keyItem = async ({ machine, key }: Post) => {
  const Key = { pk: `posted#${machine}#${key}` };
  const { Item } = await engine.send(new GetCommand({ TableName: tables.users, Key }));
  return Item;
};

describe('A request with a new key', () => {
  it('stores its entries under ids in their order, with the machine and nothing of the request but its id', async () => {
    const entry = entryOf({
      ...{ resourceId: '4711', userId: 5, ipAddress: '192.0.2.1', userAgent: 'shop' },
      ...{ details: '{"a":1}', occurredAt: '2026-11-19T23:00:00.000Z', result: 'FAILURE' },
    });
    const post = newPost({ entries: [entry, ...three] });

    const { isNew, stored } = await postEntries(post, at(0));

    const items = await storedOf(post);
    const created_at = new Date(begin).toISOString();
    expect(isNew).toBe(true);
    expect(stored).toEqual(items.map(({ id }) => ({ id, created_at })));
    expect(items.map(({ resource_id }) => resource_id)).toEqual(['4711', '1', '2', '3']);
    const [first] = items;
    const shard = `m${Number(first?.id) % 8}`;
    expect(first).toEqual({
      ...{ id: stored[0]?.id, user_id: 5, action: 'CREATE', resource: 'shop.orders' },
      ...{ resource_id: '4711', ip_address: '192.0.2.1', user_agent: 'shop', result: 'FAILURE' },
      ...{ details: '{"a":1}', created_at, machine_id: 7, occurred_at: '2026-11-19T23:00:00.000Z' },
      ...{ shard, action_shard: `CREATE#${shard}`, failure_shard: shard, user_key: 'm5' },
      ...{ user_action: 'm5#CREATE', resource_key: 'mshop.orders#4711' },
      ...{ resource_shard: `shop.orders#${shard.slice(1)}`, created_at_id: expect.any(String) },
      ...{ write_id: expect.stringMatching(/^[0-9a-f]{32}$/), request_id: post.request_id },
    });
  });

  it('draws ids without repetition', async () => {
    const named = [9, 9, 9, 4, 9, 4, 6];

    const { stored } = await postEntries(newPost(), {
      ...at(1),
      random: () => named.shift() ?? expect.unreachable(),
    });

    expect(stored.map(({ id }) => id % 4096)).toEqual([4, 6, 9]);
  });

  it('takes the next free id where another entry has one', async () => {
    const post = newPost();
    const named = [1, 2, 3];
    const id = (Date.parse('2026-11-20T00:02:00.000Z') - Date.UTC(2026, 0, 1)) * 4096 + 2;
    await engine.send(new PutCommand({ TableName: tables.audit, Item: { id, write_id: 'other' } }));

    const first = await postEntries(post, { ...at(2), random: () => named.shift() ?? 0 });
    const again = await postEntries(post, at(3));
    const late = await postEntries(post, at(30));

    const ids = first.stored.map((one) => one.id);
    expect([ids[0], ids[2]]).toEqual([id - 1, id + 1]);
    expect(ids).not.toContain(id);
    expect([again.stored, late.stored]).toEqual([first.stored, first.stored]);
    expect(await storedOf(post)).toHaveLength(3);
  });
});

describe('The same request again', () => {
  it.each([0, 4, 5, 6, 12, 60 * 24, 60 * 24 * 8])(
    'after %i minutes stores nothing more, and has the same response',
    async (minutes) => {
      const post = newPost();
      const first = await postEntries(post, at(0));
      const before = await storedOf(post);

      const again = await postEntries({ ...post, request_id: 'another' }, at(minutes));

      expect(again).toEqual({ isNew: false, stored: first.stored });
      expect(await storedOf(post)).toEqual(before);
      expect(await storedOf({ ...post, request_id: 'another' })).toEqual([]);
    },
  );

  it('within five minutes stores what is missing, byte by byte as it would have been', async () => {
    const post = newPost();
    const { stored } = await postEntries(post, at(0));
    const before = await storedOf(post);
    await remove(stored[1]?.id ?? 0);

    const again = await postEntries({ ...post, request_id: 'another' }, at(5));

    expect(again).toEqual({ isNew: false, stored });
    expect(await storedOf(post)).toEqual(before);
  });

  it('after five minutes stores what is missing under a new id, at the present time', async () => {
    const post = newPost();
    const { stored } = await postEntries(post, at(0));
    const before = await storedOf(post);
    await remove(stored[1]?.id ?? 0);

    const again = await postEntries(post, at(12));
    const later = await postEntries(post, at(30));

    const created_at = new Date(begin + 12 * minute).toISOString();
    expect(again.stored).toEqual([stored[0], { id: expect.any(Number), created_at }, stored[2]]);
    expect(later.stored).toEqual(again.stored);
    const items = await storedOf(post);
    expect(items.map(({ resource_id }) => resource_id)).toEqual(['1', '3', '2']);
    expect(items.slice(0, 2)).toEqual([before[0], before[2]]);
  });

  it('with other content is refused, and stores nothing', async () => {
    const post = newPost();
    await postEntries(post, at(0));

    for (const entries of [[...three, entryOf()], three.slice(1), three.toReversed()]) {
      await expect(postEntries({ ...post, entries }, at(1))).rejects.toMatchObject({
        code: 'IDEMPOTENCY_KEY_USED',
      });
    }

    expect(await storedOf(post)).toHaveLength(3);
  });

  it('is new for another machine, and after eight days', async () => {
    const post = newPost();
    const first = await postEntries(post, at(0));

    const other = await postEntries({ ...post, machine: 8 }, at(1));
    const later = await postEntries(
      { ...post, entries: three.slice(1) },
      { now: new Date(begin + 8 * day + 1), random },
    );

    expect([first.isNew, other.isNew, later.isNew]).toEqual([true, true, true]);
    expect(await storedOf(post)).toHaveLength(8);
  });
});

describe('The time at which an entry occurred', () => {
  const occurredAt = (days: number, milliseconds = 0) => [
    entryOf({ occurredAt: new Date(begin + days * day + milliseconds).toISOString() }),
  ];
  const fiveMinutes = 5 * minute;

  it.each([occurredAt(-7), occurredAt(0, fiveMinutes)])('may be %j', async (entry) => {
    const { isNew } = await postEntries(newPost({ entries: [entry] }), at(0));

    expect(isNew).toBe(true);
  });

  it.each([occurredAt(-7, -1), occurredAt(0, fiveMinutes + 1)])(
    'is refused if it is %j, unless the key is known',
    async (entry) => {
      const post = newPost({ entries: [entryOf(), entry] });

      await expect(postEntries(post, at(0))).rejects.toMatchObject({
        code: 'FIELD_INVALID',
        faults: [{ field: 'entries/1/occurredAt' }],
      });
      expect(await keyItem(post)).toBeUndefined();
      const time = new Date(entry.occurredAt ?? '');
      const { stored } = await postEntries(post, { now: time, random });

      expect(await postEntries(post, at(0))).toEqual({ isNew: false, stored });
    },
  );
});

it('The item of a key says when DynamoDB may delete it, a day after the key has ended', async () => {
  const post = newPost();

  await postEntries(post, at(0));

  expect((await keyItem(post))?.expires_at).toBe((begin + 9 * day) / 1000);
});
