import { randomUUID } from 'node:crypto';
import { readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { hash } from 'bcryptjs';
import { describe, expect, it } from 'vitest';
import { outcome, refusal } from '../../support/acceptance.ts';
import { logIn, register, uniqueEmail } from '../../support/client.ts';
import {
  operatedServiceForThisFile,
  operatedServiceForThisTest,
  operatorEntry,
} from '../../support/operator.ts';

const service = await operatedServiceForThisFile();
const { api, operate } = service;

const password = 'correct horse';
const bcryptHash = await hash(password, 4);

const line = (fields: object = {}): string =>
  JSON.stringify({ name: 'N', email: uniqueEmail(), password_hash: bcryptHash, ...fields });

const file = async (text: string): Promise<string> => {
  const name = join(service.folder, `${randomUUID()}.ndjson`);
  await writeFile(name, text);
  return name;
};

const importText = async (text: string) => operate(['import-users', await file(text)]);

const lastEntries = async () => (await service.entries()).slice(-2);

const summary = (imported: number, present: number, rejected: number) =>
  `Imported: ${imported}. Imported before: ${present}. Lines rejected: ${rejected}.\n`;

describe('import-users', () => {
  it('imports users with $2a$, $2b$ and $2y$ hashes, who can log in', async () => {
    const users = ['$2a$', '$2b$', '$2y$'].map((version) => ({
      email: uniqueEmail(),
      password_hash: bcryptHash.replace('$2b$', version),
    }));

    const { status, stdout } = await importText(users.map(line).join('\n'));

    expect([status, stdout]).toEqual([0, summary(3, 0, 0)]);
    for (const { email } of users) expect(await logIn(api, { email, password })).toMatch(/^ey/);
  });

  it('keeps name, email, role and time of creation, in the order of the lines', async () => {
    const [first, second] = [uniqueEmail(), `Second.${uniqueEmail()}`];
    const lines = [
      line({ email: first, name: ' Ada ', created_at: '2020-02-29T12:00:00+02:00' }),
      line({ email: second, role: 'admin', created_at: '2019-01-01T00:00:00.5Z' }),
    ];

    await importText(lines.join('\n'));

    const [ada, admin] = (await service.users()).slice(-2);
    expect(ada).toMatchObject({
      name: 'Ada',
      email: first,
      role: 'user',
      created_at: '2020-02-29T10:00:00.000Z',
    });
    expect(admin).toMatchObject({
      email: second,
      role: 'admin',
      id: Number(ada?.id) + 1,
      created_at: '2019-01-01T00:00:00.500Z',
    });
    const { body } = await api('GET', '/api/users?role=admin', { token: service.adminToken });
    expect(body.map(({ email }: { email: string }) => email)).toContain(second);
  });

  it('links identities, each to one user, and names the rule that a list of them breaks', async () => {
    const [identity, name] = [{ issuer: 'https://a.example', subject: randomUUID() }, 'identities'];
    const lists = [[identity], [identity], [identity, identity], [{ issuer: 'a#b', subject: 'x' }]];

    const { stdout, stderr } = await importText(
      lists.map((each) => line({ [name]: each, password_hash: null })).join('\n'),
    );

    expect(stdout).toBe(summary(1, 0, 3));
    const rule = 'identities must be a list of at most 10 objects with issuer and subject';
    expect(stderr).toMatch(/Line [12]: has an identity that is linked to another user\./);
    for (const number of [3, 4]) expect(stderr).toContain(`Line ${number}: ${rule}`);
  });

  it('reads times as PostgreSQL prints them, in whatever zone', async () => {
    const times = {
      '2024-03-01 12:34:56.789+00': '2024-03-01T12:34:56.789Z',
      '2024-03-01 12:34:56+02': '2024-03-01T10:34:56.000Z',
      '2024-03-01 12:34:56.789123+05:30': '2024-03-01T07:04:56.790Z',
      '2024-02-29 23:34:56.7-03': '2024-03-01T02:34:56.700Z',
      '2024-03-01T12:34:56.789+00:00': '2024-03-01T12:34:56.789Z',
    };
    const lines = Object.keys(times).map((created_at) => line({ created_at }));

    const { status, stderr } = await importText(lines.join('\n'));

    const stored = (await service.users()).slice(-lines.length);
    expect([status, stderr]).toEqual([0, '']);
    expect(stored.map(({ created_at }) => created_at)).toEqual(Object.values(times));
  });

  it('reports the malformed line 3 of 5 by its number, and imports the others', async () => {
    const lines = [line(), line(), `{"name":"N","password_hash":"${bcryptHash}"`, line(), line()];
    const before = (await service.users()).length;

    const { status, stdout, stderr } = await importText(lines.join('\n'));

    expect(status).toBe(1);
    expect(stdout).toBe(summary(4, 0, 1));
    expect(stderr).toMatch(/^Line 3: is not a JSON object\.\nThe lines above were left out/);
    expect(stderr).not.toContain(bcryptHash);
    expect((await service.users()).length - before).toBe(4);
    expect(await lastEntries()).toMatchObject([
      operatorEntry('import-users', { action: 'CREATE', details: { stage: 'begun' } }),
      operatorEntry('import-users', {
        action: 'CREATE',
        result: 'FAILURE',
        details: { stage: 'finished', imported: 4, present: 0, rejected: 1 },
      }),
    ]);
  });

  it('skips users who have logged in or changed the password since, and keeps their data', async () => {
    const strong = await operatedServiceForThisTest({ BCRYPT_COST: '5' });
    const file = join(strong.folder, 'users.ndjson');
    const [raised, changed] = [uniqueEmail(), uniqueEmail()];
    await writeFile(file, `${line({ email: raised })}\n${line({ email: changed })}`);
    await strong.operate(['import-users', file]);
    await logIn(strong.api, { email: raised, password });
    const token = await logIn(strong.api, { email: changed, password });
    const { body } = await strong.api('GET', '/api/profile', { token });
    const json = { password: 'another' };
    await strong.api('PUT', `/api/users/${body.data.id}`, { token, json });
    const before = await strong.users();

    const { status, stdout } = await strong.operate(['import-users', file]);

    const hashes = before.slice(-2).map(({ password_hash }) => password_hash);
    expect(hashes).not.toContain(bcryptHash);
    expect([status, stdout]).toEqual([0, summary(0, 2, 0)]);
    expect(await strong.users()).toEqual(before);
  });

  it('rejects a line whose hash is another than the one that its user was imported with', async () => {
    const email = uniqueEmail();
    await importText(line({ email }));

    const { status, stderr } = await importText(line({ email, password_hash: await hash('q', 4) }));

    expect(status).toBe(1);
    expect(stderr).toMatch(/^Line 1: has an email that is registered with another hash/);
    expect(await logIn(api, { email, password })).toMatch(/^ey/);
  });

  it('records the name and the address of an admin where AUDIT_DETAIL is full', async () => {
    const full = await operatedServiceForThisTest({ AUDIT_DETAIL: 'full' });
    const [name, email] = ['Ada', uniqueEmail()];

    await full.operate(['import-users', await file(line({ name, email, role: 'admin' }))]);

    const [, entry] = await full.entries();
    expect(entry).toMatchObject(
      operatorEntry('import-users', {
        action: 'CREATE',
        resource_id: '2',
        details: { name, email, role: 'admin' },
      }),
    );
  });

  it('does not change a user who already has the address and another hash', async () => {
    const account = await register(api);

    const { status, stderr } = await importText(line({ email: account.email.toUpperCase() }));

    expect(status).toBe(1);
    expect(stderr).toMatch(/^Line 1: has an email that is registered with another hash/);
    expect(await logIn(api, account)).toMatch(/^ey/);
  });

  it('imports the first of some lines with the same address', async () => {
    const email = `zoë.${uniqueEmail()}`;
    const spellings = [email, uniqueEmail(), email.toUpperCase(), email.normalize('NFD')];
    const lines = spellings.map((spelling) => line({ email: spelling, name: 'First' }));

    const { status, stdout, stderr } = await importText(lines.join('\n'));

    expect([status, stdout]).toEqual([1, summary(2, 0, 2)]);
    expect(stderr).toMatch(/^Line 3: has the email of line 1\.\nLine 4: has the email of line 1\./);
    expect((await service.users()).at(-2)).toMatchObject({ email, name: 'First' });
  });

  it('imports a user without a hash once, and no password logs that user in', async () => {
    const email = uniqueEmail();
    const text = line({ email, password_hash: null });

    const [first, second] = [await importText(text), await importText(text)];

    expect([first.stdout, second.stdout]).toEqual([summary(1, 0, 0), summary(0, 1, 0)]);
    expect((await service.users()).at(-1)).toMatchObject({
      email,
      password_hash: `$2b$04$${'.'.repeat(53)}`,
    });
    for (const guess of ['null', '.', ' ', `$2b$04$${'.'.repeat(53)}`, '\0']) {
      const login = await api('POST', '/api/login', { json: { email, password: guess } });
      expect(outcome(login)).toEqual(refusal(401, 'Invalid credentials'));
    }
  });

  it('skips a user without a hash when the line comes again after a reset, or at another cost', async () => {
    const email = uniqueEmail();
    const text = line({ email, password_hash: null });
    await importText(text);
    const { id } = (await service.users()).at(-1) ?? {};
    const json = { password: 'another one' };
    await api('PUT', `/api/users/${id}`, { token: service.adminToken, json });

    expect((await importText(text)).stdout).toBe(summary(0, 1, 0));
    expect(await logIn(api, { email, password: 'another one' })).toMatch(/^ey/);
  });

  it('reads Windows line ends, a byte order mark, blank lines and a last line without an end', async () => {
    const { status, stdout } = await importText(`\ufeff${line()}\r\n\r\n  \n${line()}`);

    expect([status, stdout]).toEqual([0, summary(2, 0, 0)]);
  });

  it('rejects a line by the rule that it breaks, without repeating it', async () => {
    const reasons = {
      [line().slice(1)]: 'is not a JSON object',
      '[]': 'is not a JSON object',
      [line({ name: undefined })]: 'name is required.',
      [line({ email: null })]: 'email is required.',
      [line({ password_hash: undefined })]: 'password_hash is required.',
      [line({ password_hash: '' })]: 'password_hash is required.',
      [line({ name: '', email: 'ada', role: 'root', password_hash: undefined })]:
        'name is required; email must be a valid email address; role must be one of user, admin; password_hash is required.',
      [line({ name: 'x'.repeat(101) })]: 'name must be at most 100 characters',
      [line({ password_hash: password })]: 'password_hash must be a bcrypt hash',
      [line({ password_hash: bcryptHash.replace('$04', '$05') })]:
        "password_hash must have a cost of at most 4, the service's BCRYPT_COST: raise it (setting bcryptCost) first.",
      [line({ created_at: '12:00' })]: 'created_at must be a time',
      [line({ created_at: '2024-03-01 12:34:56.789' })]:
        'created_at must be a time between 1970 and now, with its offset from UTC',
      [line({ created_at: '2024-03-01 12:34:56+2' })]: 'created_at must be a time',
      [line({ created_at: 1_600_000_000 })]: 'created_at must be a time',
      [line({ created_at: '2023-02-29T00:00:00Z' })]: 'created_at must be a time',
      [line({ created_at: '2999-01-01T00:00:00Z' })]:
        'created_at must be a time between 1970 and now',
      [line({ id: 2 ** 53 })]: 'id must be text, or a whole number up to 9007199254740991',
      [line({ name: 'x'.repeat(20_000) })]: 'is longer than 16384 bytes',
    };
    const rules = Object.values(reasons);
    const before = (await service.users()).length;

    const { status, stdout, stderr } = await importText(Object.keys(reasons).join('\n'));

    const reports = stderr.split('\n').slice(0, rules.length);
    expect([status, stdout]).toEqual([1, summary(0, 0, rules.length)]);
    expect(reports).toEqual(
      rules.map((rule, i) => expect.stringContaining(`Line ${i + 1}: ${rule}`)),
    );
    expect(stderr).not.toContain(password);
    expect(stderr).not.toContain(bcryptHash.slice(7));
    expect((await service.users()).length).toBe(before);
  });

  it('lists old and new ids with --ids, also when it is run again', async () => {
    const emails = Array.from({ length: 6 }, uniqueEmail);
    const ids = ['"9f1c"', '17', '"1234567890123456789"', '9007199254740991', 'null'];
    const withId = (email: string | undefined, id: string) =>
      line({ email }).replace('{', `{"id":${id},`);
    const lines = [...ids.map((id, i) => withId(emails[i], id)), line({ email: emails[5] })];
    const users = await file([...lines, line({ email: '' })].join('\n'));
    const [first, second] = ['first.ndjson', 'second.ndjson'].map((name) =>
      join(service.folder, name),
    ) as [string, string];

    const run = await operate(['import-users', users, '--ids', first]);
    const again = await operate(['import-users', users, '--ids', second]);
    const overwriting = await operate(['import-users', users, '--ids', second]);

    const stored = await service.users();
    const newIds = emails.map((email) => stored.find((user) => user.email === email)?.id);
    const expected = [...ids, 'null'].map(
      (id, i) => `{"old_id":${id},"new_id":${newIds[i]},"email":"${emails[i]}"}\n`,
    );
    const { mode } = await stat(first);
    expect([run.stdout, again.stdout]).toEqual([summary(6, 0, 1), summary(0, 6, 1)]);
    expect(run.stderr).toContain('again, with another file for --ids: users');
    expect(await readFile(first, 'utf8')).toBe(expected.join(''));
    expect(await readFile(second, 'utf8')).toBe(expected.join(''));
    expect(mode & 0o777).toBe(0o600);
    expect([overwriting.status, overwriting.stdout]).toEqual([1, '']);
    expect(overwriting.stderr).toContain(`${second} exists already`);
  });

  it.each([
    ['does not exist', '/nowhere/users.ndjson'],
    ['is a folder', service.folder],
  ])('refuses a file that %s', async (problem, name) => {
    const { status, stderr } = await operate(['import-users', name]);

    expect([status, stderr]).toEqual([1, `${name} ${problem}.\n`]);
  });
});
