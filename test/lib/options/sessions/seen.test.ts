import { UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { afterEach, beforeEach, describe, expect, inject, it, vi } from 'vitest';
import { send } from '../../../../lib/dynamodb/client.ts';
import { noteSeen, readSeen } from '../../../../lib/options/sessions/seen.ts';
import { listSeenBefore } from '../../../../lib/options/sessions/seen-before.ts';
import { allocateUserId } from '../../../../lib/users/store.ts';
import { useOwnTables } from '../../../support/own-tables.ts';
import { scan } from '../../../support/stored-items.ts';
import { insertedUser } from '../../../support/stored-user.ts';

const { users: table } = await useOwnTables();
beforeEach(() => void vi.stubEnv('SESSION_DAYS', '90'));
afterEach(() => vi.unstubAllEnvs());

const day = '2026-08-30';
/** The last millisecond before the day, its first one, and its last one. */
const [before, first, last] = [-1, 0, 86_399_999].map(
  (milliseconds) => new Date(Date.parse(day) + milliseconds),
) as [Date, Date, Date];
const noon = (on: string) => new Date(`${on}T12:00:00Z`);
const items = async () =>
  (await scan(inject('engine'), table)).filter(({ pk }) => String(pk).startsWith('seen#'));

describe('noteSeen', () => {
  it.each([
    ['no day', [], first, day],
    ['the day before', [before], first, day],
    ['the same day', [first], last, day],
    ['the next day', [noon('2026-08-31')], last, '2026-08-31'],
    ['a day of the year before', [noon('2025-12-31')], last, day],
  ])('after %s was noted, leaves the later day', async (_, earlier, now, expected) => {
    const id = await allocateUserId();
    for (const time of earlier) await noteSeen(id, [], time);

    await noteSeen(id, [], now);

    expect(await readSeen(id)).toBe(expected);
  });

  it.each([
    ['no session', day, []],
    ['a session that was used the day before', day, [before]],
    ['a session that was used on the same day', null, [first]],
    ['two sessions, of which one was used on the same day', null, [before, last]],
    ['a session that was used on the next day, by another clock', day, [noon('2026-08-31')]],
  ])('for a user with %s, leaves the day %s', async (_, expected, uses) => {
    const id = await allocateUserId();

    await noteSeen(
      id,
      uses.map((used) => ({ used: used.getTime() })),
      first,
    );

    expect(await readSeen(id)).toBe(expected);
  });

  it('stores an item of its own, with the id, the day, and the keys of the index alone', async () => {
    await noteSeen(1_000_017, [], first);

    expect((await items()).filter(({ pk }) => pk === 'seen#1000017')).toEqual([
      {
        pk: 'seen#1000017',
        user_id: 1_000_017,
        seen_on: day,
        seen_shard: 's1',
        seen_on_id: '2026-08-30#0000000001000017',
      },
    ]);
  });
});

/** Values that somebody may have written in place of the day: a great number is read as a BigInt. */
const noDays = [
  5,
  2n ** 60n,
  true,
  null,
  { day },
  'yesterday',
  '2026-02-30',
  '2026-08-30T12:00:00Z',
];
const changeDay = (id: number, seen_on: unknown) =>
  send(
    new UpdateCommand({
      TableName: table,
      Key: { pk: `seen#${id}` },
      UpdateExpression: 'SET seen_on = :day',
      ExpressionAttributeValues: { ':day': seen_on },
    }),
  );

it.each(noDays)('readSeen returns null for a value that is no day: %s', async (value) => {
  const id = await allocateUserId();
  await noteSeen(id, [], first);
  await changeDay(id, value);

  expect(await readSeen(id)).toBeNull();
});

describe('listSeenBefore', () => {
  /** Users who were seen on each of some days, in turn. @returns their ids in the order of the list */
  const seenUsers = async (days: readonly string[], count: number) => {
    const ids: (readonly [string, number])[] = [];
    for (let i = 0; i < count; i += 1) {
      const { id } = await insertedUser();
      const on = days[i % days.length] as string;
      await noteSeen(id, [], noon(on));
      ids.push([on, id]);
    }
    return ids.sort(([a, one], [b, other]) => (a === b ? one - other : a < b ? -1 : 1));
  };
  const pagesOf = async (asked: { day: string; order?: 'asc' | 'desc'; limit: number }) => {
    const pages: (readonly (readonly [string, number])[])[] = [];
    let after: string | undefined;
    do {
      const page = await listSeenBefore({ order: 'asc', ...asked, after });
      pages.push(page.seen.map(({ user, seenOn }) => [seenOn, user.id] as const));
      after = page.next;
    } while (after !== undefined);
    return pages;
  };

  it('lists users of all shards in the order of their days, and then of their ids, page after page', async () => {
    const expected = await seenUsers(['2020-03-01', '2020-01-31', '2019-12-31'], 30);

    const pages = await pagesOf({ day: '2020-03-02', limit: 7 });

    expect(pages.map(({ length }) => length)).toEqual([7, 7, 7, 7, 2]);
    expect(pages.flat()).toEqual(expected);
    const backwards = await pagesOf({ day: '2020-03-02', order: 'desc', limit: 100 });
    expect(backwards).toEqual([expected.toReversed()]);
  });

  it('lists nobody who was seen on the day or later, or of whom nothing is noted', async () => {
    const [[, seen] = []] = await seenUsers(['2018-05-05'], 1);
    await seenUsers(['2018-05-06', '2018-05-07'], 2);
    await insertedUser();

    expect(await pagesOf({ day: '2018-05-06', limit: 100 })).toEqual([[['2018-05-05', seen]]]);
    expect(await pagesOf({ day: '2018-05-05', limit: 100 })).toEqual([[]]);
  });

  it('leaves out and deletes an id without a user, so that a page is shorter and leads on', async () => {
    const [one, other] = await seenUsers(['2017-01-01', '2017-01-03'], 2);
    const orphan = await allocateUserId();
    await noteSeen(orphan, [], noon('2017-01-02'));

    expect(await pagesOf({ day: '2017-02-01', limit: 2 })).toEqual([[one], [other]]);

    expect(await readSeen(orphan)).toBeNull();
    expect(await pagesOf({ day: '2017-02-01', limit: 2 })).toEqual([[one, other]]);
  });

  it.each(noDays)('leaves out a user with a value that is no day: %s', async (value) => {
    const [one, [, id] = ['', 0]] = await seenUsers(['2016-01-01', '2016-01-02'], 2);
    await changeDay(id, value);

    const pages = await pagesOf({ day: '2016-02-01', limit: 100 });

    expect(pages.flat().slice(-1)).toEqual([one]);
    expect(pages.flat().map(([, listed]) => listed)).not.toContain(id);
  });
});
