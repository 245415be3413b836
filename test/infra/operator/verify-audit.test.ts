import { randomUUID } from 'node:crypto';
import { cpSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DeleteCommand, PutCommand, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import {
  afterEach,
  beforeAll,
  beforeEach,
  describe,
  expect,
  inject,
  it,
  onTestFinished,
  vi,
} from 'vitest';
import {
  announceRunning,
  forgetRunning,
  lockFolder,
  type RunningService,
  readRunning,
} from '../../../infra/local/data-folder.ts';
import { environmentDefaults } from '../../../infra/local-settings.ts';
import { type AuditedAction, makeEntry } from '../../../lib/audit/entry.ts';
import { toItem } from '../../../lib/audit/record.ts';
import { postEntries } from '../../../lib/options/machines/post-entries.ts';
import { bucketArchive, kmsSigner } from '../../../lib/seal/aws.ts';
import { folderArchive, localSigner, makeKey } from '../../../lib/seal/folder-archive.ts';
import { type Sealing, seal } from '../../../lib/seal/sealer.ts';
import { auditEntries } from '../../../lib/seal/table.ts';
import { startAwsArchive } from '../../support/aws-archive.ts';
import { register } from '../../support/client.ts';
import { folderForThisTest } from '../../support/folder.ts';
import { operate, operatedServiceForThisFile, operatorEntry } from '../../support/operator.ts';
import { engineClient, scanAudit } from '../../support/stored-items.ts';
import { until } from '../../support/until.ts';
import { archiveIn, becomesSealed, type SealedArchive } from '../local/sealed-archive.ts';
import { awsForThisTest } from './aws.ts';

const service = await operatedServiceForThisFile({ AUDIT_SEAL_INTERVAL: '1' });
const { USERS_TABLE = '', AUDIT_TABLE: TableName = '' } = service.environment;
const engine = engineClient(inject('engine'));
const archive: SealedArchive = archiveIn(service.folder);
let running: RunningService | undefined;
const users: number[] = [];

/** The service stands still: what is sealed stays as it is, and tests take turns to tamper. */
beforeAll(async () => {
  for (let user = 0; user < 4; user += 1) users.push((await register(service.api)).id);
  expect(await becomesSealed(service, archive)).toBe(true);
  await until(() => archive.files().length > 4);
  running = readRunning(service.folder);
  await service.stop();
});

/** Makes it look as if the service ran, until the test ends. */
const pretendRunning = (sealInterval = 86_400) => {
  if (!running) throw new Error('The service has left no word of itself');
  const unlock = lockFolder(service.folder);
  announceRunning(service.folder, { ...running, sealInterval });
  onTestFinished(() => {
    forgetRunning(service.folder);
    unlock?.();
  });
};

let state: string;
beforeEach(() => {
  state = folderForThisTest();
});

/** Runs it with a memory of this test's own. */
const verify = (...args: readonly string[]) =>
  operate(['verify-audit', ...args], {
    environment: {
      XDG_STATE_HOME: state,
      AWS_ENDPOINT_URL_DYNAMODB: inject('engine'),
      USERS_TABLE,
      AUDIT_TABLE: TableName,
    },
  });
const verifyLocal = (...args: readonly string[]) => verify(`--local=${service.folder}`, ...args);

/** A copy of the public key. */
const keyFile = (): string => {
  const file = join(folderForThisTest(), 'public.pem');
  cpSync(join(archive.folder, 'public-key.pem'), file);
  return file;
};
const verifyCopy = (folder: string, ...args: readonly string[]) =>
  verify('--archive', folder, '--public-key', keyFile(), ...args);

const makeCopy = (): string => {
  const copy = folderForThisTest();
  cpSync(archive.folder, copy, { recursive: true });
  return copy;
};

const nameOf = (at: number): string => archive.files().at(at)?.name ?? '';

/** Takes a file or a folder away until the test ends. */
const putAside = (path: string): void => {
  const aside = join(folderForThisTest(), 'aside');
  renameSync(path, aside);
  onTestFinished(() => {
    rmSync(path, { recursive: true, force: true });
    renameSync(aside, path);
  });
};

afterEach(() => void vi.unstubAllEnvs());

/** Makes this process use the tables of the service. */
const stubTable = (): void => {
  const tables = { USERS_TABLE, AUDIT_TABLE: TableName };
  const all = { ...environmentDefaults, ...tables, AWS_ENDPOINT_URL_DYNAMODB: inject('engine') };
  for (const [name, value] of Object.entries(all)) vi.stubEnv(name, value);
};

/** Seals the table in this process. */
const sealTable = async (
  sealing: Omit<Sealing, 'source' | 'interval'>,
  now = new Date(),
): Promise<void> => {
  stubTable();
  await seal({ ...sealing, source: auditEntries, interval: 1 }, now);
  vi.unstubAllEnvs();
};

/** Has all entries sealed anew, in a new archive by a new key. @returns the public key's file */
const sealAnew = async (): Promise<string> => {
  const [pem, key] = [makeKey(), join(service.folder, 'audit-seal-key.pem')];
  putAside(key);
  putAside(archive.folder);
  writeFileSync(key, pem);
  const signer = localSigner(pem);
  await sealTable({ archive: folderArchive(archive.folder), signer });
  const file = join(folderForThisTest(), 'public.pem');
  for (const shown of [file, join(archive.folder, 'public-key.pem')]) {
    writeFileSync(shown, signer.publicKey.export({ type: 'spki', format: 'pem' }));
  }
  return file;
};

const entryOf = async (user: number) => {
  const entries = await scanAudit(inject('engine'), TableName);
  const entry = entries.find(({ user_id, action }) => user_id === user && action === 'CREATE');
  if (!entry) throw new Error(`There is no entry of user ${user}`);
  onTestFinished(async () => {
    await engine.send(new PutCommand({ TableName, Item: entry }));
  });
  return entry;
};

/** Writes an entry of the past to the table, past the service, until the test ends. @returns its id */
const forge = async (
  now = new Date('2026-03-01'),
  action: Partial<AuditedAction> = {},
): Promise<number> => {
  const entry = makeEntry(
    { action: 'DELETE', resource: 'users', result: 'SUCCESS', ...action },
    { now },
  );
  await engine.send(new PutCommand({ TableName, Item: toItem(entry, { writeId: 'forged' }) }));
  onTestFinished(async () => {
    await engine.send(new DeleteCommand({ TableName, Key: { id: entry.id } }));
  });
  return entry.id;
};

/** Has a machine post an entry at each of several times, each time by another request, until the test ends. */
const postEach = async (times: readonly Date[]): Promise<readonly number[]> => {
  stubTable();
  const entries = [{ action: 'CREATE', resource: 'shop.orders', result: 'SUCCESS' }] as const;
  const ids: number[] = [];
  for (const now of times) {
    const request = { machine: 1, key: now.toISOString(), request_id: randomUUID() };
    const { stored } = await postEntries({ ...request, entries }, { now });
    ids.push(...stored.map(({ id }) => id));
  }
  vi.unstubAllEnvs();
  onTestFinished(async () => {
    for (const id of ids) await engine.send(new DeleteCommand({ TableName, Key: { id } }));
  });
  return ids;
};

describe('verify-audit', () => {
  it('ends with 0 if nobody changed the trail, and leaves an entry', async () => {
    pretendRunning();

    const { status, stdout } = await verifyLocal();

    expect(stdout).toMatch(/^Key: {6}[0-9a-f]{64} \(SHA-256\)\nVerified: \d+ files with \d+ entr/);
    expect(stdout).toContain('\nIntact.\n');
    expect(status).toBe(0);
    expect((await service.entries()).at(-1)).toMatchObject(
      operatorEntry('verify-audit', {
        action: 'READ',
        resource: 'audit-logs',
        details: { files: archive.files().length, findings: 0 },
      }),
    );
  });

  it('ends with 0 over a day of entries of the service and of machines, after requests were repeated', async () => {
    pretendRunning();
    const now = Date.now();
    const hours = Array.from({ length: 24 }, (_, hour) => new Date(now - (hour + 1) * 3_600_000));
    for (const hour of hours) await forge(hour);
    const first = await postEach(hours);
    const newKey = await sealAnew();
    const again = await postEach(hours);

    const { status, stdout } = await verifyLocal('--public-key', newKey);

    expect(again).toEqual(first);
    expect(stdout).toContain('\nIntact.\n');
    expect(status).toBe(0);
    const { ids } = archive.files().at(-1) ?? expect.unreachable();
    expect(ids).toEqual(expect.arrayContaining([...first]));
  });

  it('names by id the changed entries with both values, the deleted entries and the inserted entries', async () => {
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
    await edit(changed?.id, 'ip_address', '192.0.2.66');
    await engine.send(new DeleteCommand(of(deleted?.id)));
    await edit(hidden?.id, 'action_shard', 'LOGIN#0');
    const forged = await forge();

    const { status, stdout } = await verifyLocal();

    expect(stdout).toContain(`changed: ${changed?.id} was changed after it was sealed
    ip_address: ${JSON.stringify(changed?.ip_address)} -> "192.0.2.66"\n`);
    expect(stdout).toContain(`deleted: ${deleted?.id} was sealed`);
    expect(stdout).toMatch(
      new RegExp(`changed: ${hidden?.id} .*\n    action_shard: "CREATE#\\d" -> "LOGIN#0"\n`),
    );
    expect(stdout).toContain(`inserted: ${forged} is in the table, but`);
    expect(stdout).toContain('NOT INTACT: 4 findings, above.');
    expect(status).toBe(1);
  });

  it('prints 20 findings of a kind and the number of others, and writes all findings to a file', async () => {
    const forged: number[] = [];
    for (let made = 0; made < 23; made += 1) forged.push(await forge(new Date(made)));
    const file = join(folderForThisTest(), 'known.ndjson');

    const { status, stdout } = await verifyLocal('--write-known', file);

    expect(stdout.match(/^inserted: \d+ is/gm)).toHaveLength(20);
    expect(stdout).toContain('\ninserted: 3 more, which --write-known lists\n');
    expect(stdout).toContain('NOT INTACT: 23 findings, above.');
    const written = readFileSync(file, 'utf8').trimEnd().split('\n');
    expect(written.map((line) => Number(JSON.parse(line).subject)).sort()).toEqual(forged.sort());
    expect(status).toBe(1);
  });

  it('says that the newest file it has seen is missing, also after a run with findings', async () => {
    pretendRunning();
    const changed = await entryOf(users[3] ?? 0);
    const Item = { ...changed, ip_address: '192.0.2.66' };
    await engine.send(new PutCommand({ TableName, Item }));
    expect((await verifyLocal()).status).toBe(1);
    const newest = nameOf(-1);
    putAside(join(archive.folder, newest));

    const { status, stdout } = await verifyLocal();

    expect(stdout).toContain(`shorter: ${newest} was the newest file`);
    expect(status).toBe(1);
  });

  it('says first that the key has changed, until --public-key confirms the new key', async () => {
    pretendRunning();
    expect((await verifyLocal()).status).toBe(0);
    const newKey = await sealAnew();

    const unexpected = await verifyLocal();
    const pinned = await verifyLocal('--public-key', newKey);
    const later = await verifyLocal();

    expect(unexpected.stdout).toMatch(/^new key: [0-9a-f]{64} is another key than at/);
    expect(unexpected.stdout).toContain('NOT INTACT: 1 finding, above.');
    expect([unexpected, pinned, later].map(({ status }) => status)).toEqual([1, 0, 0]);
  });

  it('says first that the key differs from the key of --public-key', async () => {
    const file = join(folderForThisTest(), 'public.pem');
    const { publicKey } = localSigner(makeKey());
    writeFileSync(file, publicKey.export({ type: 'spki', format: 'pem' }));
    await forge();

    const other = await verifyLocal('--public-key', file);
    const ofCopy = await verify('--archive', makeCopy(), '--public-key', file);

    expect(other.stdout).toMatch(/^other key: [0-9a-f]{64} is not the key of --public-key/);
    expect(ofCopy.stdout).toMatch(
      /^unsigned: files 1 to \d+ .*\n {4}It names the key [0-9a-f]{64}\n/,
    );
    expect(ofCopy.stdout).toContain('\nNOT INTACT: 2 findings, above.\n');
    expect([other.status, ofCopy.status]).toEqual([1, 1]);
  });

  it('says how many entries wait at a stopped service, and ends with 2', async () => {
    // Its own entry is one.
    await verifyLocal();

    const { status, stdout } = await verifyLocal();

    expect(stdout).toMatch(
      /\nCANNOT TELL: \d+ entr.* since 2026-\S+Z, in no file\. Either the service/,
    );
    expect(stdout).not.toContain('Intact');
    expect(status).toBe(2);
  });

  it('says that the newest file of a running service is too old, and ends with 2', async () => {
    const pem = readFileSync(join(service.folder, 'audit-seal-key.pem'), 'utf8');
    const key = readFileSync(join(archive.folder, 'public-key.pem'));
    putAside(archive.folder);
    const sealing = { archive: folderArchive(archive.folder), signer: localSigner(pem) };
    await sealTable(sealing, new Date('2026-01-02'));
    writeFileSync(join(archive.folder, 'public-key.pem'), key);
    pretendRunning(60);

    const { status, stdout } = await verifyLocal();

    expect(stdout).toMatch(
      /\nCANNOT TELL: the newest file ends at 2026-01-01T23:59:59.000Z; \d+ entries wait since \S+Z, in no file\. Either sealing has stopped/,
    );
    expect(status).toBe(2);
  });

  it('writes its findings to a file of known findings, and does not count these until they change', async () => {
    pretendRunning();
    const changed = await entryOf(users[0] ?? 0);
    const of = { TableName, Item: { ...changed, ip_address: '192.0.2.66' } };
    await engine.send(new PutCommand(of));
    const file = join(folderForThisTest(), 'known.ndjson');

    const first = await verifyLocal('--write-known', file);
    const line = JSON.parse(readFileSync(file, 'utf8'));
    writeFileSync(file, `${JSON.stringify({ ...line, reason: 'the clock was wrong' })}\n`);
    const known = await verifyLocal('--known', file);
    await engine.send(new PutCommand({ ...of, Item: { ...of.Item, ip_address: '192.0.2.67' } }));
    const again = await verifyLocal('--known', file);

    expect(line).toEqual({
      kind: 'changed',
      subject: String(changed.id),
      reason: '',
      sha256: expect.stringMatching(/^[0-9a-f]{64}$/),
    });
    expect([first.status, known.status, again.status]).toEqual([1, 0, 1]);
    expect(known.stdout).toContain(`known: changed: ${changed.id} was changed after it was sealed`);
    expect(known.stdout).toContain('    reason: the clock was wrong\n');
    expect(known.stdout).toContain('\nIntact. Known: 1 finding.\n');
    expect(again.stdout).toContain('NOT INTACT: 1 finding, above.');
  });

  // biome-ignore format: a table
  it.each([
    ['is not there', undefined, 'it is not there'],
    ['is no key', 'x', 'it is no public key'],
    ['is the private key', readFileSync(join(service.folder, 'audit-seal-key.pem'), 'utf8'), 'it is no public key'],
    ['is another key', localSigner(makeKey()).publicKey.export({ type: 'spki', format: 'pem' }), 'it is [0-9a-f]{64}'],
  ])('says that the public key in the archive %s', async (_, content, message) => {
    const copy = makeCopy();
    const shown = join(archive.folder, 'public-key.pem');
    const kept = keyFile();
    putAside(shown);
    rmSync(join(copy, 'public-key.pem'));
    for (const file of content ? [shown, join(copy, 'public-key.pem')] : []) {
      writeFileSync(file, String(content));
    }

    for (const { status, stdout } of [
      await verifyLocal(),
      await verify('--archive', copy, '--public-key', kept),
    ]) {
      expect(stdout).toMatch(
        new RegExp(`^shown key: public-key.pem in the archive.*\n    ${message}`),
      );
      expect(status).toBe(1);
    }
  });

  it('shows the start of a long value, and nothing of a table that does not exist', async () => {
    const changed = await entryOf(users[1] ?? 0);
    const Item = { ...changed, user_agent: 'x'.repeat(300_000) };
    await engine.send(new PutCommand({ TableName, Item }));

    const { stdout } = await verifyLocal();
    const copy = await verifyCopy(archive.folder);

    expect(stdout).toContain(`"${'x'.repeat(199)}… (300002 characters)\n`);
    expect(stdout.length).toBeLessThan(2000);
    expect(copy.stdout).not.toMatch(/Waiting|Expired|Unproven/);
  });

  it('verifies only the files of a given time', async () => {
    pretendRunning();
    const time = archive.files()[1]?.header.from ?? '';
    const since = archive.files().filter(({ header }) => header.until > time);

    const { status, stdout } = await verifyLocal('--until', time);
    const copy = await verifyCopy(makeCopy(), '--since', time);

    expect(stdout).toContain('Verified: 1 file with');
    expect(copy.stdout).toContain(`Verified: ${since.length} file`);
    expect([status, copy.status]).toEqual([0, 0]);
  });

  it('lists entries that were sealed later than other entries of their time', async () => {
    const copy = makeCopy();
    const pem = readFileSync(join(service.folder, 'audit-seal-key.pem'), 'utf8');
    const late = await forge();
    const listing = { action: 'CREATE', resource: 'audit-logs', details: { entries: [late] } };
    await forge(new Date(Date.now() - 2000), listing as Partial<AuditedAction>);
    await sealTable({ archive: folderArchive(copy), signer: localSigner(pem) });

    const { status, stdout } = await verifyCopy(copy);

    expect(stdout).toContain(`\nLate:     1, sealed later than others of their time: ${late}\n`);
    expect(status).toBe(0);
  });

  it('verifies an older copy up to its end, and says what the copy lacks', async () => {
    const copy = makeCopy();
    const until = archive.files().at(-1)?.header.from ?? '';
    expect((await verifyCopy(copy)).status).toBe(0);
    rmSync(join(copy, nameOf(-1)));

    const within = await verifyCopy(copy, '--until', until);
    const beyond = await verifyCopy(makeCopy(), '--until', '2099-01-01');
    const whole = await verifyCopy(copy);

    expect([within.status, within.stdout]).toEqual([0, expect.stringContaining('\nIntact.\n')]);
    expect([whole.status, whole.stdout]).toEqual([1, expect.stringMatching(/^shorter: /)]);
    expect([0, 2]).toContain(beyond.status);
  });

  it.each([
    ['no folder', undefined],
    ['no JSON', '{'],
    ['JSON of another form', '{"a":1}'],
  ])(
    'ends with 2 and the path when its memory is %s, but still reports its findings',
    async (_, content) => {
      const memory = join(state, 'accounts-service');
      if (content) mkdirSync(memory);
      writeFileSync(content ? join(memory, 'verified.json') : memory, content ?? '');
      const copy = makeCopy();

      const sound = await verifyCopy(copy);
      rmSync(join(copy, nameOf(1)));
      const broken = await verifyCopy(copy);

      expect([sound.status, sound.stdout]).toEqual([2, '']);
      expect(sound.stderr).toContain(`${join(state, 'accounts-service', 'verified.json')} `);
      expect([broken.status, broken.stdout]).toEqual([1, expect.stringMatching(/^missing: /)]);
    },
  );

  it('verifies a deployed trail by its bucket and its key, and says when it is no longer sealed', async () => {
    const aws = await startAwsArchive();
    onTestFinished(aws.stop);
    const outputs = { AuditArchiveBucketName: 'trail', AuditSealKeyArn: 'key' };
    const { environment } = await awsForThisTest(service, outputs);
    const variables = { ...environment, ...aws.environment };
    for (const [name, value] of Object.entries(variables)) vi.stubEnv(name, value);
    const sealing = { archive: bucketArchive('trail'), signer: await kmsSigner('key') };
    await sealTable(sealing, new Date('2026-01-02'));

    const verifyStack = (...args: readonly string[]) =>
      operate(['verify-audit', '--stack', 'accounts', ...args], {
        environment: { ...variables, XDG_STATE_HOME: state },
      });

    const all = await verifyStack();
    const until = await verifyStack('--until', '2026-02-01');
    const within = await verifyStack('--until', '2026-01-01');

    for (const { status, stdout } of [all, until]) {
      expect(stdout).toMatch(
        /\nCANNOT TELL: .*the newest file ends at 2026-01-01T23:59:59.000Z[.;]/,
      );
      expect(status).toBe(2);
    }
    expect(all.stdout).toMatch(/\nWaiting: {2}[1-9]\d*, too new to be sealed\n/);
    expect([within.status, within.stdout]).toEqual([0, expect.stringContaining('\nIntact.\n')]);
  });

  it('ends with 2 when the stack does not seal', async () => {
    const { environment } = await awsForThisTest(service);

    const { status, stderr } = await operate(['verify-audit', '--stack', 'accounts'], {
      environment,
    });

    expect(stderr).toContain('deploy with auditSeal=on');
    expect(status).toBe(2);
  });
});
