import { randomUUID } from 'node:crypto';
import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { outcome, refusal } from '../../support/acceptance.ts';
import { logIn, makeUser, register, uniqueEmail } from '../../support/client.ts';
import {
  operatedServiceForThisFile,
  operatedServiceForThisTest,
  operatorEntry,
} from '../../support/operator.ts';
import { registerWithFactor } from '../../support/second-factor.ts';

const service = await operatedServiceForThisFile({
  SESSION_DAYS: '90',
  SECOND_FACTOR: 'optional',
});
const { api, operate } = service;

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

  it('makes a user with this address an admin, without a second factor, a session or a suspension', async () => {
    const user = await registerWithFactor(api);
    const { adminToken: admin } = service;
    await api('PUT', `/api/users/${user.id}/suspension`, { token: admin });
    const password = 'another password';

    const { status, stdout } = await operate(['create-admin', user.email.toUpperCase()], password);

    const token = await logIn(api, { email: user.email, password });
    expect([status, stdout]).toEqual([0, `User ${user.id} is an admin, with this password.\n`]);
    expect((await api('GET', '/api/admin/audit-logs', { token })).status).toBe(200);
    expect(outcome(await api('GET', '/api/profile', { token: user.token }))).toEqual(
      refusal(401, 'Invalid token'),
    );
    const { body } = await api('GET', '/api/users?role=admin', { token });
    expect(body.map(({ id }: { id: number }) => id)).toContain(user.id);
    expect(await lastEntry()).toMatchObject(
      operatorEntry('create-admin', {
        action: 'UPDATE',
        resource_id: String(user.id),
        details: {
          fields: ['password', 'role', 'second_factor'],
          role: { from: 'user', to: 'admin' },
          second_factor: 'removed',
          suspended: false,
        },
      }),
    );
  });

  it('unlinks the identities of an account, which may be those of a thief', async () => {
    const [email, file] = [uniqueEmail(), join(service.folder, 'linked.ndjson')];
    const identities = [{ issuer: 'https://a.example', subject: randomUUID() }];
    const line = { name: 'n', email, password_hash: null, identities };
    writeFileSync(file, JSON.stringify(line));
    await operate(['import-users', file]);
    const stored = async () => (await service.users()).find((user) => user.email === email);
    expect((await stored())?.identities).toHaveLength(1);

    expect((await operate(['create-admin', email], 'a password')).status).toBe(0);

    expect(await stored()).not.toHaveProperty('identities');
    expect((await lastEntry())?.details).toContain('"fields":["password","role","identities"]');
    writeFileSync(file, JSON.stringify({ ...line, email: uniqueEmail() }));
    expect((await operate(['import-users', file])).status).toBe(0);
  });

  it('gives an admin who forgot the password another one', async () => {
    const { email } = service.admin;

    const { status } = await operate(['create-admin', email], 'another password');

    expect(status).toBe(0);
    expect(await logIn(api, { email, password: 'another password' })).toMatch(/^ey/);
    expect(await lastEntry()).toMatchObject(
      operatorEntry('create-admin', {
        action: 'UPDATE',
        resource_id: '1',
        details: { fields: ['password'] },
      }),
    );
  });

  it('ends the permission of the caller who made the user', async () => {
    const { token } = await register(api);
    const made = await makeUser(api, token);

    await operate(['create-admin', made.email], 'password');

    const json = { password: 'late' };
    expect((await api('PUT', `/api/users/${made.id}`, { token, json })).status).toBe(403);
  });

  it.each([
    ['no password', uniqueEmail(), '', 'There is no password on standard input.'],
    ['a password over 255 characters', uniqueEmail(), 'x'.repeat(256), 'password must be at most'],
    ['an invalid address', 'ada', 'password', 'email must be a valid email address.'],
  ])('makes no admin from %s', async (_, email, input, message) => {
    const before = [await service.users(), await service.entries()];

    const { status, stderr } = await operate(['create-admin', email], input);

    expect(status).toBe(1);
    expect(stderr).toContain(message);
    expect([await service.users(), await service.entries()]).toEqual(before);
  });
});

describe('create-admin, on a service with other settings,', () => {
  it('obeys the minimum length of passwords and the cost of hashes', async () => {
    const strict = await operatedServiceForThisTest({
      PASSWORD_MIN_LENGTH: '10',
      BCRYPT_COST: '5',
    });
    const [email, password] = [uniqueEmail(), '0123456789'];

    const short = await strict.operate(['create-admin', email], password.slice(1));
    const long = await strict.operate(['create-admin', email], password);

    expect([short.status, short.stderr]).toEqual([1, 'password must be at least 10 characters.\n']);
    expect(long.status).toBe(0);
    const stored = (await strict.users()).find((user) => user.email === email);
    expect(stored?.password_hash).toMatch(/^\$2b\$05\$/);
  });

  it('records the name and the address of a new admin where AUDIT_DETAIL is full', async () => {
    const full = await operatedServiceForThisTest({ AUDIT_DETAIL: 'full' });
    const [name, email] = ['Ada Lovelace', uniqueEmail()];

    await full.operate(['create-admin', email, '--name', name], 'pass-word');

    expect(await full.entries()).toMatchObject([
      operatorEntry('create-admin', {
        action: 'CREATE',
        resource_id: '2',
        details: { name, email, role: 'admin' },
      }),
    ]);
  });
});

describe('The key of second factors on this machine', () => {
  it('is in a file that only its owner can read, and in no item', async () => {
    const user = await registerWithFactor(api);
    const file = join(service.folder, 'second-factor.key');

    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(Buffer.from(readFileSync(file, 'utf8'), 'base64')).toHaveLength(32);
    const stored = JSON.stringify(await service.users());
    for (const kept of [readFileSync(file, 'utf8'), user.secret, ...user.recoveryCodes]) {
      expect(stored).not.toContain(kept);
    }
  });
});
