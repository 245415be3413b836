import { cpSync } from 'node:fs';
import { join } from 'node:path';
import { DeleteCommand, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { beforeEach, describe, expect, inject, it, vi } from 'vitest';
import { makeEntry } from '../../../lib/audit/entry.ts';
import { writeEntry } from '../../../lib/audit/record.ts';
import { send } from '../../../lib/dynamodb/client.ts';
import { createdAtKey } from '../../../lib/dynamodb/tables.ts';
import { config } from '../../../lib/ground/settings.ts';
import { runSealer } from '../../../lib/seal/check.ts';
import { folderArchive, localSigner, makeKey } from '../../../lib/seal/folder-archive.ts';
import type { Check, SignedHeader } from '../../../lib/seal/header.ts';
import type { Sealing } from '../../../lib/seal/sealer.ts';
import { auditEntries } from '../../../lib/seal/table.ts';
import { findEnd } from '../../../lib/seal/walk.ts';
import * as wholeCheck from '../../../lib/seal/whole-check.ts';
import { folderForThisFile, folderForThisTest } from '../../support/folder.ts';
import { useOwnTables } from '../../support/own-tables.ts';
import { engineClient, type Item, scanAudit } from '../../support/stored-items.ts';
import { writeBatches } from '../../support/write-batches.ts';

const { audit, users } = await useOwnTables();
const engine = engineClient(inject('engine'));

const minute = 60_000;
const hour = 60 * minute;

/** The subjects of the findings that were logged, line by line, and the events of other log lines. */
let found: readonly (readonly string[])[];
let failures: readonly string[];
const printed = vi.spyOn(console, 'error');

const start = Date.UTC(2026, 10, 22, 12);
/** Milliseconds since 1970, as the sealer's clock shows them. */
let now = start;
let written = 0;

beforeEach(async () => {
  [found, failures] = [[], []];
  printed.mockImplementation((text: string) => {
    const { event, findings } = JSON.parse(text);
    if (event !== 'audit-trail-broken') failures = [...failures, event];
    else found = [...found, findings.map(({ subject }: { subject: string }) => subject)];
  });
  now = start;
  await engine.send(new DeleteCommand({ TableName: users, Key: { pk: 'audit-seal-whole' } }));
  await empty();
});

/** Removes all entries from the table. */
const empty = async () => {
  for (const { id } of await scanAudit(inject('engine'), audit)) {
    await engine.send(new DeleteCommand({ TableName: audit, Key: { id } }));
  }
};

/** Leaves an entry. @returns its id */
const add = async (): Promise<number> => {
  const action = { action: 'LOGIN', resource: 'users', result: 'SUCCESS' } as const;
  written += 1;
  const entry = makeEntry(action, { now: new Date(now), random: (below) => written % below });
  await writeEntry(entry, { writeId: `write-${written}` });
  return entry.id;
};

const change = (id: number, address: string | null = 'changed') =>
  send(
    new UpdateCommand({
      TableName: config.auditTable,
      Key: { id },
      UpdateExpression: 'SET ip_address = :address',
      ExpressionAttributeValues: { ':address': address },
    }),
  );

/** The key, in the index by time, of an entry that is created now. */
const createdKey = (id: number) => createdAtKey({ id, created_at: new Date(now).toISOString() });

type Store = NonNullable<Sealing['whole']>;

const signer = localSigner(makeKey());

/** A sealer with an archive in a folder, which checks about six lines in a part. */
const makeSealing = (folder = join(folderForThisTest(), 'archive')) => ({
  archive: folderArchive(folder),
  source: auditEntries,
  signer,
  interval: 60,
  checked: 6,
  whole: wholeCheck as Store,
});

const newestOf = async ({ archive, signer: { publicKey } }: Sealing): Promise<SignedHeader> =>
  (await findEnd({ archive, publicKey }, now)).newest as SignedHeader;

/** Runs the sealer some milliseconds later. @returns the outcome in the newest header */
const runAfter = async (sealing: Sealing, time = minute, limits = {}): Promise<Check> => {
  now += time;
  await runSealer(sealing, new Date(now), limits);
  return (await newestOf(sealing)).check as Check;
};

/** The folder and the entries of a trail of ten days, with an entry and a run every twelve hours. */
const kept = await (async () => {
  const folder = join(folderForThisFile(), 'archive');
  for (let run = 0; run < 20; run += 1) {
    await add();
    await runAfter(makeSealing(folder), 12 * hour);
  }
  const entries = [...(await scanAudit(inject('engine'), audit))].sort((a, b) => a.id - b.id);
  return { folder, entries, now };
})();

/** A copy of that trail. The last run has checked the newest two days. */
const makeDays = async () => {
  const folder = join(folderForThisTest(), 'archive');
  cpSync(kept.folder, folder, { recursive: true });
  await writeBatches(inject('engine'), audit, kept.entries as unknown as readonly Item[]);
  now = kept.now;
  return { sealing: makeSealing(folder), ids: kept.entries.map(({ id }) => id) };
};

const ask = () => wholeCheck.ask(new Date(now));

/** Runs the sealer each minute until the whole check has ended. @returns the progress after each run */
const finish = async (sealing: Sealing, each: () => Promise<unknown> = async () => undefined) => {
  const progress: (wholeCheck.WholeCheck | undefined)[] = [];
  do {
    await each();
    await runAfter(sealing);
    progress.push(await wholeCheck.read());
  } while (progress.at(-1)?.ended_at === null && progress.length < 50);
  return progress as readonly wholeCheck.WholeCheck[];
};

/** The outcome of the check of the newest two days, without its findings. */
const recentOf = ({ at, first, last, until, entries, part }: Check) => ({
  ...{ at, first, last, until, entries, part },
});

describe('A whole check', () => {
  it('covers every file once, the last ones too, in parts over several runs', async () => {
    const { sealing } = await makeDays();
    const { number } = await newestOf(sealing);
    await ask();

    const progress = await finish(sealing);

    expect(progress.length).toBeGreaterThan(2);
    // The run that begins it has written one more file before.
    expect(progress.map(({ last, of }) => [last, of])).toEqual(
      progress.map(() => [number + 1, number + 1]),
    );
    const checked = progress.map((each) => each.checked);
    expect(checked).toEqual([...new Set(checked)].sort((a, b) => a - b));
    expect(checked.at(-1)).toBe(number + 1);
    expect(progress.map(({ first }) => first)).toEqual(checked.map((count) => count + 1));
    expect(progress.at(-1)?.ended_at).toBe(new Date(now).toISOString());
    await runAfter(sealing);
    expect(await wholeCheck.read(), 'after its end').toEqual(progress.at(-1));
    expect([found, failures]).toEqual([[], []]);
  });

  it('reports what was changed in an old and in the last file, and leaves what the ordinary check said', async () => {
    const { sealing, ids } = await makeDays();
    const before = (await newestOf(sealing)).check as Check;
    const [old = 0, last = 0] = [ids[3], ids.at(-1)];
    await change(old);
    await change(last);
    await ask();

    await finish(sealing);

    const { check } = await newestOf(sealing);
    expect(check?.named.map(({ kind, subject }) => [kind, subject])).toEqual([
      ['changed', String(last)],
      ['changed', String(old)],
    ]);
    expect(check).toMatchObject({ ...recentOf(before), findings: 2 });
    expect(found).toEqual([[String(old)], [String(last)]]);
  });

  it('drops a finding whose cause is repaired as soon as a part covers it', async () => {
    const { sealing, ids } = await makeDays();
    const id = ids[3] ?? 0;
    await change(id);
    await ask();
    await finish(sealing);
    await change(id, null);
    now += 24 * hour;
    await ask();

    await finish(sealing);

    expect((await newestOf(sealing)).check).toMatchObject({
      findings: 0,
      named: [],
      found: expect.any(String),
    });
  });

  it('keeps a finding of an earlier part although a later part has another line of the same entry', async () => {
    const { sealing, ids } = await makeDays();
    const [id = 0] = ids;
    await send(
      new UpdateCommand({
        TableName: config.auditTable,
        Key: { id },
        UpdateExpression: 'SET ip_address = :address, created_at_id = :key',
        ExpressionAttributeValues: { ':address': 'changed', ':key': createdKey(id) },
      }),
    );
    for (let run = 0; run < 6; run += 1) await runAfter(sealing, 12 * hour);
    await ask();

    // An ordinary check begins between the parts.
    await finish(sealing, async () => {
      now += hour;
    });

    const { check } = await newestOf(sealing);
    expect(check?.named.map(({ subject }) => subject)).toEqual([String(id)]);
  });

  it('counts findings once that the ordinary check has already, also if the header does not name them', async () => {
    const sealing = { ...makeSealing(), checked: 1000 };
    const ids: number[] = [];
    for (let entry = 0; entry < 15; entry += 1) ids.push(await add());
    await runAfter(sealing, hour);
    for (const id of ids) await change(id);
    const ordinary = await runAfter(sealing, hour);
    await ask();

    await finish(sealing);

    expect([ordinary.findings, ordinary.named.length]).toEqual([15, 10]);
    expect((await newestOf(sealing)).check).toMatchObject({ findings: 15 });
  });

  /** An archive of ten daily files of four entries each, of which 30 entries are changed and a whole check has found them. */
  const foundInAll = async () => {
    const sealing = { ...makeSealing(), checked: 1000 };
    const ids: number[] = [];
    for (let file = 0; file < 10; file += 1) {
      for (let entry = 0; entry < 4; entry += 1) ids.push(await add());
      await runAfter(sealing, 24 * hour);
    }
    const old = ids.slice(0, 30);
    for (const id of old) await change(id);
    now += minute;
    await ask();
    await finish({ ...sealing, checked: 12 });
    return { sealing, ids, old };
  };
  const countsOf = ({ findings, named }: Check) => [findings, named.length];

  it('has findings that later checks of the two days and of a part count on, also those that are not named', async () => {
    const { sealing } = await foundInAll();

    const counts = [countsOf((await newestOf(sealing)).check as Check)];
    for (const time of [minute, hour, hour, 24 * hour, 24 * hour, 24 * hour]) {
      counts.push(countsOf(await runAfter(sealing, time)));
    }

    expect(counts).toEqual(counts.map(() => [30, 10]));
  });

  it.each([10, 15])('has findings that %i new ones do not push out of the count', async (count) => {
    const { sealing } = await foundInAll();
    const ids: number[] = [];
    for (let entry = 0; entry < count; entry += 1) ids.push(await add());
    await runAfter(sealing, 2 * minute);
    for (const id of ids) await change(id);

    const counts: number[] = [];
    for (let run = 0; run < 4; run += 1) counts.push((await runAfter(sealing, hour)).findings);

    // Of more than ten, those that are not named may be among the earlier ones that are not.
    expect(counts).toEqual(counts.map(() => 40));
  });

  it('is refuted as a whole by the next one, once all is repaired', async () => {
    const { sealing, old } = await foundInAll();
    for (const id of old) await change(id, null);
    const before = await runAfter(sealing, 24 * hour);
    await ask();

    await finish(sealing);

    expect(before.findings).toBeGreaterThan(10);
    expect((await newestOf(sealing)).check).toMatchObject({ findings: 0, named: [] });
  });

  it('has findings that are counted for 31 days at most, if nothing is found meanwhile', async () => {
    const { sealing, old } = await foundInAll();
    for (const id of old) await change(id, null);

    const counts: number[] = [];
    for (let days = 0; days < 32; days += 1) {
      counts.push((await runAfter(sealing, 24 * hour)).findings);
    }

    expect(counts.at(28)).toBeGreaterThan(0);
    expect(counts.at(-1)).toBe(0);
  });

  it('leaves ordinary checks their times', async () => {
    const { sealing } = await makeDays();
    const times = async () => {
      const at: string[] = [];
      for (let run = 0; run < 4; run += 1) at.push((await runAfter(sealing, hour / 2)).at);
      return at;
    };
    const before = now;
    const usual = await times();
    const later = now;
    await ask();

    const beside = await times();

    const since = (begin: number) => (at: string) => Date.parse(at) - begin;
    expect(new Set(usual).size).toBe(3);
    expect(beside.map(since(later))).toEqual(usual.map(since(before)));
    expect((await wholeCheck.read())?.checked).toBeGreaterThan(0);
  });

  it('ends at the file that was the last one when it began, although new files arrive', async () => {
    const { sealing } = await makeDays();
    await ask();

    const progress = await finish(sealing, add);

    const [{ last = null } = {}] = progress;
    expect(progress.map((each) => each.last)).toEqual(progress.map(() => last));
    expect(progress.at(-1)).toMatchObject({ checked: last, of: last });
    expect((await newestOf(sealing)).number).toBeGreaterThan(last ?? 0);
    expect([found, failures]).toEqual([[], []]);
  });

  it('repeats a part after a crash before its progress was stored, and counts its findings once', async () => {
    const { sealing, ids } = await makeDays();
    await change(ids[0] ?? 0);
    await ask();
    let writes = 0;
    const crashing: Store = {
      read: wholeCheck.read,
      write: async (whole) => {
        writes += 1;
        if (writes === 2) throw new Error('The process is killed');
        return wholeCheck.write(whole);
      },
    };

    const check = await runAfter({ ...sealing, whole: crashing });
    const crashed = await wholeCheck.read();
    await finish(sealing);

    expect(check.findings).toBe(1);
    expect(crashed).toMatchObject({ first: 1, checked: 0, attempts: 1 });
    expect(await wholeCheck.read()).toMatchObject({ attempts: 0, ended_at: expect.any(String) });
    expect((await newestOf(sealing)).check?.findings).toBe(1);
    expect(failures).toEqual(['audit-whole-check-failed']);
  });

  it('begins after the first ordinary check', async () => {
    const sealing = makeSealing();
    await ask();
    await add();
    await runAfter(sealing);
    const first = await wholeCheck.read();
    await runAfter(sealing, hour);

    expect(first).toMatchObject({ of: null, checked: 0 });
    expect((await wholeCheck.read())?.checked).toBeGreaterThan(0);
  });

  it('is ignored by a run that another run has overtaken', async () => {
    const { sealing } = await makeDays();
    await ask();
    const overtaken: Store = {
      ...wholeCheck,
      read: async () => {
        const whole = await wholeCheck.read();
        if (whole) await wholeCheck.write(whole);
        return whole;
      },
    };

    await runAfter({ ...sealing, whole: overtaken });

    expect(await wholeCheck.read()).toMatchObject({ checked: 0, attempts: 0 });
    expect(failures).toEqual([]);
  });

  it('changes nothing of the ordinary sealing if its item cannot be read or written', async () => {
    const { sealing } = await makeDays();
    const fail = async () => {
      throw new Error('The users table is down');
    };
    await ask();
    const { number } = await newestOf(sealing);

    await runAfter({ ...sealing, whole: { read: fail, write: fail } });
    await runAfter({ ...sealing, whole: { read: wholeCheck.read, write: fail } });

    expect((await newestOf(sealing)).number).toBe(number + 2);
    expect(failures).toEqual(['audit-whole-check-failed', 'audit-whole-check-failed']);
  });
});

describe('A part of a whole check', () => {
  /** The milliseconds that the clock of the process is ahead after a part has begun. */
  let jump: number;
  let ahead: number;
  /** Has the clock of the process jump when a part begins. */
  const jumping: Store = {
    read: wholeCheck.read,
    write: async (whole) => {
      const next = await wholeCheck.write(whole);
      ahead = jump;
      return next;
    },
  };
  const clock = performance.now.bind(performance);
  const runWith = async (sealing: Sealing, milliseconds: number) => {
    [ahead, jump] = [0, milliseconds];
    const spied = vi.spyOn(performance, 'now').mockImplementation(() => clock() + ahead);
    await runAfter({ ...sealing, whole: jumping });
    spied.mockRestore();
    return wholeCheck.read();
  };

  it('ends after the current file once half of its four minutes are over', async () => {
    const { sealing } = await makeDays();
    await ask();

    expect(await runWith(sealing, 121_000)).toMatchObject({ first: 2, checked: 1, attempts: 0 });
  });

  it('that takes four minutes is given up, and tried again with half as many lines', async () => {
    const { sealing } = await makeDays();
    await ask();

    const slow = await runWith(sealing, 241_000);
    const half = await runWith(sealing, 0);
    const next = await runWith(sealing, 0);

    expect(slow).toMatchObject({ first: 1, checked: 0, attempts: 1, ended_at: null });
    expect(half?.checked).toBeGreaterThan(0);
    expect((next?.checked ?? 0) - (half?.checked ?? 0)).toBeGreaterThan(half?.checked ?? 0);
    expect(failures).toEqual(['audit-whole-check-failed']);
  });

  it('ends the whole check if ten runs in a row have not finished it', async () => {
    const { sealing } = await makeDays();
    await ask();

    for (let run = 0; run < 10; run += 1) await runWith(sealing, 241_000);
    const before = await wholeCheck.read();
    const after = await runWith(sealing, 0);

    expect(before).toMatchObject({ checked: 0, attempts: 10, ended_at: null });
    expect(after).toMatchObject({ checked: 0, ended_at: new Date(now).toISOString() });
    expect(after?.of).toBeGreaterThan(0);
  });

  it('is not begun if the function has no time for it, and leaves time to keep its findings', async () => {
    const { sealing } = await makeDays();
    await ask();
    let left = 200_000;
    const remaining = () => left;

    await runAfter(sealing, minute, { remaining });
    const before = await wholeCheck.read();
    left = 400_000;
    const running: Store = {
      read: wholeCheck.read,
      write: async (whole) => {
        const next = await wholeCheck.write(whole);
        left = 119_000;
        return next;
      },
    };
    await runAfter({ ...sealing, whole: running }, minute, { remaining });

    expect(before).toMatchObject({ of: null, attempts: 0 });
    expect(await wholeCheck.read()).toMatchObject({ checked: 0, attempts: 1 });
    expect(failures).toEqual(['audit-whole-check-failed']);
  });
});
