/** The commands that change users: what they do, print and record, and what when a write fails. */
import { randomUUID } from 'node:crypto';
import { readFileSync, rmSync, statSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { describe, expect, inject, it } from 'vitest';
import type { Action } from '../../../lib/audit/entry.ts';
import { outcome, refusal } from '../../support/acceptance.ts';
import { type Account, logIn, makeUser, register, uniqueEmail } from '../../support/client.ts';
import { resetUrl } from '../../support/mailbox.ts';
import {
  operatedServiceForThisFile,
  operatedServiceForThisTest,
  operate as operateIn,
  operatorEntry,
} from '../../support/operator.ts';
import { proxyForThisFile } from '../../support/proxied-service.ts';
import { type Fault, faults } from '../../support/proxy.ts';
import { enrol } from '../../support/second-factor.ts';
import { scan } from '../../support/stored-items.ts';
import { verificationSettings } from '../../support/verification.ts';

const proxy = await proxyForThisFile();
const service = await operatedServiceForThisFile({
  AWS_ENDPOINT_URL_DYNAMODB: proxy.url,
  ...verificationSettings.on,
  SESSION_DAYS: '90',
  SECOND_FACTOR: 'optional',
  PASSWORD_MIN_LENGTH: '10',
  BCRYPT_COST: '5',
  AUDIT_DETAIL: 'full',
});
const { api, operate, environment } = service;
const table = environment.USERS_TABLE ?? '';
const password = `p ${randomUUID()} ü`;

const find = async (email: string) => (await service.users()).find((user) => user.email === email);
const idOf = async ({ email }: Subject) => Number((await find(email))?.id);
const profile = (token = '') => api('GET', '/api/profile', { token });
const expectEnded = async ({ token }: Pick<Subject, 'token'>) =>
  expect(outcome(await profile(token))).toEqual(refusal(401, 'Invalid token'));
const suspend = async (id: number) =>
  api('PUT', `/api/users/${id}/suspension`, { token: await logIn(api, service.admin) });

const importUser = async (fields: object) => {
  const [file, email] = [join(service.folder, `${randomUUID()}.ndjson`), uniqueEmail()];
  const line = { name: 'N', email, password_hash: null, email_verified: false, ...fields };
  await writeFile(file, JSON.stringify(line));
  return { email, ...(await operate(['import-users', file])) };
};

interface Subject extends Pick<Account, 'email'> {
  readonly token?: string;
  /** Identities at other issuers, and what is secret of a second factor. */
  readonly identities?: readonly object[];
  readonly secrets?: readonly string[];
  /** The token of whoever made the user. */
  readonly maker?: string;
}

const nobody = async (): Promise<Subject> => ({ email: uniqueEmail() });
const anybody = (): Promise<Subject> => register(api);
const anAdmin = async (): Promise<Subject> => {
  const subject = await nobody();
  await operate(['create-admin', subject.email], 'the first password');
  return subject;
};
const made = async (): Promise<Subject> => {
  const { token: maker } = await register(api);
  const user = await makeUser(api, maker);
  return { ...user, token: await logIn(api, user), maker };
};
/** Somebody suspended, with a session, a second factor and an identity that may be a thief's. */
const inTrouble = async (): Promise<Subject> => {
  const { password_hash } = (await find((await register(api, { password })).email)) ?? {};
  const identities = [{ issuer: 'https://a.example', subject: randomUUID() }];
  const { email } = await importUser({ password_hash, identities, email_verified: true });
  const token = await logIn(api, { email, password });
  const { secret, recoveryCodes } = await enrol(api, { password, token });
  await suspend(await idOf({ email }));
  return { email, token, identities, secrets: [secret, ...recoveryCodes] };
};

/** A change by a command: on whom, by which request to the table, and what its entry says. */
interface Change {
  readonly subject: () => Promise<Subject>;
  readonly args: (email: string) => readonly string[];
  readonly write: string;
  readonly action: Action;
  readonly details: (email: string) => object;
}

const changes = {
  'create-admin of a new user': {
    subject: nobody,
    args: (email) => ['create-admin', email, '--name', 'Ada Lovelace'],
    write: 'TransactWriteItems',
    action: 'CREATE',
    details: (email) => ({ name: 'Ada Lovelace', email, role: 'admin' }),
  },
  'create-admin of a user who was locked out': {
    subject: inTrouble,
    args: (email) => ['create-admin', email.toUpperCase()],
    write: 'TransactWriteItems',
    action: 'UPDATE',
    details: () => ({
      fields: ['password', 'role', 'second_factor', 'identities'],
      role: { from: 'user', to: 'admin' },
      second_factor: 'removed',
      suspended: false,
    }),
  },
  'create-admin of a user whom another user created': {
    subject: made,
    args: (email) => ['create-admin', email],
    write: 'UpdateItem',
    action: 'UPDATE',
    details: () => ({
      fields: ['password', 'role', 'email_verified'],
      role: { from: 'user', to: 'admin' },
    }),
  },
  'create-admin of an admin who forgot the password': {
    subject: anAdmin,
    args: (email) => ['create-admin', email],
    write: 'UpdateItem',
    action: 'UPDATE',
    details: () => ({ fields: ['password'] }),
  },
  revoke: {
    subject: anybody,
    args: (email) => ['revoke', email],
    write: 'UpdateItem',
    action: 'LOGOUT',
    details: () => ({ scope: 'all' }),
  },
  'reset-password': {
    subject: anybody,
    args: (email) => ['reset-password', email.toUpperCase()],
    write: 'PutItem',
    action: 'UPDATE',
    details: () => ({ fields: [], by: 'reset', requested: true }),
  },
  'verify-email': {
    subject: anybody,
    args: (email) => ['verify-email', email],
    write: 'UpdateItem',
    action: 'UPDATE',
    details: () => ({ fields: ['email_verified'] }),
  },
} as const satisfies Readonly<Record<string, Change>>;
type Name = keyof typeof changes;

/** What the table has of users, without the counts and mails that go on meanwhile. */
const items = async () =>
  (await scan(inject('engine'), table))
    .filter(({ pk }) => /^(user|email|identity|reset)#/.test(String(pk)))
    .sort((one, other) => (String(one.pk) < String(other.pk) ? -1 : 1));

/** Runs a command on a subject of its own. @param fault of its write @returns all that it leaves */
const run = async (name: Name, fault: Fault = faults.pass) => {
  const { subject: prepare, args, write, action, details }: Change = changes[name];
  const subject = await prepare();
  const [before, { length }] = [await items(), await service.entries()];
  proxy.impose({ fault, operation: write, table });
  const ended = await operate(args(subject.email), `${password}\n`);
  proxy.impose();
  const entries = (await service.entries()).slice(length);
  const isChanged = !isDeepStrictEqual(await items(), before);
  const id = (await idOf(subject)) || Number(entries[0]?.resource_id);
  const entry = (result: 'SUCCESS' | 'FAILURE', more = {}) =>
    operatorEntry(name.split(' ')[0] ?? '', {
      action,
      resource_id: String(id),
      result,
      details: { ...more, ...details(subject.email) },
    });
  return { subject, id, ...ended, entries, isChanged, entry };
};

/** Runs a command that does its work, and leaves one entry, which holds no secret. */
const perform = async (name: Name) => {
  const { subject, id, status, stdout, stderr, entries, entry } = await run(name);
  expect(status, stderr).toBe(0);
  expect(entries).toMatchObject([entry('SUCCESS')]);
  const secret = stdout.split('#token=')[1]?.trim() ?? password;
  expect(JSON.stringify(entries)).not.toContain(secret);
  return { subject, id, printed: [stdout, stderr] };
};

describe('create-admin', () => {
  const promoted = (id: number) => [`User ${id} is an admin, with this password.\n`, ''];

  it('creates an admin for a new address, with a hash of the set cost', async () => {
    const { subject, id, printed } = await perform('create-admin of a new user');

    const { email } = subject;
    expect(printed).toEqual([`Created the admin with id ${id}.\n`, '']);
    const { body } = await profile(await logIn(api, { email, password }));
    expect(body.data).toMatchObject({ name: 'Ada Lovelace', role: 'admin' });
    expect((await find(email))?.password_hash).toMatch(/^\$2b\$05\$/);
  });

  it('gives an account back to a user who was locked out, and ends all access of a thief', async () => {
    const { subject, id, printed } = await perform('create-admin of a user who was locked out');

    const { email, identities } = subject;
    expect(printed).toEqual(promoted(id));
    const token = await logIn(api, { email, password });
    await expectEnded(subject);
    const { body } = await api('GET', '/api/users?role=admin', { token });
    expect(body).toContainEqual(expect.objectContaining({ email, role: 'admin' }));
    expect(await find(email)).not.toHaveProperty('identities');
    // Somebody else may have the identity now.
    expect((await importUser({ identities })).status).toBe(0);
  });

  it('verifies the address of a user, and ends the permission of the creator of the user', async () => {
    const { subject, id, printed } = await perform(
      'create-admin of a user whom another user created',
    );

    expect(printed).toEqual(promoted(id));
    await expectEnded(subject);
    expect((await find(subject.email))?.email_verified).toBe(true);
    const late = { token: subject.maker ?? '', json: { password: 'a late password' } };
    expect((await api('PUT', `/api/users/${id}`, late)).status).toBe(403);
  });

  it('sets the password of an admin who forgot it', async () => {
    const { subject, id, printed } = await perform(
      'create-admin of an admin who forgot the password',
    );

    expect(printed).toEqual(promoted(id));
    expect(await logIn(api, { ...subject, password })).toMatch(/^ey/);
  });
});

it('revoke ends the sessions of a user; the user may log in again', async () => {
  const { subject, id, printed } = await perform('revoke');

  const message = `The sessions of user ${id} are ended; the user can log in again.\n`;
  expect(printed).toEqual([message, '']);
  await expectEnded(subject);
  const token = await logIn(api, subject as Account);
  expect((await profile(token)).status).toBe(200);
});

it('reset-password prints a link that sets a password once', async () => {
  const { subject, id, printed } = await perform('reset-password');

  const [link = '', message] = printed;
  expect(link).toMatch(/^https:\/\/app\.example\.com\/reset#token=\d+\.[\w-]{43}\n$/);
  expect(message).toBe(`This link for user ${id} is valid for 30 minutes, and only once.\n`);
  const json = { token: link.trim().replace(`${resetUrl}#token=`, ''), password };
  expect((await api('PUT', '/api/password-resets', { json })).status).toBe(204);
  expect((await api('PUT', '/api/password-resets', { json })).status).toBe(400);
  expect(await logIn(api, { ...subject, password })).toMatch(/^ey/);
});

it('verify-email verifies the address of a user', async () => {
  const { subject, id, printed } = await perform('verify-email');

  expect(printed).toEqual([`The address of user ${id} is verified.\n`, '']);
  expect((await profile(subject.token)).body.data).toMatchObject({ email_verified: true });
});

const notKnown =
  /^It is not known whether the change was made \(ECONNRESET\); its audit entry says so\. /m;
const lost = { error: 'ECONNRESET', outcome: 'unknown' };

it.each(Object.keys(changes) as Name[])(
  '%s leaves an entry with an unknown outcome when the response of the table is lost',
  async (name) => {
    const { status, stderr, entries, entry, isChanged } = await run(name, faults.lose);

    expect([status, stderr]).toEqual([1, expect.stringMatching(notKnown)]);
    expect(isChanged).toBe(true);
    expect(entries).toMatchObject([entry('FAILURE', lost)]);
  },
);

it('A change that DynamoDB refuses leaves a FAILURE entry that names the fault', async () => {
  const { isChanged, entries, entry, ...ended } = await run('revoke', faults.throughputExceeded);

  const error = 'ProvisionedThroughputExceededException';
  const stderr = `The command failed: ${error}.\n`;
  expect(ended).toMatchObject({ status: 1, stdout: '', stderr });
  expect(isChanged).toBe(false);
  expect(entries).toMatchObject([entry('FAILURE', { error })]);
});

it('import-users of an admin leaves an entry with the new id even if the response is lost', async () => {
  const before = (await service.entries()).length;
  proxy.impose({ fault: faults.lose, operation: 'TransactWriteItems', table });

  const { email, status, stderr } = await importUser({ role: 'admin' });

  const { id, role } = (await find(email)) ?? {};
  expect([role, status, stderr]).toEqual(['admin', 1, expect.stringMatching(notKnown)]);
  const counts = { imported: 0, present: 0, rejected: 0 };
  const failed = { action: 'CREATE', result: 'FAILURE' } as const;
  expect((await service.entries()).slice(before)).toMatchObject(
    [
      { action: 'CREATE' as const, details: { stage: 'begun' } },
      { ...failed, resource_id: String(id), details: { ...lost, name: 'N', email, role } },
      { ...failed, details: { stage: 'stopped', ...lost, ...counts } },
    ].map((entry) => operatorEntry('import-users', entry)),
  );
});

it('revoke-all ends the sessions of all users and leaves one entry; users may log in again', async () => {
  const accounts: Account[] = [];
  for (let made = 0; made < 30; made += 1) accounts.push(await register(api));
  const [users, before] = [(await service.users()).length, (await service.entries()).length];

  const { status, stdout, stderr } = await operate(['revoke-all']);

  expect([status, stderr]).toEqual([0, '']);
  expect(stdout).toBe(`The sessions of ${users} users are ended; they can log in again.\n`);
  for (const account of accounts) await expectEnded(account);
  const [account] = accounts as [Account];
  expect((await profile(await logIn(api, account))).status).toBe(200);
  expect((await service.entries()).slice(before)).toMatchObject([
    operatorEntry('revoke-all', { action: 'LOGOUT', details: { scope: 'everyone' } }),
  ]);
});

describe('A command that is refused changes nothing and records nothing:', () => {
  const suspended = async () => {
    const user = await register(api);
    await suspend(user.id);
    return user;
  };
  const unknown = 'There is no user with this email address: check its spelling.';

  it.each<[string, string, () => Promise<Subject>, string?]>([
    ['create-admin', 'There is no password on standard input.', nobody, ''],
    ['create-admin', 'password must be at least 10 characters.', nobody, 'x'.repeat(9)],
    ['create-admin', 'password must be at most 255 characters.', nobody, 'x'.repeat(256)],
    ['create-admin', 'email must be a valid email address.', async () => ({ email: 'ada' })],
    ['revoke', unknown, nobody],
    ['reset-password', unknown, nobody],
    ['reset-password', 'User ID is suspended: an admin must lift the suspension first.', suspended],
    ['verify-email', unknown, nobody],
    ['verify-email', 'The address of this user is verified already.', anAdmin],
  ])('%s: %s', async (command, message, makeSubject, input = password) => {
    const subject = await makeSubject();
    const before = [await items(), await service.entries()];

    const ended = await operate([command, subject.email], input);

    const stderr = `${message.replace('ID', String(await idOf(subject)))}\n`;
    expect(ended).toEqual({ status: 1, stdout: '', stderr });
    expect([await items(), await service.entries()]).toEqual(before);
  });
});

it('Without another page, reset-password links to the page of the service, and fails if that is stopped', async () => {
  const MAIL_FROM = 'accounts@example.com';
  const own = await operatedServiceForThisTest({ MAIL_FROM });
  const { email } = await register(own.api);

  const running = await own.operate(['reset-password', email]);
  await own.stop();
  const stopped = await own.operate(['reset-password', email]);

  const { port } = new URL(own.url);
  const [page, token = ''] = running.stdout.split('#token=');
  expect(page).toBe(`http://localhost:${port}/account/reset`);
  const [, account] = token.split('&');
  expect(token).toMatch(/^\d+\.[\w-]{43}&/);
  expect(account).toBe(`${new URLSearchParams({ email })}\n`);
  expect(stopped).toMatchObject({
    status: 1,
    stdout: '',
    stderr: expect.stringMatching(
      /\nStart the service first: its address is known only while it runs\.\n$/,
    ),
  });
});

it('On data of version 1.0.0, commands end sessions unless their environment has no sessions', async () => {
  const ended = await operatedServiceForThisTest({ SESSION_DAYS: '90' });
  const { id, email } = await register(ended.api);
  await ended.stop();
  rmSync(join(ended.folder, 'settings.json'));
  const { USERS_TABLE = '', AUDIT_TABLE = '' } = ended.environment;
  const tables = { USERS_TABLE, AUDIT_TABLE, AWS_ENDPOINT_URL_DYNAMODB: inject('engine') };
  const run = async (command: string, more = {}) => {
    const { status } = await operateIn([command, email, `--local=${ended.folder}`], {
      input: password,
      environment: { ...tables, ...more },
    });
    return [status, (await ended.users()).find((user) => user.id === id)?.session_epoch];
  };

  expect(await run('revoke')).toEqual([0, 1]);
  expect(await run('create-admin')).toEqual([0, 2]);
  expect(await run('revoke', { SESSION_DAYS: '0' })).toEqual([1, 2]);
});

it('The key of second factors is in a file that only its owner can read, and in no item', async () => {
  const { secrets = [] } = await inTrouble();
  const file = join(service.folder, 'second-factor.key');

  expect(statSync(file).mode & 0o777).toBe(0o600);
  expect(Buffer.from(readFileSync(file, 'utf8'), 'base64')).toHaveLength(32);
  const stored = JSON.stringify(await items());
  for (const kept of [readFileSync(file, 'utf8'), ...secrets]) {
    expect(stored).not.toContain(kept);
  }
});
