import { describe, expect, it } from 'vitest';
import { type Item, idText, lineOf, readLine, replayedBy } from '../../../lib/seal/line.ts';

describe('The line of an entry', () => {
  it('has all attributes of the item in the order of their names, even the attributes of indexes', () => {
    const item: Item = {
      write_id: 'w',
      shard: '1',
      expires_at: 9,
      action: 'é"\u2028',
      id: 7,
      a: null,
    };

    expect(lineOf(item)).toBe(
      '{"a":null,"action":"é\\"\u2028","expires_at":9,"id":7,"shard":"1","write_id":"w"}',
    );
  });

  it('orders names by their UTF-16 code units, at any depth', () => {
    const item = {
      id: 1,
      '10': '',
      '9': '',
      '\ufb01': '',
      '\u{1f600}': { M: { b: { S: '' }, a: { N: '1' } } },
    };

    expect(lineOf(item)).toBe(
      '{"10":"","9":"","id":1,"\u{1f600}":{"M":{"a":{"N":"1"},"b":{"S":""}}},"\ufb01":""}',
    );
  });

  it.each([
    '{"id":7}',
    '{"id":{"N":"1.5"},"x":{"L":[{"NULL":true}]}}',
    '{"__proto__":null,"id":7}',
  ])('is read as it was written: %s', (line) => {
    expect(lineOf(readLine(line))).toBe(line);
  });

  // biome-ignore format: a table
  it.each([
    '{"id":7,"a":1}', '{"id":7.5}', '{"id":7,"id":7}', '{"id": 7}', 'null', '7', '', '{"id":-0}',
    '{"a":1}',
  ])('is not read if it is written in another way: %s', (line) => {
    expect(() => readLine(line)).toThrow(SyntaxError);
  });

  it('may have a hundred levels of objects and lists, including its own object', () => {
    const nested = (depth: number) => `{"id":7,"x":${'['.repeat(depth)}${']'.repeat(depth)}}`;

    expect(lineOf(readLine(nested(99)))).toBe(nested(99));
    expect(() => readLine(nested(100))).toThrow(SyntaxError);
  });
});

it.each([
  [7, '7'],
  ['7', '"7"'],
  [{ N: '1.5' }, '{"N":"1.5"}'],
])('The id %j of an entry is reported as %s', (id, text) => {
  expect(idText(id)).toBe(text);
});

describe('The entries that an entry lists as replayed', () => {
  const replay = { action: 'CREATE', resource: 'audit-logs', shard: '7' };
  const listing = (entries: unknown) => ({
    ...replay,
    details: JSON.stringify({ written: 1, entries }),
  });

  it('are the entries of a replay, at most a thousand', () => {
    const many = Array.from({ length: 1001 }, (_, id) => id);

    expect(replayedBy(listing([1, 22, 3]))).toEqual(['1', '22', '3']);
    expect(replayedBy(listing(many))).toEqual(many.slice(0, 1000).map(String));
  });

  it.each([
    ['another action', { ...listing([1]), action: 'UPDATE' }],
    ['another resource', { ...listing([1]), resource: 'users' }],
    ['a resource of machines', { ...listing([1]), resource: 'audit-logs.x' }],
    ['a shard of machines', { ...listing([1]), shard: 'm7' }],
    ['a shard that no run reads', { ...listing([1]), shard: '8' }],
    ['no shard', { ...listing([1]), shard: undefined }],
    ['details that are not a text', { ...replay, details: { entries: [1] } }],
    ['a list within a text', listing('"entries":[1]')],
    ['a list of values that are not ids', listing([1.5, -1, '2', 1e20])],
    ['an empty list', listing([])],
  ])('do not exist for an entry with %s', (_, item) => {
    expect(replayedBy(item)).toEqual([]);
  });
});
