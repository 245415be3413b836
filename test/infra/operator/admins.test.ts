import { randomUUID } from 'node:crypto';
import { userInfo } from 'node:os';
import { describe, expect, inject, it } from 'vitest';
import { logIn, makeUser, register, uniqueEmail } from '../../support/client.ts';
import {
  operatedServiceForThisFile,
  operatedServiceForThisTest,
  operatorEntry,
} from '../../support/operator.ts';
import { scanAudit } from '../../support/stored-items.ts';

const service = await operatedServiceForThisFile();
const { api, operate } = service;

const listedAdmins = async (): Promise<readonly string[]> => {
  const { stdout } = await operate(['list-admins']);
  return stdout.split('\n').flatMap((line) => line.split('\t')[1] ?? []);
};

const lastEntry = async () => (await service.entries()).at(-1);

describe('create-admin', () => {
  it('makes an admin who can log in with the password from standard input', async () => {
    const account = { email: uniqueEmail(), password: `p ${randomUUID()} ü` };

    const { status, stdout, stderr } = await operate(
      ['create-admin', account.email, '--name', 'Ada Lovelace'],
      `${account.password}\n`,
    );

    const token = await logIn(api, account);
    const profile = await api('GET', '/api/profile', { token });
    const { id } = profile.body.data;
    expect([status, stderr]).toEqual([0, '']);
    expect(stdout).toBe(`Created the admin with id ${id}.\n`);
    expect(profile.body.data).toMatchObject({ name: 'Ada Lovelace', role: 'admin' });
    expect(await lastEntry()).toMatchObject(
      operatorEntry('create-admin', {
        action: 'CREATE',
        resource_id: String(id),
        details: { role: 'admin' },
      }),
    );
  });

  it('refuses a registered address in any letter case, and points to promote', async () => {
    const { email, password } = await register(api);
    const entriesBefore = (await service.entries()).length;

    const { status, stderr } = await operate(['create-admin', email.toUpperCase()], 'other');

    expect(status).toBe(1);
    expect(stderr).toMatch(/exists already: promote makes this user an admin/);
    expect(await logIn(api, { email, password })).toMatch(/^ey/);
    expect((await service.entries()).length).toBe(entriesBefore);
  });

  it.each([
    ['no password', '', 'There is no password on standard input.'],
    ['a password over 255 characters', 'x'.repeat(256), 'The password must be at most 255'],
  ])('creates no user from %s', async (_, input, message) => {
    const email = uniqueEmail();

    const { status, stderr } = await operate(['create-admin', email], input);

    expect(status).toBe(1);
    expect(stderr).toContain(message);
    expect((await api('POST', '/api/login', { json: { email, password: 'x' } })).status).toBe(404);
  });

  it('creates no user with an invalid address', async () => {
    const { status, stderr } = await operate(['create-admin', 'ada'], 'p');

    expect([status, stderr]).toEqual([1, 'The email must be a valid email address.\n']);
  });
});

describe('create-admin, where AUDIT_DETAIL is full', () => {
  it('records the name and the address of the admin', async () => {
    const full = await operatedServiceForThisTest({ AUDIT_DETAIL: 'full' });
    const [name, email] = ['Ada Lovelace', uniqueEmail()];

    await full.operate(['create-admin', email, '--name', name], 'pass-word');

    const { AUDIT_TABLE = '' } = full.environment;
    const [start] = (await scanAudit(inject('engine'), AUDIT_TABLE)).filter(
      ({ user_agent }) => user_agent === 'npm start',
    );
    const operator = userInfo().username;
    expect((await full.entries()).map(({ details }) => JSON.parse(details ?? ''))).toEqual([
      { name, email, role: 'admin', operator },
    ]);
    expect(JSON.parse(start?.details ?? '')).toEqual({
      name: 'Administrator',
      email: full.admin.email,
      role: 'admin',
      operator,
    });
  });
});

describe('create-admin, where longer passwords and more costly hashes are required', () => {
  it('obeys the settings of the service', async () => {
    const settings = { PASSWORD_MIN_LENGTH: '10', BCRYPT_COST: '5' };
    const strict = await operatedServiceForThisTest(settings);
    const [email, password] = [uniqueEmail(), '0123456789'];

    const short = await strict.operate(['create-admin', email], password.slice(1));
    const long = await strict.operate(['create-admin', email], password);

    expect([short.status, short.stderr]).toEqual([
      1,
      'The password must be at least 10 characters.\n',
    ]);
    expect(long.status).toBe(0);
    const stored = (await strict.users()).find((user) => user.email === email);
    expect(stored?.password_hash).toMatch(/^\$2b\$05\$/);
  });
});

describe('promote', () => {
  it('makes a user an admin from the next login on', async () => {
    const account = await register(api);

    const { status } = await operate(['promote', account.email]);

    const token = await logIn(api, account);
    expect(status).toBe(0);
    expect((await api('GET', '/api/admin/audit-logs', { token })).status).toBe(200);
    expect(await listedAdmins()).toContain(account.email);
    expect((await service.entries()).at(-2)).toMatchObject(
      operatorEntry('promote', {
        action: 'UPDATE',
        resource_id: String(account.id),
        details: { fields: ['role'], role: { from: 'user', to: 'admin' } },
      }),
    );
  });

  it('ends the permission of whoever made the user', async () => {
    const { token } = await register(api);
    const made = await makeUser(api, token);

    await operate(['promote', made.email]);

    const json = { password: 'late' };
    expect((await api('PUT', `/api/users/${made.id}`, { token, json })).status).toBe(403);
  });

  it('refuses an address that nobody has', async () => {
    const { status, stderr } = await operate(['promote', uniqueEmail()]);

    expect(status).toBe(1);
    expect(stderr).toMatch(/^There is no user with this email address/);
  });

  it('refuses an admin', async () => {
    const { status, stderr } = await operate(['promote', service.admin.email]);

    expect([status, stderr]).toEqual([1, 'This user is an admin already.\n']);
  });
});

describe('demote', () => {
  it('makes an admin a user again', async () => {
    const account = await register(api);
    await operate(['promote', account.email]);

    const { status } = await operate(['demote', account.email]);

    const token = await logIn(api, account);
    expect(status).toBe(0);
    expect((await api('GET', '/api/admin/audit-logs', { token })).status).toBe(403);
    expect(await lastEntry()).toMatchObject(
      operatorEntry('demote', {
        action: 'UPDATE',
        resource_id: String(account.id),
        details: { fields: ['role'], role: { from: 'admin', to: 'user' } },
      }),
    );
    expect(await listedAdmins()).not.toContain(account.email);
  });

  it('refuses a user who is no admin', async () => {
    const { email } = await register(api);

    const { status, stderr } = await operate(['demote', email]);

    expect([status, stderr]).toEqual([1, 'This user is not an admin.\n']);
  });
});

describe('list-admins', () => {
  it('prints a line for each admin, and leaves an entry', async () => {
    const before = await listedAdmins();
    const { email } = await register(api);
    await operate(['promote', email]);

    const admins = await listedAdmins();

    expect(before).toContain(service.admin.email);
    expect(admins).toEqual([...before, email]);
    expect(await lastEntry()).toMatchObject(operatorEntry('list-admins', { action: 'READ' }));
  });

  it('prints no control characters of a name', async () => {
    const { email } = await register(api, { name: 'red \u001b[31m and \u202e turned' });
    await operate(['promote', email]);

    const { stdout } = await operate(['list-admins']);

    expect(stdout).toContain('red �[31m and � turned');
  });
});

describe('The last admin', async () => {
  const { api, admin, operate, start, users } = await operatedServiceForThisFile();
  const admins = async () => (await users()).filter(({ role }) => role === 'admin');

  it('cannot be demoted', async () => {
    const { status, stderr } = await operate(['demote', admin.email]);

    expect(status).toBe(1);
    expect(stderr).toMatch(/^This is the last admin.*create-admin or promote/);
    expect(await admins()).toHaveLength(1);
  });

  it('remains when two admins demote each other at the same time', async () => {
    const { email } = await register(api);
    const rounds: string[] = [];

    for (let round = 0; round < 2; round += 1) {
      await operate(['promote', email]);
      await operate(['promote', admin.email]);
      const ends = await Promise.all([
        start(['demote', email]).ended,
        start(['demote', admin.email]).ended,
      ]);
      rounds.push(
        ends
          .map(({ status }) => status)
          .sort()
          .join(),
      );
      expect(await admins()).toHaveLength(1);
    }

    expect(rounds).toEqual(['0,1', '0,1']);
  });
});
