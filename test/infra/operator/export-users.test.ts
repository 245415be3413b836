import { readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { outcome, refusal } from '../../support/acceptance.ts';
import { logIn, register, uniqueEmail } from '../../support/client.ts';
import {
  operatedServiceForThisFile,
  operatedServiceForThisTest,
  operatorEntry,
} from '../../support/operator.ts';
import { verificationSettings } from '../../support/verification.ts';

const service = await operatedServiceForThisFile(verificationSettings.on);
const { api, operate } = service;
const out = (name: string) => join(service.folder, name);

const parse = (text: string): readonly Record<string, unknown>[] =>
  text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));

describe('export-users', () => {
  it('writes a file from which import-users can let every user log in at another service', async () => {
    const accounts = [
      await register(api, { name: 'Ünïcode "quoted"\n' }),
      await register(api, { password: 'long'.repeat(30) }),
    ];
    const suspended = { email: uniqueEmail(), suspended_at: '2026-01-31T09:05:00.000Z' };
    const [{ password_hash }] = (await service.users()) as [{ password_hash: string }];
    const at = { created_at: '2026-02-28T09:05:00.000Z' };
    const identity = { issuer: 'https://a.example', subject: '1#2', email: null, ...at };
    const attributes = { plan: 'pro', size: 7 };
    const linked = {
      ...suspended,
      attributes,
      auditor: true,
      email_verified: true,
      identities: [identity],
    };
    await writeFile(out('one.ndjson'), JSON.stringify({ name: 'S', password_hash, ...linked }));
    await operate(['import-users', out('one.ndjson')]);
    const file = out('all.ndjson');
    const other = await operatedServiceForThisTest({
      ...verificationSettings.on,
      ADMIN_EMAIL: 'other@example.org',
    });

    const exported = await operate(['export-users', file]);
    const entry = (await service.entries()).at(-1);
    const imported = await other.operate(['import-users', file]);

    expect([exported.status, exported.stdout]).toEqual([0, '']);
    expect(exported.stderr).toBe('Exported 4 users.\n');
    expect((await stat(file)).mode & 0o777).toBe(0o600);
    expect(entry).toMatchObject(operatorEntry('export-users', { action: 'EXPORT' }));
    expect([imported.status, imported.stderr]).toEqual([0, '']);
    for (const account of accounts) {
      const token = await logIn(other.api, account);
      const { body } = await other.api('GET', '/api/profile', { token });
      expect(body.data).toMatchObject({ name: account.name.trim(), email_verified: false });
    }
    const [admin] = (await other.users()).filter(({ email }) => email === service.admin.email);
    expect(admin).toMatchObject({ role: 'admin' });
    const identities = [expect.objectContaining(identity)];
    expect(await other.users()).toContainEqual(
      expect.objectContaining({
        ...suspended,
        attributes: JSON.stringify(attributes),
        auditor: true,
        email_verified: true,
        identities,
      }),
    );
    const json = { email: suspended.email, password: service.admin.password };
    expect(outcome(await other.api('POST', '/api/login', { json }))).toEqual(
      refusal(403, 'Account suspended'),
    );
    expect(admin?.created_at).toBe((await service.users())[0]?.created_at);
  });

  it('never overwrites a file', async () => {
    const file = out('precious');
    await writeFile(file, 'precious');
    const before = (await service.entries()).length;

    const { status, stderr } = await operate(['export-users', file]);

    expect(status).toBe(1);
    expect(stderr).toContain('exists already: choose another name');
    expect(await readFile(file, 'utf8')).toBe('precious');
    expect((await service.entries()).length).toBe(before);
  });

  it('writes each user once to standard output, and null where there is no password', async () => {
    const [with_, without] = [uniqueEmail(), uniqueEmail()];
    const [{ password_hash } = {}] = await service.users();
    const lines = [
      { name: 'N', email: with_, password_hash, email_verified: true },
      { name: 'N', email: without, password_hash: null, email_verified: false },
    ].map((line) => JSON.stringify(line));
    await writeFile(out('two.ndjson'), lines.join('\n'));
    await operate(['import-users', out('two.ndjson')]);

    const { status, stdout, stderr } = await operate(['export-users', '-']);

    const users = await service.users();
    expect([status, stderr]).toEqual([0, `Exported ${users.length} users.\n`]);
    expect([...parse(stdout)].sort((a, b) => Number(a.id) - Number(b.id))).toEqual(
      users.map(({ id, name, email, role, created_at, password_hash: hash, ...others }) => ({
        ...{ id, name, email, role, created_at },
        password_hash: email === without ? null : hash,
        email_verified: others.email_verified,
        auditor: others.auditor,
        suspended_at: others.suspended_at,
        attributes: others.attributes && JSON.parse(String(others.attributes)),
        // The id of an identity is another one where it is imported.
        identities: others.identities && [expect.not.objectContaining({ id: 0 })],
      })),
    );
  });
});
