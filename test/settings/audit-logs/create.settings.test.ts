/** The endpoint to which machines post entries, the queries of these entries, and what of them the overview counts. */
import { describe, expect, it } from 'vitest';
import { isoTimestamp, outcome, refusal, serviceForThisFile } from '../../support/acceptance.ts';
import { register } from '../../support/client.ts';
import { makeMachine, postAs } from '../../support/machines.ts';

const service = await serviceForThisFile({ MACHINES: 'on', SESSION_DAYS: '90' });
const { api, adminToken: token } = service;
const shop = await makeMachine(api, token, ['audit:write']);
const reader = await makeMachine(api, token, ['audit:read']);

const order = { action: 'CREATE', resource: 'shop.orders', result: 'SUCCESS' };
let keys = 0;
const newKey = () => {
  keys += 1;
  return `key-${keys}`;
};
const post = (entries: unknown, { key = newKey(), by = shop.key, headers = {} } = {}) =>
  postAs(api, by, key, entries, headers);
const query = async (parameters: string, by = token) => {
  const { status, body } = await api('GET', `/api/admin/audit-logs?${parameters}`, { token: by });
  expect(status).toBe(200);
  return body.data;
};

describe('POST /api/admin/audit-logs', () => {
  it('stores the entries once, and answers 201 and then 200 with the same ids', async () => {
    const occurredAt = new Date(Date.now() - 60_000).toISOString();
    const entries = [
      { ...order, resourceId: '1', details: { password: 'x' }, userAgent: 'shop' },
      { ...order, resourceId: '2', occurredAt },
    ];
    const key = newKey();

    const first = await post(entries, { key });
    const again = await post(entries, { key });

    expect([first.status, again.status]).toEqual([201, 200]);
    const one = { id: expect.any(Number), created_at: isoTimestamp };
    expect(first.body).toEqual({ data: [one, one] });
    expect(again.body).toEqual(first.body);
    const [{ id, created_at }, second] = first.body.data;
    expect(await query(`resource=shop.orders&resourceId=1`)).toEqual([
      {
        ...{ id, user_id: null, action: 'CREATE', resource: 'shop.orders', resource_id: '1' },
        ...{ ip_address: null, user_agent: 'shop', result: 'SUCCESS', created_at },
        ...{ details: '{"password":"[REDACTED]"}', machine_id: shop.id, occurred_at: null },
      },
    ]);
    expect(await query(`resource=shop.orders&resourceId=2`)).toMatchObject([
      { id: second.id, occurred_at: occurredAt },
    ]);
  });

  it('answers 409 to a known key with other entries', async () => {
    const key = newKey();
    await post([order], { key });

    const refused = await post([{ ...order, action: 'DELETE' }], { key });

    expect(outcome(refused)).toEqual(refusal(409, 'Idempotency key already used'));
  });

  it('names each entry that breaks a rule', async () => {
    const late = { ...order, occurredAt: '2026-01-01T00:00:00Z' };
    const headers = { accept: 'application/problem+json' };

    const refused = await post([order, { ...order, resource: 'users' }, {}], { headers });
    const tooLate = await post([order, late]);

    expect(refused.status).toBe(400);
    expect(
      JSON.parse(refused.text).errors.map(({ pointer }: { pointer: string }) => pointer),
    ).toEqual([
      ...['#/entries/1/resource', '#/entries/2/action', '#/entries/2/resource'],
      '#/entries/2/result',
    ]);
    expect(outcome(tooLate)).toEqual(
      refusal(400, 'entries.1.occurredAt must be at most 7 days ago, and at most 5 minutes ahead'),
    );
  });

  it('checks the key of the machine, its scope, the header, the body and the known key, in this order', async () => {
    const bad = { entries: 'none' };
    const request = (by: string, headers: Readonly<Record<string, string>>, json: object = bad) =>
      api('POST', '/api/admin/audit-logs', { token: by, headers, json });
    const ofReader = await request(reader.key, {});
    const ofAdmin = await request(token, {});
    const answers = [
      await request('mk_1_forged', {}),
      ofReader,
      ofAdmin,
      await request(shop.key, {}),
      await request(shop.key, { 'idempotency-key': 'two words' }),
      await request(shop.key, { 'idempotency-key': 'x'.repeat(65) }),
      await request(shop.key, { 'idempotency-key': 'x'.repeat(64) }),
    ];

    expect(answers.map(outcome)).toEqual([
      refusal(401, 'Invalid token'),
      refusal(403, 'Forbidden'),
      refusal(403, 'Forbidden'),
      refusal(400, 'Idempotency-Key is required'),
      refusal(400, 'Idempotency-Key must be 1 to 64 visible ASCII characters'),
      refusal(400, 'Idempotency-Key must be 1 to 64 visible ASCII characters'),
      refusal(400, 'entries must be an array'),
    ]);
  });

  it('takes 25 entries of details of 2 KB, with any text that JSON can have', async () => {
    const odd = '\u0000\u001b[31m\u202e=cmd|"\',;\r\n\t<script>\ud800😀';
    const entries = Array.from({ length: 25 }, (_, i) => ({
      ...order,
      resource: 'shop.odd',
      resourceId: `${i}=1+1`,
      userAgent: '=HYPERLINK("x")',
      details: { odd, long: 'x'.repeat(1900) },
    }));

    const { status } = await post(entries);

    expect(status).toBe(201);
    const found = await query('resource=shop.odd');
    expect(found).toHaveLength(25);
    expect(JSON.parse(found[0].details).odd).toBe(odd);
    const csv = await api('GET', '/api/admin/audit-logs?resource=shop.odd&limit=1', {
      token,
      headers: { accept: 'text/csv' },
    });
    const [head, row = ''] = csv.text.split('\r\n');
    expect(head).toMatch(/,created_at,machine_id,occurred_at$/);
    expect(row).toContain(`,"'=HYPERLINK(""x"")",`);
    expect(row).toMatch(new RegExp(`Z,${shop.id},$`));
  });
});

describe('A query where there are machines', async () => {
  const user = await register(api);
  const about = { userId: user.id, resourceId: String(user.id) };
  // It imitates what the service writes about a deletion of the user.
  await post([{ ...order, ...about, action: 'DELETE', resource: 'shop.users', result: 'FAILURE' }]);
  const kindsIn = async (parameters: string) =>
    (await query(parameters)).map(({ action, resource }: { action: string; resource: string }) =>
      [action, resource].join(' '),
    );

  it.each([
    [`userId=${user.id}`, ['DELETE shop.users', 'CREATE users']],
    [`about=${user.id}`, ['DELETE shop.users', 'CREATE users']],
    [`userId=${user.id}&from=service`, ['CREATE users']],
    [`about=${user.id}&from=machines`, ['DELETE shop.users']],
    [`resourceId=${user.id}`, ['CREATE users']],
    [`resourceId=${user.id}&from=service`, ['CREATE users']],
    [`resourceId=${user.id}&resource=users`, ['CREATE users']],
    [`resourceId=${user.id}&resource=shop.users`, ['DELETE shop.users']],
    [`resource=shop.users&from=machines`, ['DELETE shop.users']],
    [`resource=shop.users&from=service`, []],
    [`machineId=${shop.id}&userId=${user.id}`, ['DELETE shop.users']],
    [`machineId=${reader.id}&from=machines`, []],
    ['result=FAILURE&from=service', []],
    ['result=FAILURE', ['DELETE shop.users']],
  ])('%s finds what it should', async (parameters, found) => {
    expect(await kindsIn(parameters)).toEqual(found);
  });

  it('is refused by resourceId from machines without the resource', async () => {
    const path = '/api/admin/audit-logs?from=machines&resourceId=1';

    const refused = await api('GET', path, { token });

    expect(outcome(refused)).toEqual(
      refusal(400, 'resource must be given with resourceId where from is machines'),
    );
  });

  it('is open to a machine with audit:read, and to none without', async () => {
    const own = await query(`userId=${user.id}&from=service`, reader.key);
    const refused = await api('GET', '/api/admin/audit-logs', { token: shop.key });

    expect(own).toMatchObject([{ action: 'CREATE', machine_id: null, occurred_at: null }]);
    expect(refused.status).toBe(403);
  });
});

describe('Entries that imitate entries of the service', async () => {
  const user = await register(api);
  const id = String(user.id);
  const registered = { action: 'CREATE', result: 'SUCCESS', userId: user.id, resourceId: id };
  const text = 'x\r\n1,1,CREATE,users,1,,,SUCCESS,,2026-11-20T00:00:00.000Z,,\r\n';
  const replay = { ...order, resourceId: 'replay', userAgent: 'operator replay-audit' };
  await post([
    { ...registered, resource: 'clinic.users', ipAddress: '127.0.0.1', userAgent: 'node' },
    { ...registered, resource: 'clinic.users', details: { text } },
    { ...replay, resource: 'clinic.audit-logs', userId: user.id, details: { entries: [1, 2] } },
  ]);

  it('are refused under the names of the service', async () => {
    const refused = await post([{ ...replay, resource: 'audit-logs.x' }]);

    const message = expect.stringMatching(/^entries\.0\.resource must not begin with users\./);
    expect(outcome(refused)).toEqual(refusal(400, message));
  });

  it.each([
    'from=service&action=CREATE',
    `from=service&userId=${id}`,
    `from=service&about=${id}`,
    `from=service&resourceId=${id}`,
    `from=service&userId=${id}&action=CREATE&result=SUCCESS`,
    'resource=audit-logs&action=CREATE',
    'resourceId=replay',
  ])('are not found by %s', async (parameters) => {
    const found = await query(parameters);

    expect(found.filter(({ resource }: { resource: string }) => resource.includes('.'))).toEqual(
      [],
    );
  });

  it('have one row each in CSV, which names the machine', async () => {
    const rows = async (from: string) => {
      const path = `/api/admin/audit-logs?from=${from}&about=${id}`;
      const answer = await api('GET', path, { token, headers: { accept: 'text/csv' } });
      return answer.text.trimEnd().split('\r\n').slice(1);
    };

    const posted = await rows('machines');
    const own = await rows('service');

    const byMachine = new RegExp(`^\\d+,${id},CREATE,clinic\\..*Z,${shop.id},$`);
    expect(posted).toEqual(Array(3).fill(expect.stringMatching(byMachine)));
    expect(own).toEqual([
      expect.stringMatching(new RegExp(`^\\d+,${id},CREATE,users,${id},.*Z,,$`)),
    ]);
  });
});

describe('Entries of a machine that was removed', () => {
  it('stay, and its key writes no more', async () => {
    const gone = await makeMachine(api, token, ['audit:write']);
    await post([{ ...order, resource: 'shop.gone' }], { by: gone.key });
    await api('DELETE', `/api/machines/${gone.id}`, { token });

    const refused = await post([order], { by: gone.key });

    expect(refused.status).toBe(401);
    expect(await query('resource=shop.gone')).toMatchObject([{ machine_id: gone.id }]);
  });
});
