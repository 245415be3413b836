/** The audit query over entries that somebody wrote into the table past the service. */
import { type AttributeValue, PutItemCommand } from '@aws-sdk/client-dynamodb';
import { beforeAll, describe, expect, inject, it } from 'vitest';
import { nextPage, serviceForThisFile } from '../../support/acceptance.ts';
import { apiClient } from '../../support/client.ts';
import { engineClient } from '../../support/stored-items.ts';

const service = await serviceForThisFile();
const { adminToken: token } = service;
// No document promises what these look like.
const api = apiClient(service.url);

type Item = Readonly<Record<string, AttributeValue>>;

/** One of user 5 about user 17, as far as nothing else is given, in all indexes. */
const oddItem = (i: number, fields: Item): Item => {
  const id = `${9_000_000_000_000_000 + i}`;
  const created_at = `2026-03-01T00:00:00.${String(i).padStart(3, '0')}Z`;
  const shard = String(i % 8);
  return {
    id: { N: id },
    user_id: { N: '5' },
    action: { S: 'LOGIN' },
    resource: { S: 'users' },
    resource_id: { S: '17' },
    ip_address: { NULL: true },
    user_agent: { S: 'odd' },
    result: { S: 'FAILURE' },
    details: { NULL: true },
    created_at: { S: created_at },
    created_at_id: { S: `${created_at}#${id}` },
    shard: { S: shard },
    user_key: { S: '5' },
    action_shard: { S: `LOGIN#${shard}` },
    user_action: { S: '5#LOGIN' },
    resource_key: { S: '17' },
    failure_shard: { S: shard },
    ...fields,
  };
};

const without = (item: Item, ...names: readonly string[]): Item =>
  Object.fromEntries(Object.entries(item).filter(([name]) => !names.includes(name)));

const bytes = { B: Uint8Array.of(0, 255, 16) };
const sameKey = '2026-03-01T00:00:00.010Z#0009000000000000';

const items: readonly Item[] = [
  oddItem(1, { ip_address: bytes, details: { M: { a: { L: [bytes, { N: '1' }] } } } }),
  oddItem(2, { id: { N: '12345678901234567890123456789012345678' } }),
  oddItem(3, { id: { N: '-1.5' }, resource_id: { N: '17' } }),
  without(oddItem(4, {}), 'resource', 'ip_address', 'user_agent', 'details', 'created_at'),
  oddItem(5, { user_id: { S: '5' } }),
  // In a row, under one key, in one partition and over several.
  ...[10, 11, 12, 18, 26].map((i) => oddItem(i, { created_at_id: { S: sameKey } })),
  oddItem(13, { created_at_id: { S: '[1]' } }),
  oddItem(14, { created_at_id: { S: '\u{1f600}' } }),
  oddItem(15, { created_at_id: { S: '\uffff' } }),
];

const idOf = ({ id }: Item): string => String(id?.N);
const byKey = (a: Item, b: Item) =>
  Buffer.compare(Buffer.from(a.created_at_id?.S ?? ''), Buffer.from(b.created_at_id?.S ?? ''));
const newestFirst = items.toSorted(byKey).reverse().map(idOf);

const write = async (entries: readonly Item[]) => {
  const engine = engineClient(inject('engine'));
  const TableName = service.environment.AUDIT_TABLE;
  for (const Item of entries) await engine.send(new PutItemCommand({ TableName, Item }));
};
beforeAll(() => write(items));

const forms = {
  'application/json': (text: string): readonly string[] =>
    JSON.parse(text).data.map(({ id }: { id: unknown }) => String(id)),
  'application/x-ndjson': (text: string) =>
    text
      .split('\n')
      .slice(0, -1)
      .map((line) => String(JSON.parse(line).id)),
  'text/csv': (text: string) =>
    text
      .split('\r\n')
      .slice(1, -1)
      .map((line) => String(line.split(',')[0]).replaceAll(/["']/g, '')),
};

/** The ids of all entries of a query, page by page. */
const readAll = async (accept: keyof typeof forms, query: string) => {
  const ids: string[] = [];
  let path: string | undefined = `/api/admin/audit-logs?${query}`;
  for (let pages = 0; path && pages < 100; pages += 1) {
    const answer = await api('GET', path, { token, headers: { accept } });
    expect([answer.status, answer.status === 200 ? '' : answer.text]).toEqual([200, '']);
    // What Lambda takes of a response.
    expect(Buffer.byteLength(JSON.stringify(answer.text))).toBeLessThan(4_100_000);
    ids.push(...forms[accept](answer.text));
    path = nextPage(answer);
  }
  return ids;
};

const known = new Set(newestFirst);
const underOneKey = new Set(
  items.filter(({ created_at_id }) => created_at_id?.S === sameKey).map(idOf),
);
/** Their order is not known. */
const inTies = (ids: readonly string[]) =>
  ids.map((id) => (underOneKey.has(id) ? 'under one key' : id));

/** Expects the entries of a query in both orders, each once. */
const expectAll = async (
  accept: keyof typeof forms,
  query: string,
  expected: readonly string[] = newestFirst,
) => {
  for (const order of ['desc', 'asc']) {
    const odd = (await readAll(accept, `${query}&order=${order}`)).filter((id) => known.has(id));

    expect(inTies(odd)).toEqual(inTies(order === 'asc' ? expected.toReversed() : expected));
    expect(new Set(odd).size).toBe(expected.length);
  }
};

describe('A query returns each entry once, in order, that somebody wrote past the service,', () => {
  it.each([
    '',
    'userId=5',
    'action=LOGIN',
    'userId=5&action=LOGIN',
    'result=FAILURE',
    'resourceId=17',
    'userId=5&result=FAILURE',
  ])('for "%s"', async (query) => {
    await expectAll('application/json', `${query}&limit=1`);
    await expectAll('application/json', query);
  });

  it.each(['application/x-ndjson', 'text/csv'] as const)('as %s', async (accept) => {
    await expectAll(accept, 'userId=5&limit=1');
    await expectAll(accept, '');
  });

  it('between two times', async () => {
    const range = 'since=2026-03-01&until=2026-03-02';

    await expectAll('application/json', `${range}&userId=5&limit=1`, newestFirst.slice(3));
    await expectAll('application/json', `${range}&limit=1`, newestFirst.slice(3));
  });
});

it('An entry that somebody wrote past the service is shown as documented', async () => {
  const { body } = await api('GET', '/api/admin/audit-logs?userId=5&order=asc&limit=4', { token });

  expect(body.data).toMatchObject([
    { id: 9000000000000001, ip_address: 'AP8Q', details: '{"a":["AP8Q",1]}' },
    { id: '12345678901234567890123456789012345678', ip_address: null },
    { id: -1.5, resource_id: 17 },
    { id: 9000000000000004, resource: null, user_agent: null, created_at: null },
  ]);
});

it('A response that is full leads on to the other entries', async () => {
  const long = Array.from({ length: 6 }, (_, i) =>
    oddItem(30 + i, {
      user_id: { N: '6' },
      user_key: { S: '6' },
      details: { M: { a: { S: '"\\\u0001'.repeat(100_000) } } },
    }),
  );
  await write(long);

  for (const accept of Object.keys(forms) as (keyof typeof forms)[]) {
    const ids = await readAll(accept, 'userId=6&order=asc');

    expect(ids).toEqual(long.map(idOf));
  }
});
