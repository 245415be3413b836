import { DeleteCommand, PutCommand, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { describe, expect, inject, it, onTestFinished, vi } from 'vitest';
import { bucketArchive, kmsSigner } from '../../../lib/seal/aws.ts';
import { seal } from '../../../lib/seal/sealer.ts';
import { startAwsArchive } from '../../support/aws-archive.ts';
import { register } from '../../support/client.ts';
import { folderForThisFile } from '../../support/folder.ts';
import { operate, operatedServiceForThisFile } from '../../support/operator.ts';
import { memoryTable } from '../../support/sealed-trail.ts';
import { startTestService, type TestService } from '../../support/service.ts';
import { engineClient, type Item, scan, scanAudit } from '../../support/stored-items.ts';
import { archiveIn, becomesSealed } from '../local/sealed-archive.ts';
import { awsForThisTest } from './aws.ts';

const first = await operatedServiceForThisFile({ AUDIT_SEAL_INTERVAL: '1' });
const { folder, environment } = first;
const { USERS_TABLE = '', AUDIT_TABLE = '' } = environment;
const archive = archiveIn(folder);
const engine = engineClient(inject('engine'));
const state = folderForThisFile();

/** Runs a command on the stopped service, and keeps what verify-audit remembers in a folder of this test file. */
const run = (...args: readonly string[]) =>
  first.operate(args, '', { environment: { XDG_STATE_HOME: state } });

/** Starts the service on what is there, and stops it when all is sealed. */
const during = async <T>(work: (service: TestService) => Promise<T>): Promise<T> => {
  const service = await startTestService(environment);
  const done = await work(service);
  expect(await becomesSealed(service, archive)).toBe(true);
  await service.stop();
  return done;
};

const tables = [
  [USERS_TABLE, 'pk'],
  [AUDIT_TABLE, 'id'],
] as const;

const read = () => Promise.all(tables.map(([name]) => scan(inject('engine'), name)));

/** Puts the tables back as they were at the backup. */
const restore = async (backup: readonly (readonly Item[])[]): Promise<void> => {
  const now = await read();
  for (const [at, [TableName, key]] of tables.entries()) {
    for (const item of now[at] ?? []) {
      await engine.send(new DeleteCommand({ TableName, Key: { [key]: item[key] } }));
    }
    for (const item of backup[at] ?? []) {
      await engine.send(new PutCommand({ TableName, Item: item }));
    }
  }
};

const entries = () => scanAudit(inject('engine'), AUDIT_TABLE);

it('A restored service keeps its chain: no sealed entry is missing, no id is reused, tampering is found', async () => {
  const [ada, erin] = [await register(first.api), await register(first.api)];
  expect(await becomesSealed(first, archive)).toBe(true);
  await first.stop();
  const backup = await read();
  const restored = new Date().toISOString();
  const bob = await during(async ({ api }) => {
    await api('DELETE', `/api/users/${erin.id}`, { token: first.adminToken });
    return register(api);
  });
  const before = await entries();
  await restore(backup);
  expect((await run('verify-audit')).stdout).toMatch(/\nNOT INTACT: \d+ findings/);

  const ended = await run('replay-archive', '--restored', restored);
  const again = await run('replay-archive', '--restored', restored);

  const written = before.length - (backup[1]?.length ?? 0);
  expect(ended.stderr + again.stderr).not.toContain('Failed: ');
  expect(ended.stdout).toMatch(
    new RegExp(
      `^Users in the trail who are not in the table: ${bob.id}\nUsers who were deleted after that time, and are in the table again: ${erin.id}\nWritten: ${written}\\. Already there: \\d+\\. Files read: \\d+\\. Failed: 0\\.\n$`,
    ),
  );
  expect([ended.status, again.status]).toEqual([0, 0]);
  const after = new Map((await entries()).map((entry) => [entry.id, entry]));
  expect(before.map(({ id }) => after.get(id))).toEqual(before);
  const own = [...after.values()].filter(
    ({ user_agent }) => user_agent === 'operator replay-archive',
  );
  expect(own.map(({ details }) => JSON.parse(details ?? '').written).sort()).toEqual([0, written]);
  expect(own[0]).toMatchObject({ action: 'CREATE', resource: 'audit-logs', result: 'SUCCESS' });

  const dora = await during(({ api }) => register(api));

  expect(dora.id).toBeGreaterThan(bob.id);
  expect((await run('verify-audit')).stdout).toMatch(/\nIntact\.\n$/);
  const all = await entries();
  const [old = 0, recent = 0] = [ada, dora].map(
    ({ id }) => all.find(({ user_id }) => user_id === id)?.id,
  );
  await engine.send(
    new UpdateCommand({
      TableName: AUDIT_TABLE,
      Key: { id: old },
      UpdateExpression: 'SET ip_address = :forged',
      ExpressionAttributeValues: { ':forged': '192.0.2.66' },
    }),
  );
  await engine.send(new DeleteCommand({ TableName: AUDIT_TABLE, Key: { id: recent } }));
  const { stdout } = await run('verify-audit');
  expect(
    stdout.match(/^(changed|deleted|inserted|missing|altered|foreign|unsigned): \d+/gm),
  ).toEqual([`changed: ${old}`, `deleted: ${recent}`]);
});

describe('replay-archive', () => {
  /**
   * Makes a bucket with an empty seal file of the given time.
   * @returns a function that runs replay-archive with this bucket and the names of restored tables
   */
  const withFileOf = async (at: number) => {
    const aws = await startAwsArchive();
    onTestFinished(aws.stop);
    const { environment: ofService } = await awsForThisTest(first);
    const variables = { ...ofService, ...aws.environment };
    for (const [name, value] of Object.entries(variables)) vi.stubEnv(name, value);
    const sealing = { archive: bucketArchive('trail'), signer: await kmsSigner('key') };
    const source = memoryTable(Date.now);
    await seal({ ...sealing, source, interval: 300 }, new Date(at));
    vi.unstubAllEnvs();
    const tableOptions = ['--users-table', USERS_TABLE, '--audit-table', AUDIT_TABLE];
    const options = [...tableOptions, '--bucket', 'trail', '--key', 'key'];
    return (...args: readonly string[]) =>
      operate(['replay-archive', ...options, ...args], { environment: variables });
  };
  const restored = ['--restored', '2026-01-01T00:00:00Z'];

  it('accepts tables that no stack has, with the bucket and the key of their archive', async () => {
    const replay = await withFileOf(Date.now() - 901_000);

    const { status, stdout } = await replay(...restored);

    expect(stdout).toBe('Written: 0. Already there: 0. Files read: 1. Failed: 0.\n');
    expect(status).toBe(0);
  });

  it('refuses to run while a sealer may be running, and says until when', async () => {
    const replay = await withFileOf(Date.now());

    const { status, stderr } = await replay(...restored);

    expect(stderr).toMatch(
      /^A sealer may be running: the newest file was written at \S+Z\. Disable the rule that runs it, and try again from \S+Z on\.\n$/,
    );
    expect(status).toBe(1);
  });

  it('requires the time of the restore, and either all names or no name', async () => {
    const replay = await withFileOf(0);

    const without = await replay();
    const some = await operate(['replay-archive', '--bucket', 'trail', ...restored]);

    expect([without.status, some.status]).toEqual([2, 2]);
    expect(without.stderr).toBe('--restored must be the time to which the tables were restored.\n');
    expect(some.stderr).toMatch(/^Name one service: /);
  });
});
