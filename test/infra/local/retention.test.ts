import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PutCommand } from '@aws-sdk/lib-dynamodb';
import { describe, expect, inject, it, onTestFinished } from 'vitest';
import { folderArchive } from '../../../lib/audit/archive/folder.ts';
import { localSigner, makeKey } from '../../../lib/audit/archive/local-key.ts';
import { auditEntries } from '../../../lib/audit/archive/table.ts';
import { makeEntry } from '../../../lib/audit/entry.ts';
import { timeToLive } from '../../../lib/audit/retention.ts';
import { sealWindow } from '../../../lib/audit/seal/sealer.ts';
import { toItem } from '../../../lib/audit/store.ts';
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
    ...{ DATA_DIR: folder, JWT_SECRET: '', AUDIT_SEAL_INTERVAL: '1' },
    ...days,
    ...tables,
  });
  onTestFinished(service.stop);
  return service;
};

const itemsOf = ({ environment }: TestService) =>
  scan(inject('engine'), environment.AUDIT_TABLE ?? '');

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
    const entry = makeEntry({ action: 'LOGIN', resource: 'users', result: 'SUCCESS' }, { now });
    const Item = toItem(entry, { writeId: randomUUID(), ...timeToLive(entry, 30) });
    await engine.send(new PutCommand({ TableName: AUDIT_TABLE, Item }));
    await sealWindow(sealing, new Date(now.getTime() + 60_000));
    ids.push(entry.id);
  }
  return { ids, tables: { USERS_TABLE, AUDIT_TABLE } };
};

const verify = (folder: string, days: Readonly<Record<string, string>>) =>
  operate(['verify-audit', `--local=${folder}`], {
    environment: { XDG_STATE_HOME: makeFolder(), ...days },
  });

describe('npm start', () => {
  it('gives entries their time to live where AUDIT_RETENTION_DAYS says so, and nothing otherwise', async () => {
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

  it('removes entries and windows when their time is over, and verify-audit knows why', async () => {
    const folder = makeFolder();
    const days = { AUDIT_RETENTION_DAYS: '30', AUDIT_ARCHIVE_DAYS: '60' };
    const { ids, tables } = await makeHistory(folder, [100, 80, 40, 20]);
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
    // Without the setting, what is gone has been taken.
    await service.stop();
    const endpoint = { AWS_ENDPOINT_URL_DYNAMODB: inject('engine') };
    const { stdout: strict } = await verify(folder, { ...tables, ...endpoint });
    expect(strict).toMatch(/^missing: 0000-01-01T00:00:00.000Z has no digest/);
  });

  it.each([
    [{ AUDIT_RETENTION_DAYS: '29' }, 'AUDIT_RETENTION_DAYS must be 0, or a whole number from 30'],
    [{ AUDIT_RETENTION_DAYS: '30', DATA_DIR: 'memory' }, 'must be 0 with DATA_DIR=memory'],
    [
      { AUDIT_RETENTION_DAYS: '60', AUDIT_ARCHIVE_DAYS: '59' },
      'AUDIT_ARCHIVE_DAYS must not be below AUDIT_RETENTION_DAYS, which is 60',
    ],
    [{ AUDIT_ARCHIVE_DAYS: '59' }, 'which is 0, for ever'],
  ])('refuses %o', async (days, message) => {
    await expect(startKeeping(makeFolder(), days)).rejects.toThrow(message);
  });
});
