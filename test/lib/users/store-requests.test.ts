import { beforeEach, describe, expect, inject, it } from 'vitest';
import { userItem } from '../../../lib/users/store.ts';
import { entriesOf, uniqueAgent } from '../../support/acceptance.ts';
import { type Account, makeUser, register, uniqueEmail } from '../../support/client.ts';
import { proxiedServiceForThisFile } from '../../support/proxied-service.ts';
import { faults } from '../../support/proxy.ts';
import type { TestService } from '../../support/service.ts';
import { storedUser } from '../../support/stored-user.ts';
import { writeBatches } from '../../support/write-batches.ts';

const { proxy, service, admin } = await proxiedServiceForThisFile();

describe('The requests of an endpoint to DynamoDB', () => {
  let account: Account;
  beforeEach(async () => {
    account = await register(service.api);
    proxy.forget();
  });

  const asked = () => {
    const { USERS_TABLE, AUDIT_TABLE = '' } = service.environment;
    return proxy.requests.map(({ operation, tables }) => {
      expect([[USERS_TABLE], [AUDIT_TABLE]]).toContainEqual(tables);
      return `${operation} ${tables.includes(AUDIT_TABLE) ? 'audit' : 'users'}`;
    });
  };
  const newUser = () => ({ name: 'n', email: uniqueEmail(), password: 'p' });
  const api: TestService['api'] = (...request) => service.api(...request);

  it('are the counter, one transaction and one audit write for a registration', async () => {
    await api('POST', '/api/auth/register', { json: newUser() });

    expect(asked()).toEqual(['UpdateItem users', 'TransactWriteItems users', 'PutItem audit']);
  });

  it('are the counter and one transaction for a registration with a taken address', async () => {
    await api('POST', '/api/auth/register', { json: account });

    expect(asked()).toEqual(['UpdateItem users', 'TransactWriteItems users']);
  });

  it('are the same for POST /api/users as for a registration', async () => {
    await api('POST', '/api/users', { token: account.token, json: newUser() });

    expect(asked()).toEqual(['UpdateItem users', 'TransactWriteItems users', 'PutItem audit']);
  });

  it('are the same for POST /api/users by an admin', async () => {
    await api('POST', '/api/users', { token: admin, json: { ...newUser(), role: 'admin' } });

    expect(asked()).toEqual(['UpdateItem users', 'TransactWriteItems users', 'PutItem audit']);
  });

  it('are two reads, a second read of the counts of failures and one audit write for a login', async () => {
    await api('POST', '/api/login', { json: account });

    const reads = ['BatchGetItem users', 'GetItem users', 'BatchGetItem users'];
    expect(asked()).toEqual([...reads, 'PutItem audit']);
  });

  it.each([
    ['a wrong password', () => ({ email: account.email, password: 'wrong' })],
    ['an unknown address', newUser],
  ])('are those and the writes of both counts for a login with %s', async (_, credentials) => {
    await api('POST', '/api/login', { json: credentials() });

    expect(asked().slice(0, 2)).toEqual(['BatchGetItem users', 'GetItem users']);
    const writes = ['PutItem audit', 'UpdateItem users', 'UpdateItem users'];
    expect(asked().slice(2).sort()).toEqual(writes);
  });

  it.each(['/api/profile', '/api/users/:id'])('are one read for GET %s', async (path) => {
    await api('GET', path.replace(':id', String(account.id)), { token: account.token });

    expect(asked()).toEqual(['GetItem users']);
  });

  it.each(['', '?limit=1000'])(
    'are one query for GET /api/users%s, even with more than a hundred users',
    async (query) => {
      const items = Array.from({ length: 101 }, (_, i) => userItem(storedUser({ id: 1000 + i })));
      await writeBatches(inject('engine'), service.environment.USERS_TABLE ?? '', items);

      const { body } = await api('GET', `/api/users${query}`, { token: account.token });

      expect(body.length).toBeGreaterThan(101);
      expect(asked()).toEqual(['Query users']);
    },
  );

  it('asks at GET /api/users?email= for two reads', async () => {
    await api('GET', `/api/users?email=${account.email}`, { token: account.token });

    expect(asked()).toEqual(['GetItem users', 'GetItem users']);
  });

  it('are one read, one write and one audit write for a PUT without a new address', async () => {
    const json = { name: 'New', email: account.email.toUpperCase() };
    await api('PUT', `/api/users/${account.id}`, { token: account.token, json });

    expect(asked()).toEqual(['GetItem users', 'UpdateItem users', 'PutItem audit']);
  });

  it('are one read, one transaction and one audit write for a PUT with a new address', async () => {
    const json = { email: uniqueEmail() };
    await api('PUT', `/api/users/${account.id}`, { token: account.token, json });

    expect(asked()).toEqual(['GetItem users', 'TransactWriteItems users', 'PutItem audit']);
  });

  it.each([
    ['another one', () => account.id],
    ['an admin that is one already', () => 1],
  ])(
    'are one read, one write and one audit write for a PUT that makes %s an admin',
    async (_, id) => {
      await api('PUT', `/api/users/${id()}`, { token: admin, json: { role: 'admin' } });

      const write = id() === 1 ? 'UpdateItem users' : 'TransactWriteItems users';
      expect(asked()).toEqual(['GetItem users', write, 'PutItem audit']);
    },
  );

  it.each([
    ['a name', () => ({ name: 'New' }), 'UpdateItem users'],
    ['an address', () => ({ email: uniqueEmail() }), 'TransactWriteItems users'],
  ])('are the same for a PUT of %s by whoever made the user', async (_, json, write) => {
    const made = await makeUser(api, account.token);
    proxy.forget();

    await api('PUT', `/api/users/${made.id}`, { token: account.token, json: json() });

    expect(asked()).toEqual(['GetItem users', write, 'PutItem audit']);
  });

  it('are one read for a PUT by a user who may not change the other one', async () => {
    await api('PUT', '/api/users/1', { token: account.token, json: { name: 'New' } });

    expect(asked()).toEqual(['GetItem users']);
  });

  it('leave an entry of a PUT that fails when it reads whether the caller made the user', async () => {
    const { USERS_TABLE: table = '' } = service.environment;
    const made = await makeUser(api, account.token);
    const agent = uniqueAgent();

    proxy.impose({ fault: faults.missingTable, operation: 'GetItem', table });
    const { status, body } = await api('PUT', `/api/users/${made.id}`, {
      token: account.token,
      json: { name: 'New' },
      headers: { 'user-agent': agent },
    });
    proxy.impose();

    const err = 'ResourceNotFoundException';
    expect([status, body]).toEqual([500, { message: 'Error updating user', err }]);
    expect(await entriesOf({ ...service, adminToken: admin }, agent)).toEqual([
      expect.objectContaining({
        user_id: account.id,
        action: 'UPDATE',
        resource_id: String(made.id),
        result: 'FAILURE',
        details: JSON.stringify({ error: err }),
      }),
    ]);
  });

  it('are one read, one transaction and one audit write for a DELETE', async () => {
    await api('DELETE', `/api/users/${account.id}`, { token: admin });

    expect(asked()).toEqual(['GetItem users', 'TransactWriteItems users', 'PutItem audit']);
  });

  it('are one read for a DELETE of a user who does not exist', async () => {
    await api('DELETE', '/api/users/999999', { token: admin });

    expect(asked()).toEqual(['GetItem users']);
  });

  it.each(['?userId=1', '?userId=1&action=LOGIN'])(
    'are one query for the audit query %s',
    async (query) => {
      await api('GET', `/api/admin/audit-logs${query}`, { token: admin });

      expect(asked()).toEqual(['Query audit']);
    },
  );

  it.each(['', '?action=EXPORT'])(
    'are one query for each shard for the audit query “%s”',
    async (query) => {
      await api('GET', `/api/admin/audit-logs${query}`, { token: admin });

      expect(asked()).toEqual(Array.from({ length: 8 }, () => 'Query audit'));
    },
  );

  it('are none for a request that is refused', async () => {
    await api('GET', '/api/profile', { token: 'x.y.z' });
    await api('POST', '/api/auth/register', { json: { ...newUser(), name: '' } });
    await api('POST', '/api/login', { json: { email: account.email } });
    await api('DELETE', `/api/users/${account.id}`, { token: account.token });
    await api('DELETE', '/api/users/0', { token: admin });
    await api('GET', '/api/admin/audit-logs?action=NONE', { token: admin });
    await api('GET', '/api/users?limit=0', { token: admin });

    expect(asked()).toEqual([]);
  });
});
