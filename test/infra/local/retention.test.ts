import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PutCommand } from '@aws-sdk/lib-dynamodb';
import { describe, expect, inject, it, onTestFinished } from 'vitest';
import { makeEntry } from '../../../lib/audit/entry.ts';
import { timeToLive, toItem } from '../../../lib/audit/store.ts';
import { folderArchive, localSigner, makeKey } from '../../../lib/seal/folder.ts';
import { sealWindows } from '../../../lib/seal/sealer.ts';
import { auditEntries } from '../../../lib/seal/table.ts';
import { register } from '../../support/client.ts';
import { operate } from '../../support/operator.ts';
import { useOwnTables } from '../../support/own-tables.ts';
import { startTestService, type TestService } from '../../support/service.ts';
import { engineClient, scan } from '../../support/stored-items.ts';
import { comesTrue } from './installation.ts';
import { archiveIn, becomesSealed } from './sealed-archive.ts';

const day = 86_400_000;
const engine = engineClient(inject('engine'));

const makeFolder = () => {
  const folder = mkdtempSync(join(tmpdir(), 'retention-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  return folder;
};

const startKeeping = async (
  folder: string,
  days: Readonly<Record<string, string>>,
  tables: Readonly<Record<string, string>> = {},
): Promise<TestService> => {
  const service = await startTestService({
    DATA_DIR: folder,
    JWT_SECRET: '',
    AUDIT_SEAL_INTERVAL: '1',
    ...days,
    ...tables,
  });
  onTestFinished(service.stop);
  return service;
};

const itemsOf = ({ environment }: TestService) =>
  scan(inject('engine'), environment.AUDIT_TABLE ?? '');

/** Writes an entry to a table. @returns its id */
const recordEntry = async (TableName: string, now: Date): Promise<number> => {
  const entry = makeEntry({ action: 'LOGIN', resource: 'users', result: 'SUCCESS' }, { now });
  const Item = toItem(entry, { writeId: randomUUID(), ...timeToLive(entry, 30) });
  await engine.send(new PutCommand({ TableName, Item }));
  return entry.id;
};

/** A table with an entry of each of some days ago, and an archive in which all of them are. */
const makeHistory = async (folder: string, daysAgo: readonly number[]) => {
  const { users: USERS_TABLE, audit: AUDIT_TABLE } = await useOwnTables();
  const key = makeKey();
  writeFileSync(join(folder, 'audit-seal-key.pem'), key, { mode: 0o600 });
  const archive = folderArchive(archiveIn(folder).folder);
  const sealing = { archive, source: auditEntries, signer: localSigner(key), interval: 1 };
  const ids: number[] = [];
  for (const days of daysAgo) {
    const now = new Date(Date.now() - days * day);
    ids.push(await recordEntry(AUDIT_TABLE, now));
    await sealWindows(sealing, new Date(now.getTime() + 60_000));
  }
  return { ids, tables: { USERS_TABLE, AUDIT_TABLE } };
};

const verify = (folder: string, days: Readonly<Record<string, string>>) =>
  operate(['verify-audit', `--local=${folder}`], {
    environment: { XDG_STATE_HOME: makeFolder(), ...days },
  });

describe('npm start', () => {
  it('gives entries a time to live only where AUDIT_RETENTION_DAYS is set', async () => {
    const [kept, left] = [
      await startKeeping(makeFolder(), {}),
      await startKeeping(makeFolder(), { AUDIT_RETENTION_DAYS: '30' }),
    ];
    for (const service of [kept, left]) await register(service.api);

    const times = (await itemsOf(left)).map(({ created_at, expires_at }) => [
      Math.floor(Date.parse(String(created_at)) / 1000) + 30 * 86_400,
      expires_at,
    ]);
    expect(times.length).toBeGreaterThan(1);
    for (const [expected, expiresAt] of times) expect(expiresAt).toBe(expected);
    expect((await itemsOf(kept)).filter((item) => 'expires_at' in item)).toEqual([]);
  });

  it('removes entries and windows once they have expired, and verify-audit knows why', async () => {
    const folder = makeFolder();
    const days = { AUDIT_RETENTION_DAYS: '30', AUDIT_ARCHIVE_DAYS: '60' };
    const { ids, tables } = await makeHistory(folder, [100, 80, 40, 20]);
    await recordEntry(tables.AUDIT_TABLE, new Date());
    const service = await startKeeping(folder, days, tables);
    const archive = archiveIn(folder);

    const firstEnd = () => Date.parse(archive.digests()[0]?.until ?? '');
    expect(await comesTrue(() => firstEnd() > Date.now() - 60 * day)).toBe(true);
    expect(await becomesSealed(service, archive)).toBe(true);
    const stored = (await itemsOf(service)).map(({ id }) => Number(id));
    expect(ids.filter((id) => stored.includes(id))).toEqual(ids.slice(3));
    expect(archive.ids().filter((id) => ids.includes(id))).toEqual(ids.slice(2));
    const { stdout, status } = await verify(folder, {});
    expect(stdout).toContain('\nExpired:  1, gone from the table');
    expect(stdout).toContain('\nIntact.\n');
    expect(status).toBe(0);
  });

  it('removes expired counts, links and ended sessions from the users table', async () => {
    const folder = makeFolder();
    const { users: USERS_TABLE, audit: AUDIT_TABLE } = await useOwnTables();
    const now = Math.floor(Date.now() / 1000);
    const items = [
      { pk: 'attempts#account#1', expires_at: now - 1 },
      { pk: 'reset#1', expires_at: now - 3600 },
      { pk: 'sessions#7', expires_at: now - 40 * 86_400 },
      { pk: 'attempts#account#2', expires_at: now + 3600 },
      { pk: 'of somebody else', expires_at: 'some day' },
    ];
    for (const Item of items) await engine.send(new PutCommand({ TableName: USERS_TABLE, Item }));

    await startKeeping(folder, {}, { USERS_TABLE, AUDIT_TABLE });

    const keys = async () =>
      (await scan(inject('engine'), USERS_TABLE)).map(({ pk }) => String(pk));
    expect(await comesTrue(async () => !(await keys()).includes('sessions#7'))).toBe(true);
    expect(await comesTrue(async () => (await keys()).length === 5)).toBe(true);
    expect((await keys()).sort()).toEqual([
      'attempts#account#2',
      'counter',
      'email#root@example.org',
      'of somebody else',
      'user#1',
    ]);
  });

  it('removes nothing after a start that is long after the newest entry, and logs that', async () => {
    const folder = makeFolder();
    const { ids, tables } = await makeHistory(folder, [100, 20]);

    const service = await startKeeping(folder, { AUDIT_RETENTION_DAYS: '30' }, tables);
    const archive = archiveIn(folder);
    const before = archive.names().length;
    expect(await comesTrue(() => archive.names().length > before + 1)).toBe(true);
    await service.stop();

    expect((await itemsOf(service)).map(({ id }) => Number(id))).toEqual(
      expect.arrayContaining([...ids]),
    );
    expect(service.output().match(/^.*expired data is not removed.*$/gm)).toEqual([
      expect.stringContaining('is 20 days ahead of the newest audit entry'),
    ]);
  });
});
