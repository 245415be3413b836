import { beforeEach, describe, expect, it } from 'vitest';
import { type Account, register, uniqueEmail } from '../support/client.ts';
import { proxiedServiceForThisFile } from '../support/proxied-service.ts';

describe('With SESSION_DAYS=90, what an endpoint asks of DynamoDB', async () => {
  const { proxy, service, admin } = await proxiedServiceForThisFile({
    SESSION_DAYS: '90',
    // Users who have none cost no request more.
    SECOND_FACTOR: 'optional',
  });
  const { api } = service;
  let user: Account;
  beforeEach(async () => {
    user = await register(api);
    proxy.forget();
  });
  const asked = () =>
    proxy.requests.map(
      ({ operation, tables }) =>
        `${operation} ${tables.includes(service.environment.AUDIT_TABLE ?? '') ? 'audit' : 'users'}`,
    );
  const session = 'BatchGetItem users';
  const entry = 'PutItem audit';

  it('a session is read by one request for two items, as last written', async () => {
    await api('GET', '/api/profile', { token: user.token });

    const [request, ...others] = proxy.requests.map(({ content }) => content);
    const { RequestItems } = JSON.parse(request?.replace('BatchGetItem', '') ?? '');
    expect(RequestItems).toEqual({
      [service.environment.USERS_TABLE ?? '']: {
        ConsistentRead: true,
        Keys: [{ pk: { S: `user#${user.id}` } }, { pk: { S: `sessions#${user.id}` } }],
      },
    });
    expect(others).toEqual([]);
  });

  it.each([
    ['its profile', '/api/profile', [session]],
    ['itself', '/api/users/:id', [session]],
    ['another user', '/api/users/1', [session, 'GetItem users']],
    ['the users', '/api/users', [session, 'Query users']],
  ])('a user who reads %s', async (_, path, expected) => {
    await api('GET', path.replace(':id', String(user.id)), { token: user.token });

    expect(asked()).toEqual(expected);
  });

  it.each([
    ['its name', () => ({ name: 'New' }), ['UpdateItem users']],
    [
      'its password',
      () => ({ password: 'new', currentPassword: user.password }),
      // The counts of failures, before and after its password is checked.
      [session, session, 'UpdateItem users'],
    ],
  ])('a user who changes %s is not read again', async (_, json, expected) => {
    await api('PUT', `/api/users/${user.id}`, { token: user.token, json: json() });

    expect(asked()).toEqual([session, ...expected, entry]);
  });

  it('an admin who changes another user reads that one besides', async () => {
    const json = { password: 'new' };
    await api('PUT', `/api/users/${user.id}`, { token: admin, json });

    expect(asked()).toEqual([session, 'GetItem users', 'UpdateItem users', entry]);
  });

  it('the audit trail, a deletion and a new user cost one read more', async () => {
    await api('GET', '/api/admin/audit-logs?userId=1', { token: admin });
    expect(asked()).toEqual([session, 'Query audit']);

    proxy.forget();
    await api('DELETE', `/api/users/${user.id}`, { token: admin });
    expect(asked()).toEqual([session, 'GetItem users', 'TransactWriteItems users', entry]);

    proxy.forget();
    const json = { name: 'n', email: uniqueEmail(), password: 'p' };
    await api('POST', '/api/users', { token: admin, json });
    expect(asked()).toEqual([session, 'UpdateItem users', 'TransactWriteItems users', entry]);
  });

  it.each([
    ['all others', () => api('DELETE', `/api/users/${user.id}/sessions`, { token: user.token })],
    [
      'all of another user',
      () => api('DELETE', `/api/users/${user.id}/sessions`, { token: admin }),
    ],
    ['one by logout', () => api('POST', '/api/logout', { token: user.token })],
  ])('the end of sessions is one write: %s', async (_, end) => {
    await end();

    expect(asked()).toEqual([session, 'UpdateItem users', entry]);
  });

  it('a registration costs what it costs without, and a login a read and a write more', async () => {
    await api('POST', '/api/auth/register', { json: { ...user, email: uniqueEmail() } });
    expect(asked()).toEqual(['UpdateItem users', 'TransactWriteItems users', entry]);

    proxy.forget();
    await api('POST', '/api/login', { json: user });
    const begins = ['GetItem users', 'UpdateItem users'];
    expect(asked()).toEqual([session, 'GetItem users', session, ...begins, entry]);
  });

  it('a request without a sound token asks nothing', async () => {
    await api('GET', '/api/profile');
    await api('POST', '/api/logout', { token: 'x.y.z' });

    expect(asked()).toEqual([]);
  });
});
