/** Every command of infra/runbooks.md on a service that runs, one that is stopped, and ones whose options are off. */
import { randomUUID } from 'node:crypto';
import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { commands } from '../../../infra/operator/run.ts';
import { makeEntry } from '../../../lib/audit/entry.ts';
import { uniqueEmail } from '../../support/client.ts';
import { folderForThisFile } from '../../support/folder.ts';
import {
  type OperatedService,
  operatedServiceForThisFile,
  saidOfStopped,
} from '../../support/operator.ts';
import { until } from '../../support/until.ts';
import { newAccount, sendRegistration, verificationSettings } from '../../support/verification.ts';
import { archiveIn } from '../local/sealed-archive.ts';

const folder = folderForThisFile();
const password = 'a long password';
const seal = { AUDIT_SEAL_INTERVAL: '1' };
const services = {
  on: await operatedServiceForThisFile({
    ...verificationSettings.required,
    ...seal,
    SESSION_DAYS: '90',
    SECOND_FACTOR: 'optional',
    TOKEN_SIGNING: 'RS256',
    PASSWORD_MIN_LENGTH: '12',
    MACHINES: 'on',
  }),
  off: await operatedServiceForThisFile({ ...seal, JWT_SECRET: 'x'.repeat(40) }),
} as const;
// An earlier start, which had no JWT_SECRET, has left its own one.
writeFileSync(join(services.off.folder, 'jwt-secret.json'), '[]');

/** Whoever registers has not verified the address. */
const registered = async ({ api }: OperatedService): Promise<string> => {
  const account = newAccount();
  expect((await sendRegistration(api, account)).status).toBe(201);
  return account.email;
};
const subjects = {
  on: { running: await registered(services.on), stopped: await registered(services.on) },
  off: { running: await registered(services.off), stopped: await registered(services.off) },
} as const;

type Options = keyof typeof services;
type State = 'running' | 'stopped';

const fileOf = (...lines: readonly object[]): string => {
  const file = join(folder, randomUUID());
  writeFileSync(file, lines.map((line) => `${JSON.stringify(line)}\n`).join(''));
  return file;
};

const importedUser = (fields: object) => ({
  name: 'N',
  email: uniqueEmail(),
  password_hash: null,
  ...fields,
});
const unwrittenEntry = () => ({
  event: 'audit-entry-not-written',
  writeId: randomUUID(),
  entry: makeEntry({ action: 'DELETE', resource: 'users', resource_id: 8, result: 'SUCCESS' }),
});

/** The exit status, and text of the output. */
type Outcome = readonly [status: number, text: string];

interface Row {
  readonly args: (email: string) => readonly string[];
  /** Where the options are on; and while it is stopped, where that differs. */
  readonly on: Outcome;
  readonly stopped?: Outcome;
  /** Where they are off, while it runs and while it is stopped. */
  readonly off: Outcome;
}

const noSessions: Outcome = [1, 'This service has no sessions, because sessionDays is 0'];
const alike = (...outcome: Outcome) => ({ on: outcome, off: outcome });

const rows: Readonly<Record<string, Row>> = {
  'create-admin': {
    args: () => ['create-admin', uniqueEmail()],
    ...alike(0, 'Created the admin with id '),
  },
  'create-machine': {
    args: () => ['create-machine', 'Orders', '--scope', 'audit:write'],
    on: [0, 'mk_'],
    off: [1, 'This service has no machines: see the setting machines.'],
  },
  revoke: {
    args: (email) => ['revoke', email],
    on: [0, 'The sessions of user '],
    off: noSessions,
  },
  'revoke-all': {
    args: () => ['revoke-all'],
    on: [0, 'users are ended; they can log in again.'],
    off: noSessions,
  },
  'reset-password': {
    args: (email) => ['reset-password', email],
    on: [0, 'https://app.example.com/reset#token='],
    off: [1, 'This service resets no passwords: that requires the setting mailFrom.'],
  },
  'verify-email': {
    args: (email) => ['verify-email', email],
    on: [0, 'The address of user '],
    off: [1, 'This service verifies no addresses: see the setting emailVerification.'],
  },
  'rotate-secret': {
    args: () => ['rotate-secret', '--force'],
    on: [0, 'Rotated at '],
    off: [
      1,
      'The signing secret is not in the data folder: this service reads it from JWT_SECRET.',
    ],
  },
  'rotate-signing-key': {
    args: () => ['rotate-signing-key'],
    on: [0, 'Published the key '],
    stopped: [1, 'is published already. Next: --sign'],
    off: [1, 'A secret signs the tokens of this service: see rotate-secret.'],
  },
  'edge-header': {
    args: () => ['edge-header'],
    ...alike(1, 'This service is not behind CloudFront'),
  },
  'import-users': {
    args: () => ['import-users', fileOf(importedUser({ email_verified: false }))],
    ...alike(0, 'Imported: 1. Imported before: 0. Lines rejected: 0.'),
  },
  'export-users': { args: () => ['export-users', '-'], ...alike(0, 'Exported ') },
  'replay-audit': {
    args: () => ['replay-audit', fileOf(unwrittenEntry())],
    ...alike(0, 'Entries in the table: 1. Other lines: 0. Malformed: 0.'),
  },
  // On a service that is restored: replay-archive.test.ts.
  'replay-archive': {
    args: () => ['replay-archive'],
    ...alike(2, '--restored must be the time to which'),
  },
  'export-audit': { args: () => ['export-audit', '-'], ...alike(0, 'Exported ') },
  // On a service that runs: check-deployment.test.ts.
  'check-deployment': {
    args: () => ['check-deployment', '--url', 'accounts'],
    ...alike(2, '--url must be an address'),
  },
  // The last second may wait to be sealed, so that a command cannot tell.
  'verify-audit': {
    args: () => ['verify-audit', '--until', '2026-01-01'],
    ...alike(0, 'Intact.'),
  },
};

it('The table has every command', () => {
  expect(Object.keys(rows).sort()).toEqual(Object.keys(commands).sort());
});

/** Runs a command in a shell that knows nothing of the service. */
const run = (
  options: Options,
  args: readonly string[],
  { input = password, environment = {} }: { input?: string; environment?: object } = {},
) =>
  services[options].operate(args, input, {
    environment: { XDG_STATE_HOME: folder, ...environment },
  });

const everyCommand = (options: Options, state: State) =>
  it.each(Object.entries(rows))('%s', async (_, row) => {
    const { users, entries } = services[options];
    const before = [await users(), await entries()];

    const { status, stdout, stderr } = await run(options, row.args(subjects[options][state]));

    const [expected, text] =
      (state === 'stopped' && options === 'on' && row.stopped) || row[options];
    expect([status, stdout + stderr]).toEqual([expected, expect.stringContaining(text)]);
    if (state === 'stopped') expect(stderr).toMatch(saidOfStopped);
    // A command that is refused changes nothing and records nothing.
    if (status !== 0) expect([await users(), await entries()]).toEqual(before);
  });

/** What holds of whom commands make and write, whatever the settings are. */
const marks = (options: Options) => {
  const marksOf = async (emails: readonly string[]) => {
    const users = await services[options].users();
    return emails.map((email) => users.find((user) => user.email === email)?.email_verified);
  };

  it('stores that a user whom a start or create-admin creates is verified', async () => {
    const [made, promoted] = [uniqueEmail(), await imported(options)];
    const { email: ofStart } = services[options].admin;
    for (const email of [made, promoted]) {
      expect((await run(options, ['create-admin', email])).status).toBe(0);
    }

    expect(await marksOf([made, promoted, ofStart])).toEqual([true, true, true]);
  });

  it('stores whether each imported user is verified, as the line says', async () => {
    const lines = [true, false].map((email_verified) => importedUser({ email_verified }));

    const { stdout } = await run(options, ['import-users', fileOf(...lines)]);

    expect(stdout).toContain('Imported: 2.');
    expect(await marksOf(lines.map(({ email }) => email))).toEqual([true, false]);
  });

  it('exports whether each user is verified', async () => {
    const { stdout } = await run(options, ['export-users', '-']);

    const users = stdout
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(new Set(users.map(({ email_verified }) => email_verified))).toEqual(
      new Set([true, false]),
    );
  });
};

/** A user who is not verified. */
const imported = async (options: Options): Promise<string> => {
  const user = importedUser({ email_verified: false });
  await run(options, ['import-users', fileOf(user)]);
  return user.email;
};

describe.each(['on', 'off'] as const)('A service whose options are %s', (options) => {
  const service = services[options];
  beforeAll(() => until(() => archiveIn(service.folder).files().length > 0));

  describe('while it runs, has the command', () => everyCommand(options, 'running'));
  describe('while it runs,', () => marks(options));

  describe('while it is stopped, has the command', () => {
    beforeAll(() => service.stop());
    everyCommand(options, 'stopped');
  });
  describe('while it is stopped,', () => marks(options));
});

describe('A stopped service', () => {
  const { folder: data, admin } = services.on;
  const file = join(data, 'settings.json');

  it('keeps its settings in a file that only its owner can read, without a secret', () => {
    const text = readFileSync(file, 'utf8');

    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(JSON.parse(text).variables).toMatchObject({
      SESSION_DAYS: '90',
      TOKEN_SIGNING: 'RS256',
    });
    const kept = ['jwt-secret.json', 'second-factor.key', 'token-key-first', 'audit-seal-key.pem'];
    const secrets = kept.map((name) => readFileSync(join(data, name), 'utf8').trim());
    for (const secret of [admin.password, ...secrets]) expect(text).not.toContain(secret);
    expect(readFileSync(join(services.off.folder, 'settings.json'), 'utf8')).not.toContain('xxxx');
  });

  it('applies the password rules of its start, and names variables of the shell that differ', async () => {
    const same = { SESSION_DAYS: '090', EMAIL_VERIFICATION: 'required', DOCS: '' };
    const environment = { ...same, PASSWORD_MIN_LENGTH: '1', SECOND_FACTOR: 'nonsense' };

    const { status, stderr } = await run('on', ['create-admin', uniqueEmail()], {
      input: 'too short',
      environment,
    });

    expect(status).toBe(1);
    expect(stderr).toMatch(saidOfStopped);
    expect(stderr.replace(saidOfStopped, '')).toBe(
      'These variables of the shell differ from them and do not count: PASSWORD_MIN_LENGTH, SECOND_FACTOR.\npassword must be at least 12 characters.\n',
    );
  });

  it.each([
    ['USERS_TABLE', 'others', 'table'],
    ['AUDIT_TABLE', 'others', 'table'],
    ['AWS_ENDPOINT_URL_DYNAMODB', 'http://127.0.0.1:1', 'engine'],
  ])('refuses in one sentence a shell where %s is %s', async (name, value, what) => {
    const before = await services.on.users();

    const ended = await run('on', ['revoke-all'], { environment: { [name]: value } });

    const stderr = expect.stringMatching(
      new RegExp(
        `^${name} names another ${what} than the start of the service at [\\dT:-]{19}Z: unset it, or start the service with it\\.\\n$`,
      ),
    );
    expect(ended).toEqual({ status: 1, stdout: '', stderr });
    expect(await services.on.users()).toEqual(before);
  });

  it('says in one sentence that its settings cannot be read', async () => {
    writeFileSync(file, '{');

    const ended = await run('on', ['revoke-all']);

    const stderr = `${file} cannot be read: start the service, which writes it anew.\n`;
    expect(ended).toEqual({ status: 1, stdout: '', stderr });
  });
});
