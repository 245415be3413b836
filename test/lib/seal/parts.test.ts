import { hash } from 'node:crypto';
import { gunzipSync } from 'node:zlib';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import { runSealer } from '../../../lib/seal/check.ts';
import { type Check, fileName, type SignedHeader } from '../../../lib/seal/header.ts';
import { firstPart, newestPart } from '../../../lib/seal/parts.ts';
import { isUnfinished, nextCheck } from '../../../lib/seal/schedule.ts';
import {
  changeEntry,
  forge,
  headersOf,
  makeTrail,
  newestHeader,
  type TestTrail,
} from '../../support/sealed-trail.ts';

const minute = 60_000;
const hour = 60 * minute;

/** The subjects of the findings that were logged, line by line. */
let logged: readonly (readonly string[])[];
const printed = vi.spyOn(console, 'error');
beforeEach(() => {
  logged = [];
  printed.mockImplementation((text: string) => {
    const subjects = JSON.parse(text).findings.map(({ subject }: { subject: string }) => subject);
    logged = [...logged, subjects];
  });
});

type Bounded = TestTrail & { checked: number };

/** A trail of some files with two entries each, of which a run checks some lines. */
const makeFiles = async (files: number, checked: number): Promise<Bounded> => {
  const trail = Object.assign(makeTrail(), { checked });
  for (let file = 0; file < files; file += 1) {
    trail.add();
    trail.add();
    await trail.seal(5 * minute);
  }
  return trail;
};

/** Runs the sealer some time later. @returns the newest header */
const runAfter = async (trail: TestTrail, time = minute): Promise<SignedHeader> => {
  trail.now += time;
  await runSealer(trail, new Date(trail.now));
  return newestHeader(trail) as SignedHeader;
};

/** Runs the sealer until its check is finished. @returns the outcome in each of the headers */
const finish = async (trail: TestTrail, time = minute) => {
  const checks: Check[] = [];
  do {
    const { check } = await runAfter(trail, time);
    if (check) checks.push(check);
  } while (isUnfinished(checks.at(-1) ?? null) && checks.length < 50);
  return checks;
};

/** The entries of a file. */
const idsIn = ({ source }: TestTrail, file: number): readonly number[] =>
  [...source.items.keys()].slice(2 * file - 2, 2 * file);

const changeIn = (trail: TestTrail, file: number): string => changeEntry(trail, 2 * file - 2);

const mend = ({ source: { items } }: TestTrail, id: string): unknown =>
  items.set(Number(id), { ...items.get(Number(id)), ip_address: null });

const nameOf = (file: number) => `file ${file} (${fileName(file)})`;

// biome-ignore format: a table
it.each([
  [[2, 2, 2, 2], 1, 1],
  [[2, 2, 2, 2], 2, 1],
  [[2, 2, 2, 2], 3, 2],
  [[2, 2, 2, 2], 9, 4],
  [[2, 0, 0, 2], 2, 1],
  [[2, 0, 0, 2], 3, 4],
  [[2, 2, undefined, 2], 2, 2],
  [[undefined, undefined, 2], 2, 3],
  [[], 2, 0],
])('Of files with %j lines, a part of %i lines has the last %i', (lines, most, count) => {
  const files = lines.map((each, i) => ({ number: i + 1, lines: each }));

  expect(newestPart(files, most)).toEqual(files.slice(files.length - count).map(({ number }) => number));
});

it('The first part of some files has at most a number of files, and as many more as its last one needs to be signed', async () => {
  const trail = await makeFiles(6, 6);
  trail.archive.files.set(fileName(3), Buffer.from('junk'));
  const part = (lines: number, most?: number) =>
    firstPart({ ...trail, publicKey: trail.signer.publicKey }, [1, 2, 3, 4, 5, 6], lines, most);

  expect(await part(100, 2)).toEqual([1, 2]);
  expect(await part(100, 3)).toEqual([1, 2, 3, 4]);
  expect(await part(1, 3)).toEqual([1]);
  expect(await part(100)).toEqual([1, 2, 3, 4, 5, 6]);
});

describe('A check in parts', () => {
  it('covers the newest files first, goes on with the files before them, and says so in the headers', async () => {
    const trail = await makeFiles(8, 6);
    const newest = newestHeader(trail);

    const checks = await finish(trail);

    // The first run has sealed file 9 before it checked.
    const at = new Date(newest ? Date.parse(newest.at) + minute : 0).toISOString();
    const until = headersOf(trail)[8]?.until;
    expect(checks.map(({ first, entries }) => [first, entries])).toEqual([
      [6, 6],
      [3, 12],
      [1, 16],
    ]);
    for (const check of checks)
      expect(check).toMatchObject({ at, last: 9, until, findings: 0, later: 0 });
    expect(checks.map((check) => nextCheck(check, 60) <= trail.now)).toEqual([true, true, false]);
    expect(logged).toEqual([]);
  });

  it('is followed by the next check an hour after it began', async () => {
    const trail = await makeFiles(8, 6);
    const checks = await finish(trail);

    const [before, after] = [
      await runAfter(trail, 50 * minute),
      await runAfter(trail, 10 * minute),
    ];

    expect(before.check?.at).toBe(checks[0]?.at);
    expect(after.check).toMatchObject({ at: after.at, last: after.number - 1 });
  });

  const tamperings: Readonly<Record<string, (trail: TestTrail, file: number) => string>> = {
    changed: changeIn,
    deleted: (trail, file) => {
      const [id = 0] = idsIn(trail, file);
      trail.source.items.delete(id);
      return String(id);
    },
    inserted: (trail, file) => {
      const { oldest } = headersOf(trail)[file - 1] as SignedHeader;
      return String(forge(trail, new Date(Date.parse(oldest ?? '') + 1000).toISOString()));
    },
    missing: ({ archive }, file) => {
      archive.files.delete(fileName(file));
      return nameOf(file);
    },
    altered: ({ archive }, file) => {
      archive.altered.add(fileName(file));
      return nameOf(file);
    },
    foreign: ({ archive }, file) => {
      archive.files.set(fileName(file), Buffer.from('junk'));
      return nameOf(file);
    },
  };
  it.each(Object.keys(tamperings))(
    'reports a tampering of any file exactly once: %s',
    async (kind) => {
      for (let file = 1; file <= 7; file += 1) {
        const trail = await makeFiles(9, 4);
        const subject = tamperings[kind]?.(trail, file);

        const last = (await finish(trail)).at(-1);

        expect(last?.named, `file ${file}`).toEqual([{ kind, subject, at: expect.any(String) }]);
        expect(last?.findings).toBe(1);
        expect(logged.at(-1)).toEqual([subject]);
        expect(logged).toHaveLength(file);
      }
    },
  );

  it('finds no fault in entries that were sealed late, or replayed, into the files of another part', async () => {
    const trail = await makeFiles(3, 2);
    for (let file = 0; file < 4; file += 1) {
      trail.source.lagging.set(trail.add(), trail.now + 4 * minute);
      trail.replay([trail.now - 12 * minute]);
      await trail.seal(5 * minute);
    }
    await trail.seal(5 * minute);

    const checks = await finish(trail);

    expect(checks.length).toBeGreaterThan(4);
    expect(checks.at(-1)).toMatchObject({ first: 1, findings: 0 });
    expect((await trail.verify()).findings).toEqual([]);
  });

  it('reads only the time of its part from the index', async () => {
    const trail = await makeFiles(8, 6);
    await runAfter(trail);
    const read = vi.spyOn(trail.source, 'between');

    const { check } = await runAfter(trail);

    const headers = headersOf(trail);
    const part = [headers[2]?.from, headers[4]?.until];
    expect(check?.first).toBe(3);
    expect(read.mock.calls).toContainEqual(part);
    // The other reads are of the two times that the run seals.
    expect(read).toHaveBeenCalledTimes(3);
  });

  it('keeps a finding until the next check has covered the same part again', async () => {
    const trail = await makeFiles(8, 6);
    const id = changeIn(trail, 2);
    const found = await finish(trail);
    mend(trail, id);
    trail.now += hour;

    const later = await finish(trail);

    expect(found.map(({ findings }) => findings)).toEqual([0, 0, 1]);
    expect(later.map(({ findings }) => findings)).toEqual([1, 1, 0]);
    expect(logged).toEqual([[id]]);
  });

  it('keeps the findings of its earlier parts, also those that are not named', async () => {
    const trail = await makeFiles(8, 12);
    const deleted = [3, 4, 5, 6, 7, 8].flatMap((file) => idsIn(trail, file));
    for (const id of deleted) trail.source.items.delete(id);
    changeIn(trail, 1);

    const checks = await finish(trail);

    expect(checks.map(({ findings, named }) => [findings, named.length])).toEqual([
      [12, 10],
      [13, 10],
    ]);
  });

  it('does not refute what an earlier part of it has found of the same entry', async () => {
    const trail = await makeFiles(4, 2);
    const [id = 0] = idsIn(trail, 1);
    const item = trail.source.items.get(id) ?? {};
    const created_at = new Date(trail.now).toISOString();
    trail.source.items.set(id, { ...item, created_at, created_at_id: `${created_at}#${id}` });
    await trail.seal(5 * minute);
    trail.source.items.set(id, item);

    const checks = await finish(trail);

    expect(checks.map(({ named }) => named.map(({ subject }) => subject))).toEqual(
      checks.map(() => [String(id)]),
    );
    expect(checks.length).toBeGreaterThan(3);
  });

  it('drops a finding of files that are in two parts once it has covered both', async () => {
    const trail = await makeFiles(6, 100);
    for (const file of [3, 4]) trail.archive.altered.add(fileName(file));
    const [whole] = await finish(trail);
    trail.archive.altered.clear();
    trail.checked = 6;
    trail.now += hour;

    const checks = await finish(trail);

    expect(whole?.named.map(({ subject }) => subject)).toEqual(['files 3 to 4']);
    expect(checks.map(({ first, findings }) => [first, findings])).toEqual([
      [4, 1],
      [1, 0],
    ]);
  });

  it('comes to its end although each run seals more lines than it checks', async () => {
    const trail = await makeFiles(8, 4);
    const id = changeIn(trail, 1);
    const checks: Check[] = [];

    for (let run = 0; run < 12; run += 1) {
      for (let entry = 0; entry < 8; entry += 1) trail.add();
      checks.push((await runAfter(trail, 5 * minute)).check as Check);
    }

    const ended = checks.findIndex((check) => !isUnfinished(check));
    expect(checks[ended]).toMatchObject({ at: checks[0]?.at, first: 1, named: [{ subject: id }] });
    expect(checks[ended + 1]?.at, 'of the next check').toBe(checks.at(-1)?.at);
  });

  it('comes to its end although another check is requested in each run, and the next one answers them', async () => {
    let mark: string | undefined;
    const asked = { read: async () => mark, remove: async () => (mark = undefined) };
    const trail = Object.assign(await makeFiles(8, 6), { asked });
    const seen: (readonly [number | undefined, string | undefined])[] = [];

    for (let run = 0; run < 4; run += 1) {
      if (run > 0) mark = 'a';
      const { check } = await runAfter(trail);
      seen.push([check?.first, mark]);
    }

    expect(seen).toEqual([
      [6, undefined],
      [3, 'a'],
      [1, 'a'],
      [expect.any(Number), undefined],
    ]);
    expect(newestHeader(trail)?.check?.at).toBe(new Date(trail.now).toISOString());
  });

  it('is as long as before if a part of it fails', async () => {
    const trail = await makeFiles(8, 6);
    await runAfter(trail);
    const { byIds } = trail.source;
    const fail = async () => {
      throw new Error('The table cannot be read');
    };
    Object.assign(trail.source, { byIds: fail });
    const id = changeIn(trail, 4);
    trail.source.items.delete(idsIn(trail, 5)[0] ?? 0);
    await expect(runAfter(trail)).rejects.toThrow();
    Object.assign(trail.source, { byIds });

    const { check } = await runAfter(trail);

    expect(check).toMatchObject({ first: 3, findings: 2 });
    expect(check?.named.map(({ subject }) => subject)).toContain(id);
  });
});

it('The files of a trail of which two days fit in one part have the contents that they have in 1.0.0', async () => {
  let mark: string | undefined;
  const asked = { read: async () => mark, remove: async () => (mark = undefined) };
  const trail = Object.assign(makeTrail(), { asked });

  for (let run = 0; run < 30; run += 1) {
    trail.add();
    if (run === 9) mark = 'a';
    if (run === 12) trail.source.items.delete([...trail.source.items.keys()][2] ?? 0);
    await runAfter(trail, 4 * hour);
  }

  // The fields that are left out follow from the compressed lines, whose bytes depend on the version of zlib.
  const contents = [...trail.archive.files].map(([name, file]) => {
    const [header = '', ...lines] = gunzipSync(file).toString().split('\n');
    const { previous, length, sha256, signature, ...fields } = JSON.parse(header);
    return [name, fields, lines];
  });
  const ofRelease = '4f9dee44a94eeda3eda554d6251c4d22d59c18bf91f6ff6c18d214410e3de8b8';
  expect(hash('sha256', JSON.stringify(contents))).toBe(ofRelease);
});

describe('The check of the older files in parts', () => {
  /** A trail of some days, with two files of three entries a day. */
  const makeDays = async (days: number, checked: number): Promise<Bounded> => {
    const trail = Object.assign(makeTrail(), { checked });
    for (let file = 0; file < 2 * days; file += 1) {
      for (let entry = 0; entry < 3; entry += 1) trail.add();
      await trail.seal(12 * hour);
    }
    return trail;
  };

  it('goes on in the next runs, until the files of a day are covered', async () => {
    const trail = await makeDays(40, 6);
    await finish(trail);
    trail.now += 24 * hour;

    const checks = await finish(trail);

    const parts = checks.map(({ part }) => [part?.first, part?.last]);
    expect(parts).toEqual([
      [7, 8],
      [7, 10],
      [7, 12],
      [7, 14],
    ]);
    expect(checks.at(-1)?.part?.at).toBe(checks[0]?.at);
  });

  it('covers the whole archive within thirty days', async () => {
    const trail = await makeDays(10, 3);
    const old = headersOf(trail).slice(0, 16);
    const seen = new Set<number>();

    for (let days = 0; days < 30; days += 1) {
      trail.now += 24 * hour;
      const { first = 1, last = 0 } = (await finish(trail)).at(-1)?.part ?? {};
      for (let number = first; number <= last; number += 1) seen.add(number);
    }

    expect(old.filter(({ number }) => !seen.has(number))).toEqual([]);
  });
});
