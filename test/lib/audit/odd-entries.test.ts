/** Queries of an audit trail with entries that somebody has written directly into the table. */
import { type AttributeValue, PutItemCommand } from '@aws-sdk/client-dynamodb';
import { beforeAll, describe, expect, inject, it } from 'vitest';
import { nextPage, serviceForThisFile } from '../../support/acceptance.ts';
import { apiClient } from '../../support/client.ts';
import { engineClient } from '../../support/stored-items.ts';

const service = await serviceForThisFile();
const { adminToken: token } = service;
// No document defines such entries, so that their responses are not compared with the contract.
const api = apiClient(service.url);

type Item = Readonly<Record<string, AttributeValue>>;

/** By default an entry of user 5 about user 17, which all indexes contain. */
const oddItem = (i: number, fields: Item): Item => {
  const id = `${9_000_000_000_000_000 + i}`;
  const created_at = `2026-03-01T00:00:00.${String(i).padStart(3, '0')}Z`;
  const shard = String(i % 8);
  return {
    id: { N: id },
    user_id: { N: '5' },
    action: { S: 'LOGIN' },
    resource_id: { S: '17' },
    result: { S: 'FAILURE' },
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

const bytes = { B: Uint8Array.of(0, 255, 16) };
const sameKey = '2026-03-01T00:00:00.010Z#0009000000000000';

const items: readonly Item[] = [
  oddItem(1, { ip_address: bytes, details: { M: { a: { L: [bytes, { N: '1' }] } } } }),
  oddItem(2, { id: { N: '12345678901234567890123456789012345678' } }),
  oddItem(3, { id: { N: '-1.5' }, resource_id: { N: '17' } }),
  // Entries that are adjacent, have the same key, and are in one partition or several.
  ...[10, 11, 12, 18, 26].map((i) => oddItem(i, { created_at_id: { S: sameKey } })),
  oddItem(13, { created_at_id: { S: '[1]' } }),
  oddItem(14, { created_at_id: { S: '\u{1f600}' } }),
];

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
    [...text.matchAll(/^{"id":"?([-.\d]+)/gm)].map(([, id = '']) => id),
  'text/csv': (text: string) => [...text.matchAll(/^"?'?([-.\d]+)/gm)].map(([, id = '']) => id),
};
type Form = keyof typeof forms;

/** The ids of all entries of a query, which is read page by page. */
const readAll = async (accept: Form, query: string) => {
  const ids: string[] = [];
  let path: string | undefined = `/api/admin/audit-logs?${query}`;
  for (let pages = 0; path && pages < 100; pages += 1) {
    const answer = await api('GET', path, { token, headers: { accept } });
    expect([answer.status, answer.status === 200 ? '' : answer.text]).toEqual([200, '']);
    // The most bytes that Lambda accepts as a response.
    expect(Buffer.byteLength(JSON.stringify(answer.text))).toBeLessThan(4_100_000);
    ids.push(...forms[accept](answer.text));
    path = nextPage(answer);
  }
  return ids;
};

const idsOf = (entries: readonly Item[]) => entries.map(({ id }) => String(id?.N));

describe('A query of the trail, if somebody else than the service has written entries,', () => {
  // The order of the keys is tested in test/lib/dynamodb/page.test.ts.
  it.each<[string, Form]>([
    ['userId=5', 'application/json'],
    ['action=LOGIN', 'application/json'],
    ['userId=5&action=LOGIN', 'application/json'],
    ['result=FAILURE', 'application/json'],
    ['userId=5&result=FAILURE', 'application/json'],
    ['userId=5', 'application/x-ndjson'],
    ['userId=5', 'text/csv'],
  ])('returns each of these entries once, for %s as %s', async (query, accept) => {
    for (const page of ['', '&limit=5&order=asc']) {
      const ids = await readAll(accept, query + page);

      // The admin of the service has logged in too, which left another entry.
      const odd = ids.filter((id) => idsOf(items).includes(id));
      expect(odd.toSorted()).toEqual(idsOf(items).toSorted());
    }
  });

  it('shows these entries as documented', async () => {
    const path = '/api/admin/audit-logs?userId=5&order=asc&limit=3';

    const { body } = await api('GET', path, { token });

    expect(body.data).toMatchObject([
      {
        id: 9000000000000001,
        ip_address: '{"B":"AP8Q"}',
        details: '{"M":{"a":{"L":[{"B":"AP8Q"},{"N":"1"}]}}}',
      },
      { id: '12345678901234567890123456789012345678', ip_address: null, created_at: null },
      { id: -1.5, resource_id: 17 },
    ]);
  });
});

it('A response that has no room for all entries leads to the next page', async () => {
  const details = { M: { a: { S: '"\\\u0001'.repeat(100_000) } } };
  const long = Array.from({ length: 6 }, (_, i) =>
    oddItem(30 + i, { user_id: { N: '6' }, user_key: { S: '6' }, details }),
  );
  await write(long);

  for (const accept of Object.keys(forms) as Form[]) {
    expect(await readAll(accept, 'userId=6&order=asc')).toEqual(idsOf(long));
  }
  // The entry of an export counts the entries that were returned, not the entries that were read.
  const { body } = await api('GET', '/api/admin/audit-logs?action=EXPORT', { token });
  const exports = body.data.map(({ details }: { details: string }) => JSON.parse(details));
  const ofCsv = exports.filter((one: { format: string; filter: { userId: number } }) => {
    return one.format === 'csv' && one.filter.userId === 6;
  });
  expect(ofCsv.reduce((sum: number, { entries }: { entries: number }) => sum + entries, 0)).toBe(6);
});
