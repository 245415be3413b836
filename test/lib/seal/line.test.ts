import { describe, expect, it } from 'vitest';
import {
  type Item,
  idText,
  indexKeyNames,
  lineOf,
  markLate,
  readLine,
  replayedBy,
  wrongIndexKeys,
} from '../../../lib/seal/line.ts';

describe('The line of an entry', () => {
  const item: Item = {
    ...{ write_id: 'w', shard: '1', expires_at: 9, action_shard: 'LOGIN#1', created_at: 'then' },
    ...{ action: 'LOGIN', id: 7 },
  };
  const line =
    '{"id":7,"action":"LOGIN","created_at":"then","beside":{"expires_at":9,"write_id":"w"}}';

  it('has its fields in one order, what is beside them by name, and no keys of indexes', () => {
    expect(lineOf(item)).toBe(line);
  });

  it('is read as it was written, with the mark of a late one or without', () => {
    const read = { id: 7, created_at: 'then', expires_at: undefined, line };

    expect(readLine(line)).toEqual({ ...read, late: false });
    expect(readLine(markLate(line))).toEqual({ ...read, late: true });
    expect(markLate(line)).toBe(`${line.slice(0, -1)},"late":true}`);
  });

  it('says when an entry leaves the table, if it says when the entry was made', () => {
    const time = '"created_at":"2026-11-22T12:00:00.000Z"';
    const read = readLine(`{"id":7,${time},"beside":{"expires_at":9}}`);

    expect(read).toMatchObject({ id: 7, expires_at: 9, late: false });
  });

  it('is not read when it is written otherwise', () => {
    expect(() => readLine('{"id":7}')).toThrow(SyntaxError);
    expect(() => readLine('{"id":7.5,"beside":{}}')).toThrow(SyntaxError);
  });
});

it.each([
  [7, '7'],
  ['text', 'text'],
  [{ N: '1.5' }, '{"N":"1.5"}'],
  [undefined, 'absent'],
])('The id %j of an entry is told as %s', (id, text) => {
  expect(idText(id)).toBe(text);
});

describe('The entries that an entry lists as replayed', () => {
  const listed: [{ id: number; sha256: string }, unknown] = [
    { id: 1, sha256: 'a'.repeat(64) },
    { id: 2, sha256: 'b'.repeat(64) },
  ];
  const replay = { action: 'CREATE', resource: 'audit-logs' };
  const listing = (entries: unknown) => ({ ...replay, details: JSON.stringify({ entries }) });

  it('are those of a replay, by their ids', () => {
    expect(replayedBy(listing(listed))).toEqual(listed);
    const [{ sha256 }] = listed;
    const wrong = [
      { id: 1.5, sha256 },
      { id: -1, sha256 },
      { id: 2 ** 53, sha256 },
      { sha256, id: 1 },
      {},
    ];
    expect(replayedBy(listing([...wrong, ...listed]))).toEqual(listed);
    expect(replayedBy(listing(JSON.stringify(listed)))).toEqual([]);
  });

  it.each([
    ['another action', { ...listing(listed), action: 'UPDATE' }],
    ['another resource', { ...listing(listed), resource: 'users' }],
    ['no details', { ...replay, details: null }],
    ['details that are no text', { ...replay, details: { entries: listed } }],
    ['details that are no JSON', { ...replay, details: '{' }],
    ['details without a list', listing(undefined)],
    ['details with something else for a list', listing({ filter: 1 })],
    ['details that are null', { ...replay, details: 'null' }],
    ['a list of nothing', listing([null])],
  ])('are none of an entry with %s', (_, item) => {
    expect(replayedBy(item)).toEqual([]);
  });
});

describe('The index keys of an entry', () => {
  const sound: Item = {
    ...{ id: 115218841600, user_id: 2, action: 'LOGIN', resource_id: '2', result: 'SUCCESS' },
    ...{ created_at: '2026-11-22T12:07:31.482Z', shard: '0', action_shard: 'LOGIN#0' },
    ...{ created_at_id: '2026-11-22T12:07:31.482Z#0000115218841600', user_key: '2' },
    ...{ user_action: '2#LOGIN', resource_key: '2' },
  };
  const without = (...names: string[]): Item =>
    Object.fromEntries(Object.entries(sound).filter(([name]) => !names.includes(name)));

  it.each<[string, Item, readonly string[]]>([
    ['are right as its fields make them', sound, []],
    ['are right without a user', without('user_id', 'user_key', 'user_action'), []],
    ['are right without a resource', { ...without('resource_key'), resource_id: null }, []],
    ['are wrong where one is missing', without('user_key'), ['user_key']],
    ['are wrong where one is too many', { ...sound, failure_shard: '0' }, ['failure_shard']],
    ['are all wrong of an id below 0', { ...sound, id: -8 }, indexKeyNames],
    ['are all wrong without an action', without('action'), indexKeyNames],
    ['are all wrong where the action is a number', { ...sound, action: 1 }, indexKeyNames],
    ['are all wrong where the user is a text', { ...sound, user_id: '2' }, indexKeyNames],
    ['are all wrong where the resource is a number', { ...sound, resource_id: 2 }, indexKeyNames],
    ['are all wrong where the time is null', { ...sound, created_at: null }, indexKeyNames],
  ])('%s', (_, item, wrong) => {
    expect(wrongIndexKeys(item)).toEqual(wrong);
  });
});
