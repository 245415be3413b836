import { describe, expect, it, vi } from 'vitest';
import { outcome, refusal, stopClock } from '../support/acceptance.ts';
import { register } from '../support/client.ts';
import { fillMachines, makeMachine } from '../support/machines.ts';
import { proxiedServiceForThisFile } from '../support/proxied-service.ts';
import { faults } from '../support/proxy.ts';

const { service, proxy } = await proxiedServiceForThisFile({ MACHINES: 'on' });
const { api, adminToken, environment } = service;
const user = await register(api);

const show = (token: string) => api('GET', `/api/users/${user.id}`, { token });
const logIn = (headers = {}) => api('POST', '/api/login', { headers, json: user });
const usedOn = async (id: number) =>
  (await api('GET', `/api/machines/${id}`, { token: adminToken })).body.last_used_on;
/** The operations on tables that a request causes. */
const operationsOf = async (request: () => Promise<unknown>) => {
  proxy.forget();
  await request();
  return proxy.requests.map(({ operation }) => operation);
};

describe('A request with the key of a machine', () => {
  it('reads the machine once, and notes its use once a day; a request of a user does neither', async () => {
    // Otherwise a day could end between the requests.
    stopClock();
    const { key } = await makeMachine(api, adminToken, ['users:read']);

    const first = await operationsOf(() => show(key));
    const second = await operationsOf(() => show(key));

    expect(first.toSorted()).toEqual(['GetItem', 'GetItem', 'UpdateItem']);
    expect(second).toEqual(['GetItem', 'GetItem']);
    expect(await operationsOf(() => show(user.token))).toEqual(['GetItem']);
  });

  it('with a typing error reads nothing', async () => {
    const { key } = await makeMachine(api, adminToken, ['users:read']);
    const wrong = key.slice(0, -1) + (key.endsWith('0') ? '1' : '0');

    expect(await operationsOf(() => show(wrong))).toEqual([]);
  });

  it('is answered although its use cannot be noted, which is logged and tried again', async () => {
    const { id, key } = await makeMachine(api, adminToken, ['users:read']);
    const logged = vi.spyOn(console, 'error').mockReturnValue();
    proxy.impose({ fault: faults.missingTable, operation: 'UpdateItem' });

    const { status } = await show(key);

    proxy.impose();
    const events = logged.mock.calls.map(([line]) => JSON.parse(String(line)).event);
    logged.mockRestore();
    expect([status, await usedOn(id), events]).toEqual([200, null, ['machine-use-not-noted']]);
    await show(key);
    expect(await usedOn(id)).toMatch(/^\d{4}-\d\d-\d\d$/);
  });

  it('is noted even if it is refused', async () => {
    const { id, key } = await makeMachine(api, adminToken, ['audit:read']);

    expect(outcome(await show(key))).toEqual(refusal(403, 'Forbidden'));
    expect(await usedOn(id)).not.toBeNull();
  });

  it('is answered 500 while the machine cannot be read', async () => {
    const { key } = await makeMachine(api, adminToken, ['users:read']);
    proxy.impose({ fault: faults.missingTable, operation: 'GetItem' });

    const answer = await show(key);

    proxy.impose();
    const err = 'ResourceNotFoundException';
    expect(outcome(answer)).toEqual([500, { message: 'Error fetching user', err }]);
  });
});

describe('A request of a backend', () => {
  it('reads the machine once more than the same request without the headers', async () => {
    // The first request of a day notes the use of the machine.
    stopClock();
    const { key } = await makeMachine(api, adminToken, ['client-address']);
    const headers = { 'machine-key': key, 'client-address': '203.0.113.7' };
    await logIn(headers);

    const plain = await operationsOf(() => logIn());
    const vouched = await operationsOf(() => logIn(headers));

    expect(vouched.toSorted()).toEqual([...plain, 'GetItem'].toSorted());
    const lacking = { 'machine-key': key, 'client-address': 'x' };
    expect(await operationsOf(() => logIn(lacking))).toEqual([]);
  });

  it('is answered 500, and not counted, while the machine cannot be read', async () => {
    const { key } = await makeMachine(api, adminToken, ['client-address']);
    proxy.impose({ fault: faults.missingTable, operation: 'GetItem' });

    const answer = await logIn({ 'machine-key': key, 'client-address': '203.0.113.7' });

    proxy.impose();
    const err = 'ResourceNotFoundException';
    expect(outcome(answer)).toEqual([500, { message: 'Error checking user', err }]);
  });
});

describe('The list of machines', () => {
  it('has at most a hundred ids: the next machine is refused until one is removed', async () => {
    const { id } = await makeMachine(api, adminToken, ['users:read']);
    const others = Array.from({ length: 99 }, (_, i) => 1_000 + i);
    await fillMachines(environment.USERS_TABLE ?? '', [id, ...others]);
    const create = () =>
      api('POST', '/api/machines', {
        token: adminToken,
        json: { name: 'n', scopes: ['users:read'] },
      });

    expect(outcome(await create())).toEqual(refusal(409, 'Too many machines'));
    await api('DELETE', `/api/machines/${id}`, { token: adminToken });
    expect((await create()).status).toBe(201);
  });
});
