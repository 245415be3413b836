import { cpSync, existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { PutItemCommand } from '@aws-sdk/client-dynamodb';
import { DeleteCommand, PutCommand, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { beforeAll, describe, expect, inject, it, onTestFinished, vi } from 'vitest';
import { type ExportedEntry, exportFormats } from '../../../lib/audit/formats.ts';
import { bucketArchive, kmsSigner } from '../../../lib/seal/aws.ts';
import { seal } from '../../../lib/seal/sealer.ts';
import { auditEntries } from '../../../lib/seal/table.ts';
import { startAwsArchive } from '../../support/aws-archive.ts';
import { logIn, register } from '../../support/client.ts';
import {
  operate,
  operatedServiceForThisFile,
  operatorEntry,
  saidOfStopped,
} from '../../support/operator.ts';
import { engineClient, type Item, scan } from '../../support/stored-items.ts';
import { until } from '../../support/until.ts';
import { archiveIn, becomesSealed, type SealedArchive } from '../local/sealed-archive.ts';
import { awsForThisTest } from './aws.ts';

const service = await operatedServiceForThisFile({ AUDIT_SEAL_INTERVAL: '1' });
const { api, folder, environment } = service;
const { AUDIT_TABLE: TableName = '' } = environment;
const engine = engineClient(inject('engine'));
const archive: SealedArchive = archiveIn(folder);
const users: number[] = [];

/** The service stands still: entries of commands come besides, and are not sealed. */
beforeAll(async () => {
  for (let i = 0; i < 3; i += 1) {
    const user = await register(api);
    users.push(user.id);
    await logIn(api, user);
    await api('POST', '/api/login', { json: { email: user.email, password: 'wrong' } });
  }
  expect(await becomesSealed(service, archive)).toBe(true);
  await until(() => archive.files().length > 4);
  await service.stop();
  await exportAudit('-');
});

let made = 0;
const newFile = (): string => {
  made += 1;
  return join(folder, `export-${made}`);
};

const exportAudit = async (...args: readonly string[]) => {
  const { status, stdout, stderr } = await service.operate(['export-audit', ...args]);
  return { status, stdout, stderr: stderr.replace(saidOfStopped, '') };
};

/** What it writes. */
const entriesOf = async (...args: readonly string[]): Promise<readonly ExportedEntry[]> => {
  const file = newFile();
  const { status, stderr } = await exportAudit(file, ...args);
  const text = readFileSync(file, 'utf8');
  const entries = text
    .split('\n')
    .slice(0, -1)
    .map((line): ExportedEntry => JSON.parse(line));
  expect([status, stderr]).toEqual([0, `Exported ${entries.length} entries.\n`]);
  return entries;
};

const stored = async (): Promise<readonly Item[]> => {
  const items = await scan(inject('engine'), TableName);
  return [...items].sort((a, b) => (String(a.created_at_id) < String(b.created_at_id) ? -1 : 1));
};

const asExported = (item: Item) => {
  const { id, user_id, action, resource, resource_id, ip_address, user_agent, ...rest } = item;
  const { result, details, created_at, request_id = null } = rest;
  return {
    id,
    user_id,
    action,
    resource,
    resource_id,
    ip_address,
    user_agent,
    result,
    details,
    created_at,
    request_id,
    file: archive.fileOf(Number(id)),
    machine_id: null,
    occurred_at: null,
  };
};

/** An entry of the table that is put back at the end of the test. */
const borrow = async (wanted: (item: Item) => boolean): Promise<Item> => {
  const item = (await stored()).find(wanted);
  if (!item) throw new Error('There is no such entry');
  onTestFinished(async () => {
    await engine.send(new PutCommand({ TableName, Item: item }));
  });
  return item;
};
const byUser =
  (user: number | undefined) =>
  ({ user_id, action }: Item): boolean =>
    user_id === user && action === 'CREATE';

describe('export-audit', () => {
  it('writes each entry once, oldest first, with its request, and with its file or null before sealing', async () => {
    const before = await stored();

    const entries = await entriesOf();

    expect(entries).toEqual(before.map(asExported));
    // The export before this one has left an entry, which is not sealed.
    expect(Object.keys(entries[0] ?? {}).slice(-4)).toEqual([
      ...['request_id', 'file', 'machine_id', 'occurred_at'],
    ]);
    expect(entries.filter(({ request_id }) => request_id)).not.toEqual([]);
    const sealed = new Set(archive.ids());
    expect(new Set(entries.map(({ id }) => sealed.has(id)))).toEqual(new Set([true, false]));
  });

  it('leaves an entry with its filter, the number of entries and the operator', async () => {
    const [user] = users;

    const { length } = await entriesOf('--user-id', String(user), '--action', 'LOGIN');

    expect((await service.entries()).at(-1)).toMatchObject(
      operatorEntry('export-audit', {
        action: 'EXPORT',
        resource: 'audit-logs',
        details: { format: 'ndjson', filter: { userId: user, action: 'LOGIN' }, entries: length },
      }),
    );
    expect(length).toBe(2);
  });

  it('takes from the archive each entry that has left the table or was changed after it was sealed', async () => {
    const [gone, changed] = await Promise.all(
      users.slice(0, 2).map((user) => borrow(byUser(user))),
    );
    const of = (item: Item | undefined) => ({ TableName, Key: { id: item?.id } });
    await engine.send(new DeleteCommand(of(gone)));
    await engine.send(
      new UpdateCommand({
        ...of(changed),
        UpdateExpression: 'SET ip_address = :other',
        ExpressionAttributeValues: { ':other': '192.0.2.66' },
      }),
    );

    const entries = await entriesOf('--action', 'CREATE');

    for (const item of [gone, changed]) {
      expect(entries.filter(({ id }) => id === item?.id)).toEqual([asExported(item ?? {})]);
    }
  });

  it('writes the entries from one time up to another', async () => {
    const all = await stored();
    const [since, until] = [all[2], all[6]].map((item) => String(item?.created_at));
    const wanted = all.filter(
      ({ created_at }) => String(created_at) >= String(since) && String(created_at) < String(until),
    );

    const entries = await entriesOf('--since', since ?? '', '--until', until ?? '');

    expect(entries).toEqual(wanted.map(asExported));
  });

  it('writes CSV as the API does, with two columns more', async () => {
    const wanted = (await stored()).filter(byUser(users[0])).map(asExported);
    const file = newFile();

    await exportAudit(file, '--format', 'csv', '--user-id', String(users[0]), '--action', 'CREATE');

    const [head, ...lines] = readFileSync(file, 'utf8').split('\r\n');
    expect(head).toMatch(/^id,user_id,.*,created_at,request_id,file,machine_id,occurred_at$/);
    const { line } = exportFormats.csv;
    expect(lines.map((text) => `${text}\r\n`)).toEqual([
      ...wanted.map((entry) => line(entry as unknown as ExportedEntry)),
      '\r\n',
    ]);
  });

  it('writes the entries of a copy of the archive without a service, and leaves no entry', async () => {
    const [copy, key, file] = [join(folder, 'copy'), join(folder, 'public.pem'), newFile()];
    cpSync(archive.folder, copy, { recursive: true });
    cpSync(join(archive.folder, 'public-key.pem'), key);
    const sealed = (await stored()).filter(({ id }) => archive.fileOf(Number(id)) !== null);
    const ofUser = sealed.filter(({ resource_id }) => resource_id === String(users[1]));

    const args = ['--archive', copy, '--resource-id', String(users[1]), '--public-key', key];
    const { status, stderr } = await operate(['export-audit', file, ...args]);
    const keyAlone = await exportAudit(newFile(), '--public-key', key);

    expect([status, stderr]).toEqual([0, `Exported ${ofUser.length} entries.\n`]);
    expect(readFileSync(file, 'utf8')).toBe(
      ofUser.map((item) => `${JSON.stringify(asExported(item))}\n`).join(''),
    );
    expect(ofUser.length).toBeGreaterThan(0);
    expect(keyAlone.status).toBe(2);
    expect(keyAlone.stderr).toContain('--public-key requires --archive, which names the copy');
  });

  it.each([
    ['misses a file', () => undefined, /^file 2 \(\d{10}\.ndjson\.gz\) is missing/],
    [
      'has a changed file',
      (bytes: Buffer) => Buffer.concat([bytes, Buffer.of(0)]),
      /^file 2 \(\d{10}\.ndjson\.gz\) was changed after it was sealed/,
    ],
  ])('writes no entries if the archive %s, and says so', async (_, tamper, message) => {
    const name = archive.files()[1]?.name ?? '';
    const [from, to] = [join(archive.folder, name), join(folder, name)];
    renameSync(from, to);
    const tampered = tamper(readFileSync(to));
    if (tampered) writeFileSync(from, tampered);
    onTestFinished(() => renameSync(to, from));
    const file = newFile();

    const { status, stderr } = await exportAudit(file);

    expect(stderr).toMatch(message);
    expect(stderr).toContain('nothing was exported');
    expect([status, existsSync(file)]).toEqual([1, false]);
  });

  it('reads a deployed archive in its bucket', async () => {
    const s3 = await startAwsArchive();
    onTestFinished(s3.stop);
    const outputs = { AuditArchiveBucketName: 'trail', AuditSealKeyArn: 'key' };
    const aws = await awsForThisTest(service, outputs);
    const variables = { ...aws.environment, ...s3.environment };
    for (const [name, value] of Object.entries({ ...variables, AUDIT_TABLE: TableName })) {
      vi.stubEnv(name, value);
    }
    onTestFinished(() => void vi.unstubAllEnvs());
    const binary = { L: [{ B: Uint8Array.of(0, 255) }, { BS: [Uint8Array.of(1)] }] };
    const odd = { id: { N: '7' }, created_at: { S: '2026-03-01' }, details: binary };
    const keys = { shard: { S: '1' }, created_at_id: { S: '2026-03-01#7' } };
    await engine.send(new PutItemCommand({ TableName, Item: { ...odd, ...keys } }));
    const signer = await kmsSigner('key');
    const sealing = { archive: bucketArchive('trail'), source: auditEntries, signer, interval: 1 };
    await seal(sealing, new Date());
    const gone = await borrow(byUser(users[2]));
    for (const id of [gone.id, 7]) {
      await engine.send(new DeleteCommand({ TableName, Key: { id } }));
    }

    const { stdout } = await operate(['export-audit', '-', '--stack', 'accounts'], {
      environment: variables,
    });

    const ids = stdout
      .split('\n')
      .slice(0, -1)
      .map((line): number => JSON.parse(line).id);
    expect(ids).toContain(gone.id);
    expect(stdout).toContain(
      JSON.stringify({ details: '{"L":[{"B":"AP8="},{"BS":["AQ=="]}]}' }).slice(1, -1),
    );
    expect(ids).toHaveLength(new Set(ids).size);
  });
});
