import type { KeyObject } from 'node:crypto';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import { logFailure, runSealer } from '../../../lib/seal/check.ts';
import { fileName, isSigned, readHeader, type SignedHeader } from '../../../lib/seal/header.ts';
import {
  changeEntry,
  forge,
  headersOf,
  makeTrail,
  newestHeader,
  type TestTrail,
} from '../../support/sealed-trail.ts';

const [hour, day] = [3_600_000, 86_400_000];

/** The findings of the trail that were logged. */
let logged: readonly {
  readonly faults: number;
  readonly findings: readonly { subject: string }[];
}[];
let failures: readonly string[];
const printed = vi.spyOn(console, 'error');
beforeEach(() => {
  logged = [];
  failures = [];
  printed.mockImplementation((text: string) => {
    const line = JSON.parse(text);
    if (line.event === 'audit-trail-broken') logged = [...logged, line];
    else failures = [...failures, line.event];
  });
});

/** Adds an entry, and runs the sealer some hours later. @returns the newest header */
const runAfter = async (trail: TestTrail, hours: number): Promise<SignedHeader | undefined> => {
  trail.add();
  trail.now += hours * 3_600_000;
  await runSealer(trail, new Date(trail.now));
  return newestHeader(trail);
};

/** A trail of some days, with a run every twelve hours. */
const makeDays = async (days: number) => {
  const trail = makeTrail();
  for (let run = 0; run < 2 * days; run += 1) await runAfter(trail, 12);
  return trail;
};

/** Removes a value from a map, or changes parts of it. @returns a function that restores the value */
const swap = <K, V>(map: Map<K, V>, at: number, parts?: Partial<V>) => {
  const [key, value] = [...map].at(at) as [K, V];
  if (parts) map.set(key, { ...value, ...parts });
  else map.delete(key);
  return () => map.set(key, value);
};

const overwrite = ({ altered }: TestTrail['archive'], number: number) => {
  altered.add(fileName(number));
  return () => altered.delete(fileName(number));
};

/** Puts an entry with a time an hour ago into the table. @returns a function that removes the entry */
const insert = (trail: TestTrail) => {
  const id = forge(trail, new Date(trail.now - hour).toISOString());
  return () => trail.source.items.delete(id);
};

/** The numbers of the files in the part that a check covers. */
const numbersIn = (check: SignedHeader['check'] | undefined): readonly number[] => {
  const { first = 1, last = 0 } = check?.part ?? {};
  return Array.from({ length: last - first + 1 }, (_, i) => first + i);
};

describe('The check by the sealer', () => {
  it('is made in the second run and then each hour, and all later headers have its outcome', async () => {
    const trail = makeTrail();

    const checks: (string | undefined)[] = [];
    for (let run = 0; run < 5; run += 1) checks.push((await runAfter(trail, 0.5))?.check?.at);

    const at = (hours: number) => new Date(Date.UTC(2026, 10, 22, 12 + hours)).toISOString();
    expect(checks).toEqual([undefined, at(1), at(1), at(2), at(2)]);
    const last = newestHeader(trail);
    expect(last?.check).toMatchObject({ findings: 0, named: [], found: null });
    expect(logged).toEqual([]);
  });

  it('names a changed entry within an hour, and the headers that follow name it too', async () => {
    const trail = await makeDays(2);
    await runAfter(trail, 1);
    const id = changeEntry(trail, -2);

    const newest = await runAfter(trail, 1);

    const at = new Date(trail.now).toISOString();
    expect(newest?.check?.named).toEqual([{ kind: 'changed', subject: id, at }]);
    expect((await runAfter(trail, 0.1))?.check?.named).toEqual(newest?.check?.named);
  });

  it('counts each finding once if all files are from the last two days', async () => {
    const trail = makeTrail();
    await runAfter(trail, 12);
    changeEntry(trail, 0);

    const newest = await runAfter(trail, 12);

    expect(newest?.check).toMatchObject({ first: 1, part: { first: 1, last: 0 }, findings: 1 });
    expect(logged).toMatchObject([{ faults: 1 }]);
  });

  it('covers the whole archive within thirty days, part by part', async () => {
    const trail = await makeDays(20);
    const seen = new Set<number>();

    const lengths: number[] = [];
    for (let days = 0; days < 31; days += 1) {
      const numbers = numbersIn((await runAfter(trail, 24))?.check);
      lengths.push(numbers.length);
      for (const each of numbers) seen.add(each);
    }

    const old = headersOf(trail)
      .map(({ number }) => number)
      .slice(0, 55);
    expect(old.filter((number) => !seen.has(number))).toEqual([]);
    expect(Math.max(...lengths)).toBe(7);
    expect((await trail.verify()).findings).toEqual([]);
  });

  it('reports a changed entry of yesterday within a day, and the header keeps the time of the report', async () => {
    const trail = await makeDays(5);
    const id = changeEntry(trail, -2);

    const first = await runAfter(trail, 24);
    const found = new Date(trail.now).toISOString();
    trail.source.items.clear();
    trail.now += 3 * day;
    const later = await runAfter(trail, 24);

    expect(logged[0]).toMatchObject({ faults: 1, findings: [{ kind: 'changed', subject: id }] });
    expect(first?.check).toMatchObject({ findings: 1, found });
    expect(later?.check?.found).not.toBeNull();
  });

  it('reports a changed old entry within thirty days', async () => {
    const trail = await makeDays(20);
    const id = changeEntry(trail, 3);

    for (let days = 0; days < 30; days += 1) await runAfter(trail, 24);

    expect(logged[0]?.findings).toMatchObject([{ kind: 'changed', subject: id }]);
    expect(newestHeader(trail)?.check).toMatchObject({
      findings: 1,
      named: [{ kind: 'changed', subject: id }],
      found: expect.any(String),
    });
  });

  it('keeps a finding until the changed entry is checked again and found right', async () => {
    const trail = await makeDays(5);
    const id = Number(changeEntry(trail, 3));
    const isNamed = async () => ((await runAfter(trail, 24))?.check?.named ?? []).length === 1;
    while (!(await isNamed()));
    for (let days = 0; days < 33; days += 1) expect(await isNamed()).toBe(true);

    trail.source.items.set(id, { ...trail.source.items.get(id), ip_address: null });
    for (let days = 0; days < 35; days += 1) await runAfter(trail, 24);

    const { check } = newestHeader(trail) ?? {};
    expect(check).toMatchObject({ findings: 0, named: [], found: expect.any(String) });
  });

  it('drops entries that were found inserted only because a clock was set back, once they are sealed', async () => {
    const trail = makeTrail();
    for (let run = 0; run < 3; run += 1) await runAfter(trail, 0.5);
    trail.now += 2 * hour;
    await runSealer(trail, new Date(trail.now));
    const ids = [trail.add(), trail.add(), trail.add()].map(String);
    trail.now -= 2 * hour;
    const setBack = (await runAfter(trail, 0.1))?.check;
    const foundThen = (await trail.verify()).findings;

    for (let run = 0; run < 3; run += 1) await runAfter(trail, 1);

    expect(setBack?.named.map(({ subject }) => subject)).toEqual(ids);
    expect(foundThen.map(({ kind, subject }) => [kind, subject])).toEqual(
      ids.map((id) => ['inserted', id]),
    );
    expect((await trail.verify()).findings).toEqual([]);
    expect(newestHeader(trail)?.check).toMatchObject({
      findings: 0,
      named: [],
      found: expect.any(String),
    });
  });

  it.each([
    [
      'a changed entry',
      'changed',
      ({ source }) => swap(source.items, 1, { ip_address: 'changed' }),
    ],
    ['a deleted entry', 'deleted', ({ source }) => swap(source.items, 1)],
    ['an overwritten file', 'altered', ({ archive }) => overwrite(archive, 1)],
    ['a missing file', 'missing', ({ archive }) => swap(archive.files, 1)],
    ['an inserted entry', 'inserted', insert],
  ] as const satisfies readonly [string, string, (trail: TestTrail) => () => unknown][])(
    'drops a finding in the next check once its cause is repaired: %s',
    async (_, kind, doHarm) => {
      const trail = await makeDays(1);
      await runAfter(trail, 1);
      const putRight = doHarm(trail);
      const found = (await runAfter(trail, 1))?.check;
      const still = (await runAfter(trail, 1))?.check;
      putRight();

      const check = (await runAfter(trail, 1))?.check;

      expect(found?.named.map((each) => each.kind)).toEqual([kind]);
      expect(still?.findings).toBe(1);
      expect((await trail.verify()).findings).toEqual([]);
      expect(check).toMatchObject({ findings: 0, named: [], found: still?.at });
    },
  );

  it('names at most ten findings, counts all of them, and logs the same findings only once', async () => {
    const trail = await makeDays(2);
    const ids = [...trail.source.items.keys()];
    trail.source.items.delete(ids[3] ?? 0);
    const one = (await runAfter(trail, 1))?.check;
    await runAfter(trail, 1);
    const toldOnce = logged.length;
    for (let entry = 0; entry < 20; entry += 1) trail.add();
    await runAfter(trail, 1);
    for (const id of [...trail.source.items.keys()].slice(-20)) trail.source.items.delete(id);

    const all = (await runAfter(trail, 1))?.check;

    expect([one?.findings, one?.named.length, toldOnce]).toEqual([1, 1, 1]);
    expect([all?.findings, all?.named.length]).toEqual([21, 10]);
    expect(logged.at(-1)).toMatchObject({ faults: 21 });
  });

  it('reports a new finding while an earlier reported finding still holds', async () => {
    const trail = await makeDays(2);
    const one = changeEntry(trail, -2);
    await runAfter(trail, 1);
    const other = changeEntry(trail, -4);

    const check = (await runAfter(trail, 1))?.check;

    expect(new Set(check?.named.map(({ subject }) => subject))).toEqual(new Set([one, other]));
    expect(logged.map(({ faults }) => faults)).toEqual([1, 2]);
  });

  it('names any id whatever it contains, so that no item can stop the sealer', async () => {
    const trail = await makeDays(2);
    const id = { S: '\ud800"\n'.repeat(1000) };
    trail.source.items.set(-1, { ...trail.source.items.get(Number(changeEntry(trail, 1))), id });

    const check = (await runAfter(trail, 1))?.check;

    expect(check?.named.map(({ subject }) => subject)).toContainEqual(
      expect.stringMatching(/^[ -~]{64}$/),
    );
  });

  it('records what it covered, and how many entries have been sealed since', async () => {
    const trail = await makeDays(10);

    const checked = await runAfter(trail, 1);
    const number = checked?.number ?? 0;
    await runAfter(trail, 0.2);
    const later = await runAfter(trail, 0.2);

    expect(checked?.check).toMatchObject({
      at: checked?.at,
      first: number - 9,
      last: number - 1,
      until: headersOf(trail).at(number - 2)?.until,
      entries: 5,
      later: 0,
    });
    expect(later?.check).toEqual({ ...checked?.check, later: 2 });
  });

  it('is made once a day if two days have more than 20,000 entries', async () => {
    const trail = makeTrail();
    for (let entry = 0; entry < 20_000; entry += 1) trail.add({}, trail.now - entry);
    await runAfter(trail, 1);
    const first = await runAfter(trail, 1);

    const next: boolean[] = [];
    for (let hours = 0; hours < 24; hours += 1) {
      next.push((await runAfter(trail, 1))?.check?.at !== first?.check?.at);
    }

    expect(first?.check?.entries).toBeGreaterThan(20_000);
    expect(next).toEqual([...Array(23).fill(false), true]);
  });

  it('is made again although a clock was ahead at the last check', async () => {
    const trail = await makeDays(2);
    trail.now += 400 * day;
    await runAfter(trail, 1);
    trail.now -= 400 * day;
    const id = changeEntry(trail, 0);

    expect((await runAfter(trail, 1))?.check?.named).toMatchObject([{ subject: id }]);
  });

  it('is made after sealing, and again in the next run if it failed', async () => {
    const trail = await makeDays(3);
    const { byIds } = trail.source;
    const fail = async () => {
      throw new Error('The table cannot be read');
    };
    Object.assign(trail.source, { byIds: fail });
    const before = headersOf(trail).length;
    trail.source.items.delete([...trail.source.items.keys()].at(-2) ?? 0);

    await expect(runAfter(trail, 24)).rejects.toThrow();

    expect(headersOf(trail)).toHaveLength(before + 1);
    Object.assign(trail.source, { byIds });
    expect((await runAfter(trail, 0.1))?.check).toMatchObject({ findings: 1 });
  });

  it('ends in time, and continues from its end in the next run', async () => {
    const trail = await makeDays(40);
    await runAfter(trail, 12);
    let left = 200_000;
    const remaining = () => {
      left -= 1000;
      return left;
    };
    trail.now += day;
    const before = newestHeader(trail)?.check?.part?.last ?? 0;

    await expect(
      runSealer(trail, new Date(trail.now), { remaining: () => 100_000 }),
    ).resolves.toBeUndefined();
    await runSealer(trail, new Date(trail.now), { remaining });

    const { check } = newestHeader(trail) ?? {};
    expect(check?.part?.first).toBeGreaterThan(before);
    expect(check?.at).toBe(new Date(trail.now).toISOString());
  });
});

describe('A run of the sealer', () => {
  it('reports at once junk under the names behind the newest file', async () => {
    const trail = await makeDays(1);
    const next = headersOf(trail).length + 1;
    trail.archive.files.set(fileName(next), Buffer.from('junk'));

    await runAfter(trail, 0.5);

    expect(logged).toEqual([
      expect.objectContaining({
        faults: 1,
        findings: [{ kind: 'foreign', subject: `file ${next} (${fileName(next)})` }],
      }),
    ]);
  });

  it('reports at once that the newest file that it has shown is missing, and continues', async () => {
    let line = '';
    const shown = {
      write: async (written: string) => {
        line = written;
      },
      read: async (publicKey: KeyObject) => {
        const header = readHeader(Buffer.from(line), publicKey);
        return isSigned(header) ? header : undefined;
      },
    };
    const trail = Object.assign(makeTrail(), { shown });
    for (let run = 0; run < 3; run += 1) await runAfter(trail, 0.2);
    const newest = newestHeader(trail)?.number ?? 0;
    trail.archive.files.delete(fileName(newest));

    const header = await runAfter(trail, 0.2);

    expect(header?.number).toBe(newest + 1);
    const subject = `file ${newest} (${fileName(newest)})`;
    expect(header?.check?.named).toMatchObject([{ kind: 'missing', subject }]);
    expect(logged.map(({ findings }) => findings)).toEqual([
      [{ kind: 'missing', subject: `file ${newest} (${fileName(newest)})` }],
    ]);
    expect((await trail.verify()).findings).toEqual([]);
    expect((await runAfter(trail, 1))?.check?.named, 'with another file of its number').toEqual(
      header?.check?.named,
    );
  });

  it('makes a check on request, and removes the mark of the request once the outcome is in a header', async () => {
    let mark: string | undefined = 'a';
    const remove = vi.fn(async (_: string) => {
      mark = undefined;
    });
    const asked = { read: async () => mark, remove };
    const trail = Object.assign(makeTrail(), { asked });
    const { byIds } = trail.source;
    const fail = async () => {
      throw new Error('The table cannot be read');
    };
    const checkedAt = async () => (await runAfter(trail, 0.1))?.check?.at;

    expect(await checkedAt(), 'in the first run').toBe(new Date(trail.now).toISOString());
    expect(mark).toBeUndefined();
    const before = await checkedAt();
    mark = 'b';
    trail.source.items.delete([...trail.source.items.keys()][0] ?? 0);
    Object.assign(trail.source, { byIds: fail });
    await expect(runAfter(trail, 0.1)).rejects.toThrow();
    expect(mark, 'after a check that failed').toBe('b');
    Object.assign(trail.source, { byIds });

    expect(await checkedAt()).not.toBe(before);
    await runAfter(trail, 2);
    expect(remove.mock.calls).toEqual([['a'], ['b']]);
  });

  it('shows the newest header, and does not fail if a header cannot be shown or read', async () => {
    const lines: string[] = [];
    const trail = makeTrail();
    const read = async () => undefined;
    const write = async (line: string) => lines.push(line);
    const fail = async () => {
      throw new Error('The users table is down');
    };

    await runSealer({ ...trail, shown: { read, write } }, new Date(trail.now));
    const asked = { read: fail, remove: fail };
    const failing = { ...trail, shown: { read: fail, write: fail }, asked };
    await runSealer(failing, new Date(trail.now + 1000));

    expect(lines).toEqual([headersOf(trail)[0]?.line]);
    expect(new Set(failures)).toEqual(new Set(['audit-seal-not-shown', 'audit-check-not-read']));
  });

  it('that fails raises the alarm of the trail if the archive is the cause, or else of the sealer', async () => {
    const trail = await makeDays(1);
    for (let number = 5; number < 1010; number += 1) {
      trail.archive.files.set(fileName(number), Buffer.from('junk'));
    }

    await runAfter(trail, 1).catch(logFailure);
    logFailure(new Error('The store is down'));

    expect(logged).toMatchObject([{ faults: 1 }]);
    expect(failures).toEqual(['audit-seal-failed']);
  });
});
