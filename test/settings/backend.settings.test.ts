import { GetCommand } from '@aws-sdk/lib-dynamodb';
import { describe, expect, inject, it } from 'vitest';
import { cors } from '../../infra/cors.ts';
import {
  entriesOf,
  outcome,
  refusal,
  serviceForThisFile,
  stopClock,
  uniqueAgent,
} from '../support/acceptance.ts';
import { register, uniqueEmail } from '../support/client.ts';
import { makeMachine } from '../support/machines.ts';
import { mailingServiceForThisFile } from '../support/mailbox.ts';
import { engineClient, entriesWith, scan } from '../support/stored-items.ts';

const service = await mailingServiceForThisFile({
  MACHINES: 'on',
  SESSION_DAYS: '90',
  LOGIN_FAILURES_PER_ACCOUNT: '0',
  LOGIN_FAILURES_PER_ADDRESS: '9',
  REGISTRATIONS_PER_ADDRESS: '1',
});
const { api, adminToken, environment } = service;
const { USERS_TABLE: table = '' } = environment;
const engine = engineClient(inject('engine'));
const invalid = refusal(400, 'Invalid client address');

/** A service without machines. */
const plain = await serviceForThisFile({});
const backend = await makeMachine(api, adminToken, ['client-address']);
const other = await makeMachine(api, adminToken, ['users:write']);

let last = 0;
/** An address that no other test uses. */
const newAddress = () => {
  last += 1;
  return `198.51.100.${last}`;
};
const pair = (address: string, key = backend.key) => ({
  'Machine-Key': key,
  'Client-Address': address,
});
/** Registrations are limited to one for each address. */
const registerFrom = (address: string) =>
  register((method, path, options) =>
    api(method, path, { ...options, headers: { ...options?.headers, ...pair(address) } }),
  );
const logInFrom = (headers: Readonly<Record<string, string>>, json: object) =>
  api('POST', '/api/login', { headers, json });
/** The entries of an agent as stored, by the id of the machine. */
const storedEntries = async (agent: string) =>
  (
    await entriesWith(inject('engine'), environment.AUDIT_TABLE ?? '', { user_agent: agent })
  ).toSorted((one, another) => Number(one.machine_id) - Number(another.machine_id));
const wrong = { email: 'nobody@example.org', password: 'wrong-word' };

describe('The address for which a machine vouches', () => {
  it('is the source of counts: one client waits, and others do not', async () => {
    stopClock();
    const [first, second] = [newAddress(), newAddress()];
    const user = await registerFrom(newAddress());
    const statuses = [];
    for (let i = 0; i < 10; i += 1) statuses.push((await logInFrom(pair(first), wrong)).status);

    expect(statuses).toEqual([...Array(9).fill(404), 429]);
    expect((await logInFrom(pair(second), user)).status).toBe(200);
    // The backend's own address has not failed at all.
    expect((await logInFrom({}, wrong)).status).toBe(404);
    await expect(registerFrom(first).then(() => registerFrom(first))).rejects.toThrow('429');
  });

  it('is in the entries and the sessions of its users, in one spelling', async () => {
    const headers = { 'user-agent': uniqueAgent(), ...pair('2001:DB8:0:0::0007') };
    const user = await registerFrom(newAddress());
    const login = await logInFrom(headers, user);
    await api('POST', '/api/login', {
      headers: { ...headers, 'Client-Address': '::ffff:203.0.113.9' },
      json: user,
    });

    const entries = await entriesOf(service, headers['user-agent']);
    expect(entries.map(({ ip_address, user_id }) => [ip_address, user_id])).toEqual([
      ['2001:db8::7', user.id],
      ['203.0.113.9', user.id],
    ]);
    const { token } = login.body;
    const { body } = await api('GET', `/api/users/${user.id}/sessions`, { token });
    expect(body.data.map(({ ip_address }: { ip_address: string }) => ip_address)).toContain(
      '2001:db8::7',
    );
  });

  it('is the source of mails', async () => {
    const headers = pair('192.0.2.77');
    const json = { email: uniqueEmail() };

    await api('POST', '/api/password-resets', { headers, json });

    const counts = (await scan(inject('engine'), table)).map(({ pk }) => String(pk));
    expect(counts.filter((pk) => pk.startsWith('attempts#mail#address#192.0.2.77#'))).toHaveLength(
      1,
    );
  });

  it('is in the entry of an export, and nowhere else of a request that reads', async () => {
    const headers = { 'user-agent': uniqueAgent(), accept: 'text/csv', ...pair('192.0.2.78') };
    const token = adminToken;

    await api('GET', '/api/admin/audit-logs?limit=1', { token, headers });
    const read = await api('GET', '/api/users', {
      token,
      headers: { 'Machine-Key': 'mk_', 'Client-Address': 'x' },
    });

    const [entry] = await storedEntries(headers['user-agent']);
    expect([entry?.action, entry?.ip_address, entry?.machine_id, read.status]).toEqual([
      'EXPORT',
      '192.0.2.78',
      backend.id,
      200,
    ]);
  });

  it('is the source of a request by a user with a token, and of one by a machine', async () => {
    const user = await registerFrom(newAddress());
    const headers = { 'user-agent': uniqueAgent(), ...pair('192.0.2.79') };

    await api('PUT', `/api/users/${user.id}`, { token: user.token, headers, json: { name: 'n' } });
    await api('PUT', `/api/users/${user.id}`, { token: other.key, headers, json: { name: 'm' } });

    const entries = await storedEntries(headers['user-agent']);
    expect(
      entries.map(({ ip_address, user_id, machine_id }) => [ip_address, user_id, machine_id]),
    ).toEqual([
      ['192.0.2.79', user.id, backend.id],
      // The machine that calls goes before the one that vouches.
      ['192.0.2.79', null, other.id],
    ]);
  });

  it('notes the last use of a machine that may not vouch', async () => {
    const machine = await makeMachine(api, adminToken, ['users:read']);

    const { status } = await logInFrom(pair(newAddress(), machine.key), wrong);

    expect(status).toBe(400);
    const { body } = await api('GET', `/api/machines/${machine.id}`, { token: adminToken });
    expect(body.last_used_on).toMatch(/^\d{4}-\d\d-\d\d$/);
  });

  it('notes the last use of the machine', async () => {
    await logInFrom(pair(newAddress()), wrong);

    const token = adminToken;
    const { body } = await api('GET', `/api/machines/${backend.id}`, { token });
    expect(body.last_used_on).toMatch(/^\d{4}-\d\d-\d\d$/);
  });
});

describe('Machine-Key and Client-Address', () => {
  it.each([
    ['no address', { 'Client-Address': 'localhost' }],
    ['an empty address', { 'Client-Address': '' }],
    ['an address with a port', { 'Client-Address': '203.0.113.7:443' }],
    ['an address in brackets', { 'Client-Address': '[2001:db8::1]' }],
    ['an address with a zone', { 'Client-Address': 'fe80::1%eth0' }],
    ['two addresses', { 'Client-Address': '203.0.113.7, 203.0.113.8' }],
    ['a network', { 'Client-Address': '203.0.113.0/24' }],
    ['a key of a machine without the scope', { 'Machine-Key': other.key }],
    ['no key of a machine', { 'Machine-Key': 'x' }],
    ['an altered key', { 'Machine-Key': `${backend.key.slice(0, -1)}!` }],
    ['the token of an admin', { 'Machine-Key': adminToken }],
  ])('are refused with %s, before anything is counted or recorded', async (_, fault) => {
    const headers = { 'user-agent': uniqueAgent(), ...pair('192.0.2.90'), ...fault };

    const answers = [
      await logInFrom(headers, wrong),
      await api('POST', '/api/logout', { headers, token: 'no token' }),
      await api('PUT', '/api/users/1', { headers, token: adminToken, json: { name: 'n' } }),
    ];

    expect(answers.map(outcome)).toEqual([invalid, invalid, invalid]);
    expect(await entriesOf(service, headers['user-agent'])).toEqual([]);
    const { Item } = await engine.send(
      new GetCommand({ TableName: table, Key: { pk: 'attempts#login#address#192.0.2.90' } }),
    );
    expect(Item).toBeUndefined();
  });

  it('are refused with two values of the address', async () => {
    const headers = new Headers({ 'content-type': 'application/json', ...pair('203.0.113.7') });
    headers.append('Client-Address', '203.0.113.8');

    const answer = await fetch(`${service.url}/api/login`, {
      method: 'POST',
      headers,
      body: JSON.stringify(wrong),
    });

    expect([answer.status, await answer.json()]).toEqual(invalid);
  });

  it.each([
    ['an address alone', { 'Client-Address': 'no address' }],
    ['a key alone', { 'Machine-Key': 'no key' }],
  ])('count for nothing as %s', async (_, headers) => {
    const agent = uniqueAgent();
    await logInFrom({ 'user-agent': agent, ...headers }, wrong);

    const [entry] = await entriesOf(service, agent);
    expect(entry?.ip_address).toMatch(/^(::1|127\.0\.0\.1)$/);
  });

  it('are ignored where the service has no machines, as the keys of machines are', async () => {
    const agent = uniqueAgent();
    const headers = { 'user-agent': agent, ...pair('no address', 'no key') };

    const { status } = await plain.api('POST', '/api/login', { headers, json: wrong });

    const [entry] = await entriesOf(plain, agent);
    expect([status, entry?.ip_address]).toEqual([
      404,
      expect.stringMatching(/^(::1|127\.0\.0\.1)$/),
    ]);
    const bearer = await plain.api('GET', '/api/users', { token: backend.key });
    expect(outcome(bearer)).toEqual(refusal(401, 'Invalid token'));
  });

  it('cannot be sent by pages of other origins', () => {
    expect(cors.requestHeaders).not.toContain('machine-key');
    expect(cors.requestHeaders).not.toContain('client-address');
  });
});
