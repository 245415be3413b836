import type { KeyObject } from 'node:crypto';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import { logFailure, runSealer } from '../../../lib/seal/check.ts';
import { fileName, isSigned, readHeader, type SignedHeader } from '../../../lib/seal/header.ts';
import { headersOf, makeTrail, type TestTrail } from '../../support/sealed-trail.ts';

const day = 86_400_000;

/** What was logged as findings of the trail. */
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

/** Leaves an entry, and runs the sealer some hours later. @returns the newest header */
const runAfter = async (trail: TestTrail, hours: number): Promise<SignedHeader | undefined> => {
  trail.add();
  trail.now += hours * 3_600_000;
  await runSealer(trail, new Date(trail.now));
  return headersOf(trail).at(-1);
};

/** A trail of some days, with a run each twelve hours. */
const makeDays = async (days: number) => {
  const trail = makeTrail();
  for (let run = 0; run < 2 * days; run += 1) await runAfter(trail, 12);
  return trail;
};

const changeEntry = ({ source }: TestTrail, at: number): string => {
  const id = [...source.items.keys()].at(at) ?? 0;
  source.items.set(id, { ...source.items.get(id), ip_address: 'changed' });
  return String(id);
};

/** The numbers of the files of a check, which may begin again at the beginning. */
const numbersIn = (check: SignedHeader['check'] | undefined, end: number): readonly number[] => {
  const { first = 1, last = 0 } = check ?? {};
  const all = Array.from({ length: end }, (_, i) => i + 1);
  return all.filter((number) =>
    first <= last ? number >= first && number <= last : number >= first || number <= last,
  );
};

describe('The sealer’s own check', () => {
  it('comes in the second run and then once a day, and its outcome stands in each header after it', async () => {
    const trail = makeTrail();

    const checks: (string | undefined)[] = [];
    for (let run = 0; run < 5; run += 1) checks.push((await runAfter(trail, 12))?.check?.at);

    const at = (hours: number) => new Date(Date.UTC(2026, 10, 22, 12 + hours)).toISOString();
    expect(checks).toEqual([undefined, at(24), at(24), at(48), at(48)]);
    const last = headersOf(trail).at(-1);
    expect(last?.check).toMatchObject({ findings: 0, found: null });
    expect(logged).toEqual([]);
  });

  it('counts each finding once where all files are of the last two days', async () => {
    const trail = makeTrail();
    await runAfter(trail, 12);
    changeEntry(trail, 0);

    const newest = await runAfter(trail, 12);

    expect(newest?.check).toMatchObject({ first: 1, last: 0, findings: 1 });
    expect(logged).toMatchObject([{ faults: 1 }]);
  });

  it('takes the whole archive in thirty days, part by part', async () => {
    const trail = await makeDays(20);
    const seen = new Set<number>();

    for (let days = 0; days < 31; days += 1) {
      const { check, number = 0 } = (await runAfter(trail, 24)) ?? {};
      for (const each of numbersIn(check, number)) seen.add(each);
    }

    const old = headersOf(trail)
      .map(({ number }) => number)
      .slice(0, 55);
    expect(old.filter((number) => !seen.has(number))).toEqual([]);
    expect((await trail.verify()).findings).toEqual([]);
  });

  it('tells within a day what was done to an entry of yesterday, and the header keeps when', async () => {
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

  it('tells within thirty days what was done to an old entry', async () => {
    const trail = await makeDays(20);
    const id = changeEntry(trail, 3);

    for (let days = 0; days < 30; days += 1) await runAfter(trail, 24);

    expect(logged[0]?.findings).toMatchObject([{ kind: 'changed', subject: id }]);
    expect(headersOf(trail).at(-1)?.check).toMatchObject({
      findings: 0,
      found: expect.any(String),
    });
  });

  it('comes after sealing, and again in the next run when it failed', async () => {
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

  it('ends in time, and goes on from there the next day', async () => {
    const trail = await makeDays(40);
    await runAfter(trail, 12);
    let left = 200_000;
    const remaining = () => {
      left -= 1000;
      return left;
    };
    trail.now += day;
    const before = headersOf(trail).at(-1)?.check?.last ?? 0;

    await expect(
      runSealer(trail, new Date(trail.now), { remaining: () => 100_000 }),
    ).resolves.toBeUndefined();
    await runSealer(trail, new Date(trail.now), { remaining });

    const { check } = headersOf(trail).at(-1) ?? {};
    expect(check?.first).toBeGreaterThan(before);
    expect(check?.at).toBe(new Date(trail.now).toISOString());
  });
});

describe('A run of the sealer', () => {
  it('tells at once of files behind the newest one that are none', async () => {
    const trail = await makeDays(1);
    const next = headersOf(trail).length + 1;
    trail.archive.files.set(fileName(next), Buffer.from('junk'));

    await runAfter(trail, 1);

    expect(logged).toEqual([
      expect.objectContaining({
        faults: 1,
        findings: [{ kind: 'foreign', subject: `file ${next} (${fileName(next)})` }],
      }),
    ]);
  });

  it('tells at once that the newest file that was shown is gone, and goes on', async () => {
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
    for (let run = 0; run < 3; run += 1) await runAfter(trail, 1);
    const newest = headersOf(trail).at(-1)?.number ?? 0;
    trail.archive.files.delete(fileName(newest));

    const header = await runAfter(trail, 1);

    expect(header?.number).toBe(newest);
    expect(logged.map(({ findings }) => findings)).toEqual([
      [{ kind: 'missing', subject: `file ${newest} (${fileName(newest)})` }],
    ]);
    expect((await trail.verify()).findings).toEqual([]);
  });

  it('shows the newest header, and does not fail where it cannot be shown or read', async () => {
    const lines: string[] = [];
    const trail = makeTrail();
    const read = async () => undefined;
    const write = async (line: string) => lines.push(line);
    const fail = async () => {
      throw new Error('The users table is down');
    };

    await runSealer({ ...trail, shown: { read, write } }, new Date(trail.now));
    const failing = { ...trail, shown: { read: fail, write: fail } };
    await runSealer(failing, new Date(trail.now + 1000));

    expect(lines).toEqual([headersOf(trail)[0]?.line]);
    expect(new Set(failures)).toEqual(new Set(['audit-seal-not-shown']));
  });

  it('that failed because of the archive raises the alarm of the trail, otherwise that of the sealer', async () => {
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
