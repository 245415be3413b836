/** Entries that machines post, beside the service's own: sealed and verified at given times, with a real table. */
import { DeleteCommand, PutCommand } from '@aws-sdk/lib-dynamodb';
import { beforeEach, describe, expect, inject, it } from 'vitest';
import { type AuditedAction, makeEntry } from '../../../lib/audit/entry.ts';
import { toItem, writeEntry } from '../../../lib/audit/record.ts';
import { replayId } from '../../../lib/dynamodb/tables.ts';
import { postEntries } from '../../../lib/options/machines/post-entries.ts';
import type { PostedEntry } from '../../../lib/options/machines/posted-entry.ts';
import { localSigner, makeKey } from '../../../lib/seal/folder-archive.ts';
import { seal } from '../../../lib/seal/sealer.ts';
import { auditEntries } from '../../../lib/seal/table.ts';
import { useOwnTables } from '../../support/own-tables.ts';
import { memoryArchive, verifyAll } from '../../support/sealed-trail.ts';
import { engineClient, scanAudit } from '../../support/stored-items.ts';

const engine = engineClient(inject('engine'));
const { audit: TableName } = await useOwnTables();

const begin = Date.UTC(2026, 10, 20);
/** A time in minutes after the first one. */
const at = (minutes: number) => new Date(begin + minutes * 60_000);
const signer = localSigner(makeKey());
let archive: ReturnType<typeof memoryArchive>;

/** Each test has a trail of its own. */
beforeEach(async () => {
  archive = memoryArchive();
  for (const { id } of await scanAudit(inject('engine'), TableName)) await remove(Number(id));
});

const remove = (id = 0) => engine.send(new DeleteCommand({ TableName, Key: { id } }));
const items = () => scanAudit(inject('engine'), TableName);
const byId = async () => (await items()).toSorted((a, b) => Number(a.id) - Number(b.id));

const sealAt = (minutes: number) =>
  seal({ archive, signer, source: auditEntries, interval: 60 }, at(minutes));
/** Seals every minute, from one minute to another. */
const sealFrom = async (first: number, last: number) => {
  for (let minutes = first; minutes <= last; minutes += 1) await sealAt(minutes);
};
const verifyAt = (minutes: number) =>
  verifyAll({
    ...{ archive, publicKey: signer.publicKey, source: auditEntries },
    now: at(minutes).getTime(),
  });
const isIntact = { findings: [], waiting: 0, unproven: 0 };

/** Leaves an entry of the service itself. */
const leave = (minutes: number, action: Partial<AuditedAction> = {}) =>
  writeEntry(
    makeEntry(
      { action: 'LOGIN', resource: 'users', result: 'SUCCESS', ...action },
      { now: at(minutes) },
    ),
    { writeId: `write-${minutes}` },
  );

const order: PostedEntry = { action: 'CREATE', resource: 'shop.orders', result: 'SUCCESS' };
const orders = ['1', '2', '3'].map((resourceId) => ({ ...order, resourceId, userId: 1 }));
let requests = 0;
/** Sends a request with a key at a time, each time with another id of the request. */
const post = (minutes: number, key: string, entries: readonly PostedEntry[] = orders) => {
  requests += 1;
  const request = { machine: 1, key, entries, request_id: `request-${requests}` };
  return postEntries(request, { now: at(minutes) });
};

describe('A sealed trail', () => {
  it('of a day of entries of the service and of machines is intact', async () => {
    for (let hour = 0; hour < 24; hour += 1) {
      await leave(hour * 60);
      await post(hour * 60 + 1, `hour-${hour}`);
      await sealAt(hour * 60 + 30);
    }
    await sealAt(24 * 60);

    expect(await verifyAt(24 * 60)).toMatchObject({ ...isIntact, entries: 24 * 4, early: 0 });
  });

  it.each([1, 4, 6, 60, 7 * 24 * 60])(
    'is intact after a request whose entries were sealed was repeated, %i minutes after the seal',
    async (minutes) => {
      await sealAt(0);
      const first = await post(0, `repeated-${minutes}`);
      await sealAt(2);
      const before = await byId();

      const again = await post(2 + minutes, `repeated-${minutes}`);
      await sealAt(2 + minutes + 10);

      expect(again).toEqual({ isNew: false, stored: first.stored });
      expect(await byId()).toEqual(before);
      expect(await verifyAt(2 + minutes + 10)).toMatchObject({ ...isIntact, entries: 3 });
    },
  );

  it('is intact after a request was repeated 12 minutes later whose entries were partly missing', async () => {
    const { stored } = await post(0, 'late');
    // As if the second entry had never been written.
    await remove(stored[1]?.id);
    await sealFrom(1, 12);

    const again = await post(12, 'late');
    await sealFrom(13, 20);
    const once = await post(30, 'late');
    await sealAt(40);

    const created_at = at(12).toISOString();
    expect(again.stored).toEqual([stored[0], { id: expect.any(Number), created_at }, stored[2]]);
    expect(once.stored).toEqual(again.stored);
    expect(await verifyAt(40)).toMatchObject({ ...isIntact, entries: 3, early: 0 });
  });

  it('would not be intact if an entry that is missing were written with its first time', async () => {
    const { stored } = await post(0, 'slow');
    const [, second] = await byId();
    await remove(stored[1]?.id);
    await sealFrom(1, 12);

    await engine.send(new PutCommand({ TableName, Item: second }));
    await sealFrom(13, 20);

    const inserted = [{ kind: 'inserted', subject: String(second?.id) }];
    expect(await verifyAt(20)).toMatchObject({ findings: inserted, entries: 2 });
  });
});

/** Puts an entry of long ago into the table, past the service. @returns its id */
const forge = async () => {
  const entry = makeEntry(
    { action: 'DELETE', resource: 'users', result: 'SUCCESS' },
    { now: at(-60 * 24), random: () => 7 },
  );
  await engine.send(new PutCommand({ TableName, Item: toItem(entry, { writeId: 'forged' }) }));
  return entry.id;
};

describe('An entry that was put into the table past the service', () => {
  it.each([
    ['shop.audit-logs', 'replay-audit'],
    ['audit-logs.x', 'operator replay-audit'],
  ])(
    'is not sealed because a machine posts what imitates its replay, with the resource %s',
    async (resource, userAgent) => {
      await sealAt(0);
      const forged = await forge();
      const details = JSON.stringify({ written: 1, entries: [forged] });
      const imitation = { ...order, resource, resourceId: replayId, userAgent, details };

      await post(1, `imitation-${resource}`, [imitation]);
      const waiting = await verifyAt(2);
      await sealAt(10);
      const sealed = await verifyAt(10);

      const inserted = [{ kind: 'inserted', subject: String(forged) }];
      expect(waiting).toMatchObject({ findings: inserted, waiting: 1, entries: 0 });
      expect(sealed).toMatchObject({ findings: inserted, waiting: 0, entries: 1 });
    },
  );

  it("is sealed because of the service's own replay", async () => {
    await sealAt(0);
    const forged = await forge();
    const details = { entries: [forged] };

    await leave(1, { action: 'CREATE', resource: 'audit-logs', details });
    await sealAt(10);

    expect(await verifyAt(10)).toMatchObject({ ...isIntact, entries: 2, early: 1 });
  });
});
