import { randomUUID } from 'node:crypto';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PutCommand } from '@aws-sdk/lib-dynamodb';
import { describe, expect, inject, it, onTestFinished, vi } from 'vitest';
import { newestEntry } from '../../../infra/local/expiry.ts';
import { startSealing } from '../../../infra/local/sealing.ts';
import { makeEntry } from '../../../lib/audit/entry.ts';
import { timeToLive, toItem } from '../../../lib/audit/store.ts';
import { useOwnTables } from '../../support/own-tables.ts';
import { engineClient, scan, scanAudit } from '../../support/stored-items.ts';
import { comesTrue } from './installation.ts';
import { archiveIn } from './sealed-archive.ts';

const day = 86_400_000;
const engine = engineClient(inject('engine'));
const tables = await useOwnTables();
Object.assign(process.env, { AUDIT_RETENTION_DAYS: '30', AUDIT_ARCHIVE_DAYS: '30' });

/** Records an entry of some days ago. @returns its id */
const recordEntry = async (daysAgo: number): Promise<number> => {
  const now = new Date(Date.now() - daysAgo * day);
  const entry = makeEntry({ action: 'LOGIN', resource: 'users', result: 'SUCCESS' }, { now });
  const Item = toItem(entry, { writeId: randomUUID(), ...timeToLive(entry, 30) });
  await engine.send(new PutCommand({ TableName: tables.audit, Item }));
  return entry.id;
};

/** A data folder; what is logged is not printed. */
const prepare = () => {
  const folder = mkdtempSync(join(tmpdir(), 'expiry-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const said = vi.spyOn(console, 'error').mockReturnValue();
  onTestFinished(() => said.mockRestore());
  return { folder, said };
};

const storedIds = async () => (await scanAudit(inject('engine'), tables.audit)).map(({ id }) => id);

describe('The clock of one machine', () => {
  it('removes no item while it is wrong', async () => {
    const { folder, said } = prepare();
    const ids = [await recordEntry(20), await recordEntry(10), await recordEntry(0)];
    const counter = { pk: 'attempts#account#1', expires_at: Math.floor(Date.now() / 1000) + 900 };
    await engine.send(new PutCommand({ TableName: tables.users, Item: counter }));
    const archive = archiveIn(folder);
    const clock = {
      ahead: 0,
      wall: () => Date.now() + clock.ahead,
      monotonic: () => performance.now(),
    };

    const stop = startSealing(folder, 1, { clock, newest: Date.now() });
    await comesTrue(() => archive.digests().length > 0);
    clock.ahead = 45 * day;
    await comesTrue(() =>
      archive.digests().some(({ until }) => Date.parse(until) > Date.now() + 44 * day),
    );
    await comesTrue(() => said.mock.calls.length > 0);
    await stop();

    expect((await storedIds()).sort()).toEqual(ids.sort());
    expect([...archive.ids()].sort()).toEqual(ids);
    expect(await scan(inject('engine'), tables.users)).toEqual([counter]);
    expect(said.mock.calls).toEqual([[expect.stringContaining('45 days')]]);
  });

  it('is compared with the newest entry that has a time', async () => {
    await recordEntry(0);
    const odd = { id: 1, shard: '0', created_at: 'zzz', created_at_id: 'zzz' };
    await engine.send(new PutCommand({ TableName: tables.audit, Item: odd }));

    expect(await newestEntry()).toBeGreaterThan(Date.now() - day);
  });
});

it('Expired entries leave the table of one machine though nothing can be sealed', async () => {
  const { folder, said } = prepare();
  const archive = archiveIn(folder);
  mkdirSync(archive.folder);
  const first = '00000101T000000000Z.digest.json';
  writeFileSync(join(archive.folder, first), 'no digest');
  const [expired, kept] = [await recordEntry(40), await recordEntry(20)];

  const stop = startSealing(folder, 1, { newest: Date.now() });
  const isRemoved = await comesTrue(async () => !(await storedIds()).includes(expired));
  await stop();

  expect(isRemoved).toBe(true);
  expect(await storedIds()).toContain(kept);
  expect(archive.names()).toEqual([first]);
  expect(said.mock.calls[0]).toEqual([expect.stringContaining('audit-trail-broken')]);
});
