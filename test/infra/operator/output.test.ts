import { existsSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { commands } from '../../../infra/operator/run.ts';
import { makeEntry } from '../../../lib/audit/entry.ts';
import { type Account, register, uniqueEmail } from '../../support/client.ts';
import { type Output, operatedServiceForThisFile } from '../../support/operator.ts';
import { verificationSettings } from '../../support/verification.ts';
import { archiveIn, becomesSealed } from '../local/sealed-archive.ts';

const service = await operatedServiceForThisFile({
  TOKEN_SIGNING: 'RS256',
  SESSION_DAYS: '90',
  AUDIT_SEAL_INTERVAL: '1',
  MACHINES: 'on',
  ...verificationSettings.on,
});
const { api, folder, operate, entries } = service;

const roleOf = async ({ id }: Account) =>
  (await service.users()).find((user) => user.id === id)?.role;

const hash = `$2b$04$${'a'.repeat(21)}e${'a'.repeat(30)}e`;
const [users, log] = [join(folder, 'users.ndjson'), join(folder, 'service.log')];
let plain: Account | undefined;
beforeAll(async () => {
  plain = await register(api);
  const user = { name: 'N', email: uniqueEmail(), password_hash: hash, email_verified: true };
  await writeFile(users, `${JSON.stringify(user)}\nno user\n`);
  const entry = makeEntry({ action: 'LOGIN', resource: 'users', result: 'SUCCESS' });
  const line = { event: 'audit-entry-not-written', writeId: 'write', entry };
  await writeFile(log, `${JSON.stringify(line)}\n`);
  expect(await becomesSealed(service, archiveIn(folder))).toBe(true);
});

/** A run of each command: its arguments, the action of the entry that it leaves, and its standard input. */
const runs: Readonly<Record<string, () => readonly [readonly string[], string, string?]>> = {
  'create-admin': () => [[uniqueEmail()], 'CREATE', 'a password'],
  'create-machine': () => [['Orders', '--scope', 'audit:write'], 'CREATE'],
  revoke: () => [[plain?.email ?? ''], 'LOGOUT'],
  'revoke-all': () => [[], 'LOGOUT'],
  'reset-password': () => [[plain?.email ?? ''], 'UPDATE'],
  'verify-email': () => [[plain?.email ?? ''], 'UPDATE'],
  'rotate-secret': () => [[], 'UPDATE'],
  'rotate-signing-key': () => [[], 'CREATE'],
  'import-users': () => [[users], 'CREATE'],
  'export-users': () => [['-'], 'EXPORT'],
  'replay-audit': () => [[log], 'CREATE'],
  'export-audit': () => [['-'], 'EXPORT'],
  'verify-audit': () => [[], 'READ'],
};

/** A service on one machine is not behind CloudFront, and its tables are not restored; a check records nothing. */
const others = ['edge-header', 'replay-archive', 'check-deployment'];
const names = Object.keys(commands).filter((name) => !others.includes(name));

const lastEntry = async () => (await entries()).at(-1);

describe.skipIf(!existsSync('/dev/full'))('A command whose output goes to a full disk', () => {
  it.each(names)('does its work and leaves its audit entry: %s', async (name) => {
    const [args, action, input] = runs[name]?.() ?? [[], 'not tried'];

    const { status } = await operate([name, ...args], input, {
      output: ['full disk', 'full disk'],
    });

    expect(status).toBe(name === 'verify-audit' ? 2 : 1);
    expect(await lastEntry()).toMatchObject({ user_agent: `operator ${name}`, action });
  });
});

describe('A command', () => {
  const sinks: readonly Output[] = ['full disk', 'closed pipe'];
  it.each(sinks.filter((sink) => sink !== 'full disk' || existsSync('/dev/full')))(
    'does its work, reports the fault and ends with 1 when its standard output is a %s',
    async (sink) => {
      const account = await register(api);

      const { status, stderr } = await operate(['create-admin', account.email], 'password', {
        output: [sink, 'pipe'],
      });

      expect(await roleOf(account)).toBe('admin');
      expect(await lastEntry()).toMatchObject({ action: 'UPDATE', result: 'SUCCESS' });
      expect(stderr).toMatch(/^Standard output cannot be written \((ENOSPC|EPIPE)\)/);
      expect(status).toBe(1);
    },
  );

  it('does its work when its standard error is a closed pipe', async () => {
    const { status, stdout } = await operate(['import-users', users], '', {
      output: ['pipe', 'closed pipe'],
    });

    expect(stdout).toBe('Imported: 0. Imported before: 1. Lines rejected: 1.\n');
    expect(await lastEntry()).toMatchObject({
      user_agent: 'operator import-users',
      result: 'FAILURE',
    });
    expect(status).toBe(1);
  });

  it('ends with 2 after wrong usage when its output is a closed pipe', async () => {
    const output = ['closed pipe', 'closed pipe'] as const;

    expect((await operate(['create-admin'], '', { output })).status).toBe(2);
  });
});
