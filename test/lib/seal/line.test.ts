import { describe, expect, it } from 'vitest';
import {
  type Item,
  idText,
  lineOf,
  markLate,
  readLine,
  replayedBy,
} from '../../../lib/seal/line.ts';

describe('The line of an entry', () => {
  const item: Item = {
    write_id: 'w',
    shard: '1',
    expires_at: 9,
    action_shard: 'LOGIN#1',
    created_at: 'then',
    action: 'LOGIN',
    id: 7,
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
    ['details that are no text', { ...replay, details: { entries: listed } }],
  ])('are none of an entry with %s', (_, item) => {
    expect(replayedBy(item)).toEqual([]);
  });
});
