import { randomUUID } from 'node:crypto';
import { readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { hash } from 'bcryptjs';
import { describe, expect, it } from 'vitest';
import { outcome, refusal } from '../../support/acceptance.ts';
import { logIn, register, uniqueEmail } from '../../support/client.ts';
import { operatedServiceForThisFile, operatorEntry } from '../../support/operator.ts';

// Of a higher cost than the hashes that are imported: a login replaces them.
const service = await operatedServiceForThisFile({ BCRYPT_COST: '5', AUDIT_DETAIL: 'full' });
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

const summary = (imported: number, present: number, rejected: number) =>
  `Imported: ${imported}. Imported before: ${present}. Lines rejected: ${rejected}.\n`;

describe('import-users', () => {
  it('imports users who can log in, in the order of their lines, and records admins and auditors', async () => {
    const versions = ['$2a$', '$2b$', '$2y$'].map((version) => ({
      email: uniqueEmail(),
      password_hash: bcryptHash.replace('$2b$', version),
    }));
    const at = { created_at: '2020-02-29T10:00:00.000Z' };
    const admin = { name: 'Ada', email: `Ada.${uniqueEmail()}`, role: 'admin', ...at };
    const auditor = { name: 'Eve', email: uniqueEmail(), role: 'user', auditor: true };
    const all = [...versions, admin, auditor];
    const before = (await service.entries()).length;

    const { status, stdout, stderr } = await importText(all.map(line).join('\n'));

    expect([status, stdout, stderr]).toEqual([0, summary(5, 0, 0), '']);
    const stored = (await service.users()).slice(-5);
    const [{ id: first = 0 } = {}] = stored;
    expect(stored).toMatchObject(all.map((user, i) => ({ ...user, id: Number(first) + i })));
    for (const { email } of all) {
      expect(await logIn(api, { email, password })).toMatch(/^ey/);
    }
    const { body } = await api('GET', '/api/users?role=admin', { token: service.adminToken });
    expect(body.map(({ email }: { email: string }) => email)).toContain(admin.email);
    const { name, email, role } = admin;
    const entries = (await service.entries()).slice(before);
    // The users are stored at the same time.
    entries.sort((a, b) => Number(a.resource_id ?? 0) - Number(b.resource_id ?? 0));
    expect(entries).toMatchObject(
      [
        { details: { stage: 'begun' } },
        { details: { stage: 'finished', imported: 5, present: 0, rejected: 0 } },
        { resource_id: String(Number(first) + 3), details: { name, email, role } },
        { resource_id: String(Number(first) + 4), details: auditor },
      ].map((entry) => operatorEntry('import-users', { action: 'CREATE', ...entry })),
    );
  });

  it('links an identity to one user only', async () => {
    const identities = [{ issuer: 'https://a.example', subject: randomUUID() }];
    const lines = [1, 2].map(() => line({ identities, password_hash: null }));

    const { stdout, stderr } = await importText(lines.join('\n'));

    expect(stdout).toBe(summary(1, 0, 1));
    expect(stderr).toMatch(/^Line [12]: has an identity that is linked to another user\./);
  });

  it('reports malformed lines by their numbers, without repeating them, and imports the others', async () => {
    const broken = `{"name":"N","password_hash":"${bcryptHash}"`;
    const lines = [line(), broken, line({ name: '' }), line({ name: 'x'.repeat(20_000) }), line()];
    const before = (await service.users()).length;

    const { status, stdout, stderr } = await importText(lines.join('\n'));

    expect([status, stdout]).toEqual([1, summary(2, 0, 3)]);
    expect(stderr.split('\n').slice(0, 3)).toEqual([
      'Line 2: is not a JSON object.',
      'Line 3: name is required.',
      'Line 4: is longer than 16384 bytes.',
    ]);
    expect(stderr).toMatch(/\nThe lines above were left out/);
    expect(stderr).not.toContain(bcryptHash.slice(7));
    expect((await service.users()).length - before).toBe(2);
    expect((await service.entries()).at(-1)).toMatchObject(
      operatorEntry('import-users', {
        action: 'CREATE',
        result: 'FAILURE',
        details: { stage: 'finished', imported: 2, present: 0, rejected: 3 },
      }),
    );
  });

  it('skips users who logged in or changed the password after an earlier import, and keeps their data', async () => {
    const [raised, changed, without] = [uniqueEmail(), uniqueEmail(), uniqueEmail()];
    const lines = [
      line({ email: raised }),
      line({ email: changed }),
      line({ email: without, password_hash: null }),
    ];
    await importText(lines.join('\n'));
    await logIn(api, { email: raised, password });
    for (const { id } of (await service.users()).slice(-2)) {
      const json = { password: 'another' };
      await api('PUT', `/api/users/${id}`, { token: service.adminToken, json });
    }
    const before = await service.users();

    const { status, stdout } = await importText(lines.join('\n'));

    const hashes = before.slice(-3).map(({ password_hash }) => password_hash);
    expect(hashes).not.toContain(bcryptHash);
    expect([status, stdout]).toEqual([0, summary(0, 3, 0)]);
    expect(await service.users()).toEqual(before);
  });

  it('rejects a line whose user already has another hash, and does not change that user', async () => {
    const account = await register(api);
    const email = uniqueEmail();
    await importText(line({ email }));
    const lines = [
      line({ email: account.email.toUpperCase() }),
      line({ email, password_hash: await hash('q', 4) }),
    ];

    const { status, stderr } = await importText(lines.join('\n'));

    expect(status).toBe(1);
    const reason = 'has an email that is registered with another hash';
    expect(stderr).toMatch(new RegExp(`^Line 1: ${reason}.*\nLine 2: ${reason}`));
    for (const login of [account, { email, password }]) {
      expect(await logIn(api, login)).toMatch(/^ey/);
    }
  });

  it('imports only the first of several lines with the same address', async () => {
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
      password_hash: `$2b$05$${'.'.repeat(53)}`,
    });
    for (const guess of ['null', '.', ' ', `$2b$05$${'.'.repeat(53)}`, '\0']) {
      const login = await api('POST', '/api/login', { json: { email, password: guess } });
      expect(outcome(login)).toEqual(refusal(401, 'Invalid credentials'));
    }
  });

  it('reads Windows line ends, a byte order mark, blank lines and a last line without an end', async () => {
    const { status, stdout } = await importText(`\ufeff${line()}\r\n\r\n  \n${line()}`);

    expect([status, stdout]).toEqual([0, summary(2, 0, 0)]);
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
