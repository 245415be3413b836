import { PutItemCommand } from '@aws-sdk/client-dynamodb';
import { DeleteCommand, PutCommand } from '@aws-sdk/lib-dynamodb';
import { afterAll, beforeAll, beforeEach, describe, expect, inject, it } from 'vitest';
import { type AuditEntry, makeEntry } from '../../../lib/audit/entry.ts';
import { toItem, writeEntry } from '../../../lib/audit/record.ts';
import { faultName } from '../../../lib/ground/errors.ts';
import { type Item, lineOf } from '../../../lib/seal/line.ts';
import { auditEntries, putBack } from '../../../lib/seal/table.ts';
import { useOwnTables } from '../../support/own-tables.ts';
import { type Fault, startProxy } from '../../support/proxy.ts';
import { engineClient } from '../../support/stored-items.ts';

const start = Date.UTC(2026, 5, 1);
const timeOf = (second: number) => new Date(start + second * 1000);
const entries: AuditEntry[] = [];

const proxy = await startProxy(inject('engine'));
afterAll(() => proxy.stop());
beforeEach(() => {
  proxy.impose();
  proxy.forget();
});

/** Entries a second apart, more than a response of DynamoDB can hold (1 MB), even in a single shard. */
beforeAll(async () => {
  await useOwnTables(proxy.url);
  const long = `"\u2028\\é${'x'.repeat(250_000)}`;
  for (let second = 0; second < 40; second += 1) {
    const action = { action: 'LOGIN', resource: 'users', result: 'FAILURE' } as const;
    const details = second % 4 === 0 ? long : undefined;
    const random = () => (second % 4 === 0 ? 0 : second);
    const entry = makeEntry({ ...action, details }, { now: timeOf(second), random });
    entries.push(await writeEntry(entry, { writeId: `write-${second}` }));
  }
});

const all = async (items: AsyncIterable<Item>): Promise<readonly Item[]> => {
  const found: Item[] = [];
  for await (const item of items) found.push(item);
  return found;
};

describe('The entries of the audit table', () => {
  it('between two times come oldest first, with the first time and without the second', async () => {
    const [from, until] = [timeOf(5).toISOString(), timeOf(30).toISOString()];

    const found = await all(auditEntries.between(from, until));

    expect(found.map(({ id }) => id)).toEqual(entries.slice(5, 30).map(({ id }) => id));
    // One request for each of the eight shards, and more for the shard that does not fit into one response.
    expect(proxy.requests.length).toBeGreaterThan(8);
  });

  it('come from the beginning if no first time is given', async () => {
    const found = await all(auditEntries.between('', timeOf(3).toISOString()));

    expect(found).toHaveLength(3);
  });

  it('all come, and each of them once', async () => {
    const found = await all(auditEntries.all());

    expect(found.map(({ id }) => id).sort()).toEqual(entries.map(({ id }) => id).sort());
    const scans = proxy.requests.filter(({ operation }) => operation === 'Scan');
    expect(scans.length).toBeGreaterThan(1);
    for (const { content } of scans) expect(content).toContain('"ConsistentRead":true');
  });

  it('have the line of the item that was written, however they are read', async () => {
    const [entry] = entries;
    const line = lineOf(toItem(entry ?? expect.unreachable(), { writeId: 'write-0' }));
    const first = ({ id }: Item) => id === entry?.id;

    const [byIndex] = await all(
      auditEntries.between(timeOf(0).toISOString(), timeOf(1).toISOString()),
    );
    const byScan = (await all(auditEntries.all())).find(first);
    const [byId] = await auditEntries.byIds([String(entry?.id), String(entry?.id)]);

    for (const item of [byIndex, byScan, byId]) {
      expect(lineOf(item ?? {})).toBe(line);
    }
  });

  it('are read even if their attributes have other types', async () => {
    const id = 2 ** 52;
    const strange = {
      id,
      user_id: 1.5,
      created_at: 7,
      details: new Set(['x']),
      extra: { deep: [1, Uint8Array.of(0xf8)] },
      // In the order of their base64, which differs from the order of the bytes.
      bytes: new Set([Uint8Array.of(0), Uint8Array.of(0xf8)]),
    };
    const table = process.env.AUDIT_TABLE ?? '';
    const engine = engineClient(inject('engine'));
    await engine.send(new PutCommand({ TableName: table, Item: strange }));

    const [found] = await auditEntries.byIds([String(id)]);

    expect(lineOf(found ?? {})).toBe(
      `{"bytes":{"BS":["+A==","AA=="]},"created_at":7,"details":{"SS":["x"]},"extra":{"M":{"deep":{"L":[{"N":"1"},{"B":"+A=="}]}}},"id":${id},"user_id":{"N":"1.5"}}`,
    );
  });

  it('are read with all digits of a number', async () => {
    const id = 2 ** 52 + 2;
    const N = '1.0000000000000000000000000001';
    const Item = { id: { N: String(id) }, user_id: { N } };
    const TableName = process.env.AUDIT_TABLE ?? '';
    await engineClient(inject('engine')).send(new PutItemCommand({ TableName, Item }));

    const [found] = await auditEntries.byIds([String(id)]);

    expect(found).toEqual({ id, user_id: { N } });
  });

  it('are read with an attribute of any name, and their line has this attribute', async () => {
    const id = 2 ** 52 + 1;
    const odd = '"__proto__":{"S":"x"}';
    const Item = JSON.parse(`{"id":{"N":"${id}"},${odd},"deep":{"M":{${odd}}}}`);
    const TableName = process.env.AUDIT_TABLE ?? '';
    await engineClient(inject('engine')).send(new PutItemCommand({ TableName, Item }));

    const [found] = await auditEntries.byIds([String(id)]);

    expect(lineOf(found ?? {})).toBe(
      `{"__proto__":null,"deep":{"M":{"__proto__":{"S":"x"}}},"id":${id}}`,
    );
  });

  it('come by their ids, each once and a hundred per request, and unknown ids are left out', async () => {
    const known = entries.map(({ id }) => id);
    const others = Array.from({ length: 110 }, (_, i) => 2 ** 40 + i);

    const found = await auditEntries.byIds([...known, ...others, ...known].map(String));

    expect(found.map(({ id }) => id).sort()).toEqual(known.sort());
    expect(proxy.requests.map(({ content }) => content)).toEqual([
      expect.stringContaining('"ConsistentRead":true'),
      expect.stringContaining('"ConsistentRead":true'),
    ]);
    expect(await auditEntries.byIds([])).toEqual([]);
  });

  it('are put back as they were sealed, unless an entry with the same id exists', async () => {
    const TableName = process.env.AUDIT_TABLE ?? '';
    const engine = engineClient(inject('engine'));
    const [id, key] = [2 ** 52 + 3, { id: 2 ** 52 + 3 }];
    const values = { N: '1.0000000000000000000000000001', n: '', nothing: null };
    const bytes = { one: new Uint8Array(), set: new Set([Uint8Array.of(9), Uint8Array.of(1)]) };
    const deep = { list: [true, { sets: new Set(['b', 'a']), numbers: new Set([2, 10]) }] };
    await engine.send(new PutCommand({ TableName, Item: { ...key, ...values, bytes, deep } }));
    const [sealed = {}] = await auditEntries.byIds([String(id)]);
    await engine.send(new DeleteCommand({ TableName, Key: key }));

    const written = [await putBack(sealed), await putBack({ ...sealed, n: 'another' })];

    expect(written).toEqual([true, false]);
    expect((await auditEntries.byIds([String(id)])).map(lineOf)).toEqual([lineOf(sealed)]);
  });

  it.each([
    ['a value that no attribute can have', { id: 2 ** 52 + 4, note: true }],
    ['more than an item can store', { id: 2 ** 52 + 4, note: 'x'.repeat(420_000) }],
  ])('are not put back from a line with %s', async (_, item) => {
    await expect(putBack(item)).rejects.toThrow(SyntaxError);
  });

  describe('that DynamoDB leaves out of a response', () => {
    const leaveOut: Fault = ({ request, answer }) => {
      const { RequestItems } = JSON.parse(request.content.replace('BatchGetItem', ''));
      const body = JSON.stringify({ Responses: {}, UnprocessedKeys: RequestItems });
      const headers = { 'content-type': 'application/x-amz-json-1.0' };
      answer({ status: 200, headers, body: Buffer.from(body) });
    };

    it('are asked for again', async () => {
      const ids = entries.slice(1, 4).map(({ id }) => id);
      proxy.impose({ fault: leaveOut, operation: 'BatchGetItem', times: 2 });

      const found = await auditEntries.byIds(ids.map(String));

      expect(found.map(({ id }) => id).sort()).toEqual(ids);
      expect(proxy.requests).toHaveLength(3);
    });

    it('are not asked for without end', async () => {
      proxy.impose({ fault: leaveOut, operation: 'BatchGetItem' });

      await expect(auditEntries.byIds(['1'])).rejects.toSatisfy(
        (error) => faultName(error) === 'UnprocessedKeys',
      );

      expect(proxy.requests).toHaveLength(20);
    });
  });
});
