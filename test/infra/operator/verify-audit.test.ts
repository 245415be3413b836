import { cpSync, mkdtempSync, renameSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DeleteCommand, PutCommand, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { beforeAll, beforeEach, describe, expect, inject, it, onTestFinished, vi } from 'vitest';
import { makeEntry } from '../../../lib/audit/entry.ts';
import { bucketArchive } from '../../../lib/audit/seal/bucket.ts';
import { kmsSigner } from '../../../lib/audit/seal/kms-key.ts';
import { sealWindow } from '../../../lib/audit/seal/sealer.ts';
import { auditEntries } from '../../../lib/audit/seal/table.ts';
import { toItem } from '../../../lib/audit/store.ts';
import { startAwsArchive } from '../../support/aws-archive.ts';
import { register } from '../../support/client.ts';
import { operate, operatedServiceForThisFile, operatorEntry } from '../../support/operator.ts';
import { engineClient, scanAudit } from '../../support/stored-items.ts';
import { archiveIn, becomesSealed, type SealedArchive } from '../local/sealed-archive.ts';
import { awsForThisTest } from './aws.ts';

const makeFolder = () => {
  const folder = mkdtempSync(join(tmpdir(), 'verify-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
};

const service = await operatedServiceForThisFile({ AUDIT_SEAL_INTERVAL: '1' });
const { USERS_TABLE = '', AUDIT_TABLE: TableName = '' } = service.environment;
const engine = engineClient(inject('engine'));
const archive: SealedArchive = archiveIn(service.folder);
const users: number[] = [];

/** The service stands still: what is sealed stays as it is, and tests take turns to tamper. */
beforeAll(async () => {
  for (let user = 0; user < 4; user += 1) users.push((await register(service.api)).id);
  expect(await becomesSealed(service, archive)).toBe(true);
  await service.stop();
});

let state: string;
beforeEach(() => {
  state = makeFolder();
});

/** Runs it with a memory of this test's own. */
const verify = (...args: readonly string[]) =>
  operate(['verify-audit', ...args], {
    environment: {
      XDG_STATE_HOME: state,
      AWS_ENDPOINT_URL_DYNAMODB: inject('engine'),
      ...{ USERS_TABLE, AUDIT_TABLE: TableName },
    },
  });
const verifyLocal = (...args: readonly string[]) => verify(`--local=${service.folder}`, ...args);
const verifyCopy = (folder: string) =>
  verify('--archive', folder, '--public-key', join(archive.folder, 'public-key.pem'));

const entryOf = async (user: number) => {
  const entries = await scanAudit(inject('engine'), TableName);
  const entry = entries.find(({ user_id, action }) => user_id === user && action === 'CREATE');
  if (!entry) throw new Error(`There is no entry of user ${user}`);
  onTestFinished(async () => {
    await engine.send(new PutCommand({ TableName, Item: entry }));
  });
  return entry;
};

describe('verify-audit', () => {
  it('ends with 0 when nobody touched the trail, and leaves an entry', async () => {
    const { status, stdout } = await verifyLocal();

    expect(stdout).toMatch(
      /^Key: {6}[0-9a-f]{64} \(SHA-256\)\nVerified: \d+ windows with \d+ entr/,
    );
    expect(stdout).toContain('\nIntact.\n');
    expect(status).toBe(0);
    expect((await service.entries()).at(-1)).toMatchObject(
      operatorEntry('verify-audit', {
        action: 'READ',
        resource: 'audit-logs',
        details: { windows: archive.names().length, faults: 0 },
      }),
    );
  });

  it('names by id what was changed, with the values before and after, deleted, hidden or inserted', async () => {
    const [changed, deleted, hidden] = await Promise.all(users.slice(0, 3).map(entryOf));
    const of = (id: number | undefined) => ({ TableName, Key: { id } });
    const edit = (id: number | undefined, name: string, value: unknown) =>
      engine.send(
        new UpdateCommand({
          ...of(id),
          UpdateExpression: 'SET #name = :value',
          ExpressionAttributeNames: { '#name': name },
          ExpressionAttributeValues: { ':value': value },
        }),
      );
    const action = { action: 'DELETE', resource: 'users', result: 'SUCCESS' } as const;
    const forged = makeEntry(action, { now: new Date('2026-03-01') });
    await edit(changed?.id, 'ip_address', '192.0.2.66');
    await engine.send(new DeleteCommand(of(deleted?.id)));
    await edit(hidden?.id, 'action_shard', 'LOGIN#0');
    await engine.send(new PutCommand({ TableName, Item: toItem(forged, { writeId: 'forged' }) }));
    onTestFinished(async () => {
      await engine.send(new DeleteCommand(of(forged.id)));
    });

    const { status, stdout } = await verifyLocal();

    expect(stdout).toContain(`changed: ${changed?.id} is not what was sealed
    ip_address: ${JSON.stringify(changed?.ip_address)} -> "192.0.2.66"\n`);
    expect(stdout).toContain(`deleted: ${deleted?.id} was sealed`);
    expect(stdout).toContain(`hidden: ${hidden?.id} lacks keys of indexes`);
    expect(stdout).toContain(`inserted: ${forged.id} is in the table, but`);
    expect(stdout).toContain('NOT INTACT: 4 findings, above.');
    expect(status).toBe(1);
  });

  it('says that the newest digests are gone that it has seen', async () => {
    expect((await verifyLocal()).status).toBe(0);
    const newest = archive.names().at(-1) ?? '';
    const aside = join(makeFolder(), newest);
    renameSync(join(archive.folder, newest), aside);
    onTestFinished(() => renameSync(aside, join(archive.folder, newest)));

    const { status, stdout } = await verifyLocal();

    expect(stdout).toContain(`shorter: ${newest} was the newest digest`);
    expect(status).toBe(1);
  });

  it('verifies the windows of a time alone', async () => {
    const [, second] = archive.digests();

    const { status, stdout } = await verifyLocal('--until', second?.from ?? '');

    expect(stdout).toContain('Verified: 1 window with');
    expect(status).toBe(0);
  });

  it('verifies a copy by a public key, with nothing of the service at hand', async () => {
    const copy = makeFolder();
    cpSync(archive.folder, copy, { recursive: true });
    expect((await verifyCopy(copy)).status).toBe(0);
    const [, second = ''] = archive.names();
    rmSync(join(copy, second));

    const { status, stdout } = await verifyCopy(copy);

    expect(stdout).toMatch(/^missing: \S+Z has no digest/);
    expect(status).toBe(1);
  });

  it('verifies a deployed trail by its bucket and its key, and says when that is not sealed any more', async () => {
    const seal = await startAwsArchive();
    onTestFinished(seal.stop);
    const outputs = { AuditArchiveBucketName: 'trail', AuditSealKeyArn: 'key' };
    const { environment } = await awsForThisTest(service, outputs);
    for (const [name, value] of Object.entries({ ...environment, ...seal.environment })) {
      vi.stubEnv(name, value);
    }
    onTestFinished(() => void vi.unstubAllEnvs());
    const sealing = {
      archive: bucketArchive('trail'),
      signer: await kmsSigner('key'),
      interval: 1,
    };
    const source = { ...auditEntries, between: async function* () {} };
    await sealWindow({ ...sealing, source }, new Date('2026-01-02'));

    const verifyStack = (...args: readonly string[]) =>
      operate(['verify-audit', '--stack', 'accounts', ...args], {
        environment: { ...environment, ...seal.environment, XDG_STATE_HOME: state },
      });

    const all = await verifyStack();
    const until = await verifyStack('--until', '2026-02-01');
    const within = await verifyStack('--until', '2026-01-01');
    const after = await verifyStack('--since', '2026-01-02', '--until', '2099-01-01');

    for (const { status, stdout } of [all, until]) {
      expect(stdout).toMatch(/^behind: 2026-01-01T23:59:59.000Z is the end of the newest window/);
      expect(status).toBe(1);
    }
    expect(all.stdout).toMatch(/\nUnsealed: [1-9]\d*, too new\n/);
    expect([within.status, within.stdout]).toEqual([0, expect.stringContaining('\nIntact.\n')]);
    expect([after.status, after.stdout]).toEqual([2, '']);
    expect(after.stderr).toBe(
      'Nothing of that time is sealed: the newest window ends at 2026-01-01T23:59:59.000Z.\n',
    );
  });

  it('ends with 2 when the stack does not seal', async () => {
    const { environment } = await awsForThisTest(service);

    const { status, stderr } = await operate(['verify-audit', '--stack', 'accounts'], {
      environment,
    });

    expect(stderr).toContain('deploy it with auditSeal=on');
    expect(status).toBe(2);
  });

  it.each([
    ['a copy without a key', () => ['--archive', service.folder], '--archive needs --public-key'],
    ['a time that is none', () => ['--archive', makeFolder(), '--since', 'noon'], '--since must'],
    [
      'an archive without digests',
      () => ['--archive', makeFolder(), '--public-key', join(archive.folder, 'public-key.pem')],
      'Nothing was verified',
    ],
    ['a folder that is no service’s', () => [`--local=${makeFolder()}`], 'There is no data in'],
  ])('ends with 2 when it cannot tell: %s', async (_, args, message) => {
    const { status, stdout, stderr } = await operate(['verify-audit', ...args()], {
      environment: { XDG_STATE_HOME: state },
    });

    expect(stderr).toContain(message);
    expect([status, stdout]).toEqual([2, '']);
  });
});
