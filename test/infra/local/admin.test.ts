import { randomUUID } from 'node:crypto';
import { userInfo } from 'node:os';
import { describe, expect, inject, it } from 'vitest';
import { logIn, register } from '../../support/client.ts';
import { startTestService } from '../../support/service.ts';
import { scan, scanAudit, usersIn } from '../../support/stored-items.ts';

/** Starts services on the same tables, one after the other. */
const onOwnTables = () => {
  const names = { USERS_TABLE: `users-${randomUUID()}`, AUDIT_TABLE: `audit-${randomUUID()}` };
  return {
    start: (environment: Readonly<Record<string, string>> = {}) =>
      startTestService({ ...names, ...environment }),
    /** The entries of starts, oldest first. */
    entries: async () =>
      [...(await scanAudit(inject('engine'), names.AUDIT_TABLE))]
        .filter(({ user_agent }) => user_agent === 'npm start')
        .sort((a, b) => a.id - b.id),
    addresses: async (role: string) =>
      usersIn(await scan(inject('engine'), names.USERS_TABLE))
        .filter((user) => user.role === role)
        .map(({ email }) => email),
  };
};

/** Settings with which a start chooses the admin by itself. */
const unset = { ADMIN_EMAIL: '', ADMIN_PASSWORD: '' };

/** The entry of a start, as far as it is not told from others by id and time. */
const startEntry = (action: string, id: number, details: object) =>
  expect.objectContaining({
    action,
    user_id: null,
    resource: 'users',
    resource_id: String(id),
    ip_address: null,
    user_agent: 'npm start',
    result: 'SUCCESS',
    details: JSON.stringify({ ...details, operator: userInfo().username }),
  });

describe('The admin of a start', () => {
  it.each([
    ['the admin in the settings', {}],
    ['an admin with a random password', unset],
  ])(
    'leaves an entry that names the role when the admin is created: %s',
    async (_, environment) => {
      const { start, entries } = onOwnTables();

      const service = await start(environment);
      await service.stop();

      expect(await entries()).toEqual([startEntry('CREATE', 1, { role: 'admin' })]);
    },
  );

  it('leaves no entry when a later start has nothing to change', async () => {
    const { start, entries } = onOwnTables();
    const fixed = { ADMIN_PASSWORD: 'the same at each start' };

    await (await start(fixed)).stop();
    await (await start(fixed)).stop();

    expect(await entries()).toHaveLength(1);
  });

  it('is not created if there is an admin and the settings name none', async () => {
    const { start, addresses } = onOwnTables();
    await (await start({ ADMIN_EMAIL: 'first@example.org' })).stop();

    const service = await start(unset);
    await service.stop();

    expect(await addresses('admin')).toEqual(['first@example.org']);
    expect(service.output()).toMatch(/^Admin: +first@example\.org {2}password: not shown again/m);
  });

  it('gets another address if a user who is not an admin has the usual address', async () => {
    const { start, addresses } = onOwnTables();
    const first = await start(unset);
    const [, password = ''] = /"password":"([^"]+)"/.exec(first.output()) ?? [];
    const token = await logIn(first.api, { email: 'admin@localhost', password });
    await first.api('DELETE', '/api/users/1', { token });
    await register(first.api, { email: 'admin@localhost' });
    await first.stop();

    await (await start(unset)).stop();

    expect(await addresses('user')).toEqual(['admin@localhost']);
    expect(await addresses('admin')).toEqual([expect.stringMatching(/^admin-\w{8}@localhost$/)]);
  });

  it('leaves an entry that names the changes by which an existing user becomes the admin', async () => {
    const { start, entries } = onOwnTables();
    const service = await start({ SESSION_DAYS: '30' });
    const user = await register(service.api);
    const token = await logIn(service.api, service.admin);
    await service.api('PUT', `/api/users/${user.id}/suspension`, { token });
    await service.stop();

    const promoting = { ADMIN_EMAIL: user.email, ADMIN_PASSWORD: user.password };
    await (await start(promoting)).stop();
    const again = await start({ ...promoting, ADMIN_PASSWORD: 'another one' });
    await logIn(again.api, { email: user.email, password: 'another one' });
    await again.stop();

    expect((await entries()).slice(1)).toEqual([
      startEntry('UPDATE', user.id, {
        fields: ['password', 'role', 'email_verified'],
        role: { from: 'user', to: 'admin' },
        suspended: false,
      }),
      startEntry('UPDATE', user.id, { fields: ['password'] }),
    ]);
  });
});
