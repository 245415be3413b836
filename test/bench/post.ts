/**
 * `npm run bench -- post`: compares requests that post 25 entries with the bare SDK, which makes the same reads and
 * writes; other requests with the option MACHINES and without it; and a query of the newest 100 entries of a trail with
 * 10,000 entries of machines of the same minute, and without them. Each comparison has five pairs, whose sides
 * alternate, of 100 requests (`npm run bench -- post 400`: of 400), four of them at once.
 */
import { randomUUID } from 'node:crypto';
import { createTables } from '../../infra/local/create-tables.ts';
import { makeEntry } from '../../lib/audit/entry.ts';
import { toItem } from '../../lib/audit/record.ts';
import { hashOfKey, makeKey } from '../../lib/options/machines/key.ts';
import { scan } from '../support/stored-items.ts';
import { writeBatches } from '../support/write-batches.ts';
import { compare, header } from './post/compare.ts';
import { prepare } from './post/prepare.ts';

const requests = Number(process.argv[2] ?? 100);
const [perRequest, minute] = [25, 60_000];
/** The most that a request may take, as a multiple of the bare calls. */
const target = 1.15;
const path = '/api/admin/audit-logs';
const person = { name: 'Some One', email: 'some@example.org', password: 'a password' };

const { endpoint, proxy, token, users, audit, bare, invoke, stop } = await prepare();

/** Posts entries by the function, and the same items by the bare SDK. */
const posting = async () => {
  const key = makeKey(1);
  const keys = [{ hash: hashOfKey(key), made_at: new Date().toISOString() }];
  const machine = { pk: 'machine#1', id: 1, name: 'Shop', scopes: ['audit:write'], keys };
  await writeBatches(endpoint, users, [machine]);
  const entries = Array.from({ length: perRequest }, (_, i) => ({
    ...{ action: 'UPDATE', resource: 'shop.orders', result: 'SUCCESS', resourceId: String(i) },
    ...{ userId: 7, ipAddress: '192.0.2.1', userAgent: 'shop/1.0', details: { fields: ['state'] } },
  }));
  const post = () => {
    const headers = { 'idempotency-key': randomUUID() };
    return invoke('audit-logs-create', { path, token: key, headers, json: { entries } });
  };
  await post();
  const items = (await scan(endpoint, audit)).filter(({ machine_id }) => machine_id === 1);
  const known = (await scan(endpoint, users)).find(({ pk }) => String(pk).startsWith('posted#'));
  let written = 0;
  const postBare = () => {
    const first = written + 1;
    written += items.length;
    const item = { ...known, pk: `posted#1#${randomUUID()}` };
    return bare.post(
      [users, audit],
      machine.pk,
      item,
      items.map((each, i) => ({ ...each, id: first + i })),
    );
  };
  return [post, postBare] as const;
};

/** Entries of a minute. */
const entriesOf = (resource: string, number: number, end: number) =>
  Array.from({ length: number }, (_, i) => {
    const deed = { action: 'UPDATE', resource, user_id: 7, result: 'SUCCESS' } as const;
    const now = new Date(end - (minute * i) / number);
    return toItem(makeEntry(deed, { now }), { writeId: randomUUID() });
  });

try {
  await invoke('users-create', { path: '/api/users', token, json: person });
  console.log(header);
  const posted = await compare(
    '25 entries by the API / by the bare SDK',
    await posting(),
    requests,
  );
  const rates = posted.times.map((time) => ((perRequest * 1e6) / time).toFixed(0));
  console.log(`${rates.join(' and ')} entries a second; the ratio may be ${target}\n`);
  if (posted.ratio > target) process.exitCode = 1;

  const get = { method: 'GET', token };
  for (const [name, fields, number] of [
    ['profile-get', { ...get, path: '/api/profile' }, requests],
    ['audit-logs-list', { ...get, path, query: { userId: '1' } }, requests],
    ['auth-login', { path: '/api/login', json: person }, requests / 10],
  ] as const) {
    const side = (MACHINES: string) => () => invoke(name, fields, { MACHINES });
    await compare(`${name}, option on / off`, [side('on'), side('off')], number);
  }

  const [crowded, calm] = [`audit-${randomUUID()}`, `audit-${randomUUID()}`];
  const now = Date.now();
  for (const table of [crowded, calm]) {
    await createTables(endpoint, { users: `users-${table}`, audit: table });
    await writeBatches(endpoint, table, entriesOf('users', 1000, now));
  }
  await writeBatches(endpoint, crowded, entriesOf('shop.orders', 10_000, now));
  for (const query of [{}, { from: 'service' }]) {
    const side = (table: string) => () =>
      invoke('audit-logs-list', { ...get, path, query }, { MACHINES: 'on', AUDIT_TABLE: table });
    const name = `newest 100 ${JSON.stringify(query)}, 10,000 / none`;
    await compare(name, [side(crowded), side(calm)], requests / 2);
    for (const table of [crowded, calm]) {
      proxy.forget();
      await invoke('counted', { ...get, path, query }, { MACHINES: 'on', AUDIT_TABLE: table });
      const { units, entries } = proxy.consumed;
      console.log(`  ${proxy.requests.length} reads of ${entries} entries, ${units} units`);
    }
  }
} finally {
  await stop();
}
