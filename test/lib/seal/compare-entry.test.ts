/** Compares entries with their lines after somebody had them sealed again: a real table, a folder, and given times. */
import { join } from 'node:path';
import { DeleteCommand, PutCommand } from '@aws-sdk/lib-dynamodb';
import { beforeEach, describe, expect, inject, it } from 'vitest';
import { type AuditedAction, makeEntry } from '../../../lib/audit/entry.ts';
import { toItem } from '../../../lib/audit/record.ts';
import { compareEntry } from '../../../lib/seal/compare-entry.ts';
import {
  folderArchive,
  folderReader,
  localSigner,
  makeKey,
} from '../../../lib/seal/folder-archive.ts';
import type { SignedHeader } from '../../../lib/seal/header.ts';
import { seal } from '../../../lib/seal/sealer.ts';
import { auditEntries } from '../../../lib/seal/table.ts';
import { folderForThisTest } from '../../support/folder.ts';
import { useOwnTables } from '../../support/own-tables.ts';
import { verifyAll } from '../../support/sealed-trail.ts';
import { engineClient, scanAudit } from '../../support/stored-items.ts';

const engine = engineClient(inject('engine'));
const { audit: TableName } = await useOwnTables();
const signer = localSigner(makeKey());
const { publicKey } = signer;

const begin = Date.UTC(2026, 10, 20);
/** A time in minutes after the first one. */
const at = (minutes: number) => new Date(begin + minutes * 60_000);
/** An id that no service makes at these times: its own time is before all files. */
const oddId = 777;

beforeEach(async () => {
  for (const { id } of await scanAudit(inject('engine'), TableName)) {
    await engine.send(new DeleteCommand({ TableName, Key: { id } }));
  }
});

/** Puts an entry into the table. @param changes to its attributes @returns its item */
const put = async (
  minutes: number,
  changes: object = {},
  action: Partial<AuditedAction> = {},
): Promise<ReturnType<typeof toItem>> => {
  const login = { action: 'LOGIN', resource: 'users', result: 'SUCCESS' } as const;
  const entry = makeEntry({ ...login, ...action }, { now: at(minutes), random: () => 7 });
  const item = toItem({ ...entry, ...changes }, { writeId: `write-${minutes}` });
  await engine.send(new PutCommand({ TableName, Item: item }));
  return item;
};

/** Leaves the entry that `replay-audit` leaves about an entry. */
const replay = (minutes: number, id: number) =>
  put(
    minutes,
    {},
    {
      ...{ action: 'CREATE', resource: 'audit-logs', resource_id: 'replay' },
      details: { entries: [id] },
    },
  );

/** An archive, and the functions that seal and compare at a time in minutes. */
const makeArchive = () => {
  const folder = join(folderForThisTest(), 'archive');
  const archive = folderArchive(folder);
  let known: SignedHeader | undefined;
  /** Writes a file every five minutes, up to a time. */
  const sealUntil = async (minutes: number) => {
    const next = known ? (Date.parse(known.at) - begin) / 60_000 + 5 : 5;
    for (let time = next; time <= minutes; time += 5) {
      known = (await seal({ archive, signer, source: auditEntries, interval: 60 }, at(time)))
        .newest;
    }
  };
  const compare = async (id: number) => {
    const trail = { archive: folderReader(folder), publicKey };
    const now = Date.parse(known?.at ?? '') + 1000;
    const { state, file, sealed } = await compareEntry(id, trail, { known, now });
    return { state, file, address: sealed?.ip_address };
  };
  const findings = async () => {
    const now = Date.parse(known?.at ?? '') + 1000;
    const verified = await verifyAll({ archive, source: auditEntries, publicKey, now });
    return verified.findings.map(({ kind, subject }) => `${kind} ${subject}`);
  };
  return { sealUntil, compare, findings };
};

describe('An entry whose id is of another time', () => {
  const [first, second] = [{ ip_address: '192.0.2.1' }, { ip_address: '192.0.2.2' }];

  it('is equal to the line that is the first one in the files since the time of the id', async () => {
    const { sealUntil, compare } = makeArchive();
    await put(33, { id: oddId, ...first });
    await sealUntil(50);

    expect(await compare(oddId)).toEqual({ state: 'equal', file: 7, address: '192.0.2.1' });
  });

  it('differs from its first line although it equals a later one at its key in the table', async () => {
    const { sealUntil, compare, findings } = makeArchive();
    await put(33, { id: oddId, ...first });
    await sealUntil(90);
    await put(98, { id: oddId, ...second });
    await sealUntil(100);

    expect(await compare(oddId)).toEqual({ state: 'differs', file: 7, address: '192.0.2.1' });
    expect(await findings()).toContain(`changed ${oddId}`);
  });

  it('is not compared if more than 20 files would have to be read', async () => {
    const { sealUntil, compare } = makeArchive();
    await put(108, { id: oddId, ...first });
    await sealUntil(120);
    await put(128, { id: oddId, ...second });
    await sealUntil(130);

    expect(await compare(oddId)).toEqual({ state: 'not_found', file: 26 });
  });
});

describe('An entry that a replay lists', () => {
  /** An archive of which the second file has a replayed entry of the time of the first. */
  const replayed = async () => {
    const archive = makeArchive();
    await archive.sealUntil(30);
    const item = await put(3);
    await replay(33, item.id);
    await archive.sealUntil(50);
    return { ...archive, item };
  };

  it('is equal to its line in the file of the first replay, also while another one waits', async () => {
    const { sealUntil, compare, item } = await replayed();
    await replay(54, item.id);

    const waiting = await compare(item.id);
    await sealUntil(55);

    const equal = { state: 'equal', file: 7, address: null };
    expect([waiting, await compare(item.id)]).toEqual([equal, equal]);
  });

  it('differs from its first line although a later replay has sealed it again', async () => {
    const { sealUntil, compare, findings, item } = await replayed();
    await engine.send(new PutCommand({ TableName, Item: { ...item, ip_address: '192.0.2.2' } }));
    await replay(68, item.id);
    await sealUntil(70);

    expect(await compare(item.id)).toEqual({ state: 'differs', file: 7, address: null });
    expect(await findings()).toContain(`changed ${item.id}`);
  });

  it('differs from its first line although the first replay is gone', async () => {
    const { sealUntil, compare, item } = await replayed();
    const { id } = await replay(33, item.id);
    await engine.send(new DeleteCommand({ TableName, Key: { id } }));
    await engine.send(new PutCommand({ TableName, Item: { ...item, ip_address: '192.0.2.2' } }));
    await replay(68, item.id);
    await sealUntil(70);

    expect(await compare(item.id)).toEqual({ state: 'differs', file: 7, address: null });
  });

  it('is not compared if more than 20 files would have to be read', async () => {
    const { sealUntil, compare } = makeArchive();
    const item = await put(3);
    await engine.send(new DeleteCommand({ TableName, Key: { id: item.id } }));
    await sealUntil(150);
    await put(3);
    await replay(153, item.id);
    await sealUntil(155);

    expect(await compare(item.id)).toEqual({ state: 'not_found', file: 31 });
  });
});
