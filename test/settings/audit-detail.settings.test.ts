import { describe, expect, inject, it } from 'vitest';
import type { AuditEntry } from '../../lib/audit/entry.ts';
import { entriesOf, nextPage, uniqueAgent } from '../support/acceptance.ts';
import { logIn, register, uniqueEmail } from '../support/client.ts';
import { proxiedServiceForThisFile } from '../support/proxied-service.ts';
import { overtake } from '../support/proxy.ts';
import { scan } from '../support/stored-items.ts';

const { proxy, service } = await proxiedServiceForThisFile({ AUDIT_DETAIL: 'full' });
const { api, adminToken } = service;
const path = '/api/admin/audit-logs';

const newUser = (fields = {}) => ({
  name: 'Grace Hopper',
  email: uniqueEmail(),
  password: 'pass-word',
  ...fields,
});

/** An admin who has made no queries yet. */
const newAdmin = async () => {
  const json = newUser({ role: 'admin' });
  const { body } = await api('POST', '/api/users', { token: adminToken, json });
  return { id: Number(body.id), token: await logIn(api, json) };
};

/** The users and details of the entries that a query returns. */
const found = async (query: string) => {
  const { body } = await api('GET', `${path}?${query}`, { token: adminToken });
  return body.data.map(({ user_id, details }: AuditEntry) => [
    user_id,
    JSON.parse(details ?? 'null'),
  ]);
};

describe('Where AUDIT_DETAIL is full,', () => {
  it('the trail alone tells who a deleted user was, which address a user had before, and who read it', async () => {
    const [deleted, moved, auditor] = [await register(api), await register(api), await newAdmin()];
    const email = uniqueEmail();
    const since = new Date().toISOString();
    await api('PUT', `/api/users/${moved.id}`, { token: moved.token, json: { email } });
    await api('DELETE', `/api/users/${deleted.id}`, { token: adminToken });
    await api('GET', `${path}?userId=${moved.id}&since=2026-01-01`, { token: auditor.token });

    const whoWasDeleted = await found(`action=DELETE&resourceId=${deleted.id}`);
    const addressBefore = await found(`action=UPDATE&resourceId=${moved.id}`);
    const readers = await found(`action=READ&since=${since}`);

    expect(whoWasDeleted).toEqual([
      [1, { name: deleted.name, email: deleted.email, role: 'user' }],
    ]);
    expect(addressBefore).toEqual([
      [moved.id, { fields: ['email'], email: { from: moved.email, to: email } }],
    ]);
    const filter = { userId: moved.id, since: '2026-01-01T00:00:00.000Z', order: 'desc' };
    expect(readers).toContainEqual([auditor.id, { filter }]);
  });

  it.each([
    ['a registration', '/api/auth/register', {}, 'user'],
    ['a user that an admin makes', '/api/users', {}, 'user'],
    ['an admin that an admin makes', '/api/users', { role: 'admin' }, 'admin'],
  ])('%s leaves an entry with the name, the address and the role', async (_, to, fields, role) => {
    const [agent, json] = [uniqueAgent(), newUser(fields)];

    await api('POST', to, { token: adminToken, json, headers: { 'user-agent': agent } });

    const [entry, ...others] = await entriesOf(service, agent);
    expect(others).toEqual([]);
    expect(entry).toMatchObject({
      action: 'CREATE',
      details: JSON.stringify({ name: json.name, email: json.email, role }),
    });
  });

  it('a change leaves an entry with the old and new values, but never with a password', async () => {
    const { id, name, token } = await register(api);
    const [agent, password] = [uniqueAgent(), 'quite another one'];
    const put = (json: object) =>
      api('PUT', `/api/users/${id}`, { token, json, headers: { 'user-agent': agent } });

    await put({ name: 'Renamed', password });
    await put({ name: 'Renamed' });

    const entries = await entriesOf(service, agent);
    expect(entries.map(({ details }) => JSON.parse(String(details)))).toEqual([
      { fields: ['name', 'password'], name: { from: name, to: 'Renamed' } },
      { fields: ['name'] },
    ]);
    const kept = JSON.stringify(
      await scan(inject('engine'), service.environment.AUDIT_TABLE ?? ''),
    );
    expect(kept).not.toMatch(/quite another one|\$2b\$/);
  });

  it('a deletion leaves the last state of the user, although the user was changed meanwhile', async () => {
    const { id, email } = await register(api);
    const user = `/api/users/${id}`;
    const json = { name: 'Renamed', role: 'admin' };

    await overtake(
      proxy,
      'TransactWriteItems',
      () => api('DELETE', user, { token: adminToken }),
      () => api('PUT', user, { token: adminToken, json }),
    );

    expect(await found(`action=DELETE&resourceId=${id}`)).toEqual([
      [1, { name: 'Renamed', email, role: 'admin' }],
    ]);
  });
});

describe('Where AUDIT_DETAIL is full, a query of the audit trail', () => {
  const query = (token: string, text: string, headers = {}) =>
    api('GET', `${path}?${text}`, { token, headers });

  it('records an entry of audit-logs with the caller and the client’s address', async () => {
    const { id, token } = await newAdmin();
    const agent = uniqueAgent();

    await query(token, 'action=EXPORT', { 'user-agent': agent });

    expect(await entriesOf(service, agent)).toEqual([
      expect.objectContaining({
        user_id: id,
        action: 'READ',
        resource: 'audit-logs',
        resource_id: null,
        result: 'SUCCESS',
        ip_address: '127.0.0.1',
      }),
    ]);
  });

  it('records no READ for a further page, a refused query or an export, because exports have an entry', async () => {
    const { id, token } = await newAdmin();
    const first = await query(adminToken, 'limit=1');

    await api('GET', nextPage(first) ?? '', { token });
    await query(token, 'action=none');
    await query(token, 'action=LOGIN', { accept: 'text/csv' });

    const { body } = await api('GET', `${path}?userId=${id}`, { token: adminToken });
    const actions = body.data.map(({ action }: AuditEntry) => action);
    expect(actions).toEqual(['EXPORT', 'LOGIN']);
  });
});
