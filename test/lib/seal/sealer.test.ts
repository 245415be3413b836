import { describe, expect, it, vi } from 'vitest';
import { memberOf } from '../../../lib/seal/archive.ts';
import { fileName } from '../../../lib/seal/header.ts';
import { seal } from '../../../lib/seal/sealer.ts';
import { headersOf, makeTrail, type TestTrail } from '../../support/sealed-trail.ts';

const minute = 60_000;
const hour = 60 * minute;
const iso = (time: number) => new Date(time).toISOString();

/** The number of lines in each file. */
const counts = (trail: TestTrail) => headersOf(trail).map(({ count }) => count);

const expectSound = async (trail: TestTrail) => {
  const { findings, waiting, entries } = await trail.verify();
  expect([findings, waiting, entries]).toEqual([[], 0, trail.source.items.size]);
};

/** A trail of five files with one entry each. */
const makeFive = async () => {
  const trail = makeTrail();
  for (let file = 0; file < 5; file += 1) {
    trail.add();
    await trail.seal(2 * minute);
  }
  return trail;
};

const junk = ({ archive }: TestTrail, ...numbers: readonly number[]) => {
  for (const number of numbers) archive.files.set(fileName(number), Buffer.from('junk'));
};

describe('A run of the sealer', () => {
  it('writes a file even without entries to seal, and the next run continues from this file', async () => {
    const trail = makeTrail();

    await trail.seal();
    await trail.seal(minute);

    expect(headersOf(trail)).toMatchObject([
      { number: 1, previous: null, from: '', until: iso(trail.now - 2 * minute), count: 0 },
      {
        number: 2,
        from: iso(trail.now - 2 * minute),
        until: iso(trail.now - minute),
        oldest: null,
      },
    ]);
    const [one, two] = headersOf(trail);
    expect(two?.previous).toBe(one?.hash);
  });

  it('leaves the newest entries to the next run', async () => {
    const trail = makeTrail();
    trail.add();

    await trail.seal(minute - 1);
    await trail.seal(2);

    expect(counts(trail)).toEqual([0, 1]);
  });

  it('seals in its first run all entries of a table, whatever their age, in files of limited size', async () => {
    const trail = Object.assign(makeTrail(), { size: 4 });
    for (let age = 0; age < 10; age += 1) trail.add({}, trail.now - age * 400 * 24 * hour - minute);

    await trail.seal(minute);

    expect(counts(trail)).toEqual([4, 4, 2]);
    const [one, two, three] = headersOf(trail);
    expect([two?.from, three?.from]).toEqual([one?.until, two?.until]);
    expect(two?.until).toMatch(/#\d{16}$/);
    await expectSound(trail);
  });

  it('ends a file after 64 MB of lines', async () => {
    const trail = makeTrail();
    for (let entry = 0; entry < 90; entry += 1) trail.add({ details: 'x'.repeat(800_000) });

    await trail.seal(2 * minute);

    expect(counts(trail)).toEqual([80, 10]);
  });

  it('seals entries that the index shows late, and seals them once', async () => {
    const trail = makeTrail();
    trail.source.lagging.set(trail.add(), trail.now + 9 * minute);

    for (let run = 0; run < 15; run += 1) await trail.seal(minute);

    expect(counts(trail).filter(Boolean)).toEqual([1]);
    await expectSound(trail);
  });

  it('lets no file end before it begins, even if late entries fill several files', async () => {
    const trail = Object.assign(makeTrail(), { size: 1 });
    for (let late = 0; late < 3; late += 1) {
      trail.source.lagging.set(trail.add(), trail.now + 7 * minute);
    }
    for (let run = 0; run < 5; run += 1) await trail.seal(2 * minute);

    const ends = headersOf(trail).map(({ until }) => until);
    expect(ends.toSorted()).toEqual(ends);
    expect(counts(trail).filter((count) => count === 1)).toHaveLength(3);
    await expectSound(trail);
  });

  it('seals all entries of 26 hours without a run, and seals them once', async () => {
    const trail = await makeFive();
    for (let entry = 0; entry < 26; entry += 1) trail.add({}, trail.now + entry * hour);

    await trail.seal(26 * hour);

    expect(counts(trail)).toEqual([1, 1, 1, 1, 1, 26]);
    await expectSound(trail);
  });

  it('seals the entries that a replay lists, however old they are, and seals them once', async () => {
    const trail = await makeFive();
    trail.replay([trail.now - 90 * 24 * hour, trail.now - hour]);

    for (let run = 0; run < 12; run += 1) await trail.seal(2 * minute);

    expect(counts(trail).slice(5)).toEqual([3, ...Array.from({ length: 11 }, () => 0)]);
    await expectSound(trail);
  });

  it('ignores entries that a replay lists but that do not exist', async () => {
    const trail = makeTrail();
    trail.add({ action: 'CREATE', resource: 'audit-logs', details: { entries: [1, 2, 3] } });

    await trail.seal(2 * minute);

    expect(counts(trail)).toEqual([1]);
  });

  it('may end after any file, and the next run continues', async () => {
    const trail = Object.assign(makeTrail(), { size: 2 });
    for (let entry = 0; entry < 5; entry += 1) trail.add();
    const isOver = () => true;

    const ends: boolean[] = [];
    trail.now += 2 * minute;
    for (let run = 0; run < 3; run += 1) {
      ends.push((await seal(trail, new Date(trail.now), { isOver })).isCaughtUp);
    }

    expect(ends).toEqual([false, false, true]);
    expect(counts(trail)).toEqual([2, 2, 1]);
  });

  it('does not stop at entries with the same key, however many they are', async () => {
    const trail = Object.assign(makeTrail(), { size: 3 });
    for (let entry = 0; entry < 20; entry += 1) {
      const id = trail.add();
      const item = trail.source.items.get(id);
      trail.source.items.set(id, { ...item, created_at_id: iso(trail.now) });
    }

    await trail.seal(2 * minute);

    expect(counts(trail)).toEqual([3, 3, 3, 3, 3, 3, 2]);
    await expectSound(trail);
  });
});

describe('A run whose clock is wrong', () => {
  it.each([
    ['45 days ahead', 45 * 24 * hour],
    ['11 minutes ahead', 11 * minute],
    ['an hour behind', -hour],
    ['at the beginning of time', -60 * 365 * 24 * hour],
  ])('does not keep later runs from sealing all entries: %s', async (_, offset) => {
    const trail = await makeFive();

    trail.add();
    await seal(trail, new Date(trail.now + offset));
    for (let run = 0; run < 30; run += 1) {
      trail.add();
      await trail.seal(minute);
    }
    await trail.seal(10 * minute);

    await expectSound(trail);
  });

  it('is ignored by the next run, however often it has happened', async () => {
    const trail = await makeFive();
    for (let run = 1; run < 6; run += 1) await seal(trail, new Date(trail.now + run * hour));

    const { from } = await trail.seal(minute);

    expect(from).toBe(iso(trail.now - 2 * minute));
  });
});

// test/properties/audit-seal.test.ts tests that sealers that run at the same time leave a sound chain.
describe('A sealer', () => {
  it('that always loses against another sealer ends with Contention', async () => {
    const trail = makeTrail();
    const create = vi.fn(async () => false);

    const sealed = seal({ ...trail, archive: { ...trail.archive, create } }, new Date(trail.now));

    await expect(sealed).rejects.toMatchObject({ name: 'Contention' });
    expect(create).toHaveBeenCalledTimes(5);
  });
});

describe('A file name that is taken', () => {
  it.each([
    ['junk under the next name', [6], 7],
    ['junk under the next hundred names', Array.from({ length: 100 }, (_, i) => 6 + i), 106],
    ['junk under a later name', [9_999_999_999], 6],
    ['junk behind the next name', [8, 9], 6],
  ])('makes the run use the next free number: %s', async (_, numbers, next) => {
    const trail = await makeFive();
    junk(trail, ...numbers);
    trail.add();

    const { number, previous } = await trail.seal(2 * minute);

    expect(number).toBe(next);
    expect(previous).toBe(headersOf(trail).at(-2)?.hash);
    const { findings, entries } = await trail.verify();
    expect(findings.every(({ kind }) => kind === 'foreign')).toBe(true);
    expect(entries).toBe(6);
  });

  it('may have only a delete marker, and a file with such a marker can still be the newest', async () => {
    const trail = await makeFive();
    for (const number of [3, 4, 5, 6]) trail.archive.altered.add(fileName(number));

    const { number, previous } = await trail.seal(2 * minute);

    expect(number).toBe(7);
    expect(previous).toBe(headersOf(trail)[4]?.hash);
  });

  it('by junk while the run writes makes the run begin again behind the junk', async () => {
    const trail = await makeFive();
    trail.add();
    let taken = false;
    const create: typeof trail.archive.create = async (name, content) => {
      if (!taken) junk(trail, 6);
      taken = true;
      return trail.archive.create(name, content);
    };

    trail.now += 2 * minute;
    const { newest } = await seal(
      { ...trail, archive: { ...trail.archive, create } },
      new Date(trail.now),
    );

    expect(newest).toMatchObject({ number: 7, count: 1 });
  });

  it('by junk a thousand times in a row raises an alarm', async () => {
    const trail = await makeFive();
    junk(trail, ...Array.from({ length: 1001 }, (_, i) => 6 + i));

    await expect(trail.seal()).rejects.toMatchObject({ name: 'BrokenTrail' });
    expect((await trail.verify()).findings).toMatchObject([{ kind: 'foreign', count: 1001 }]);
  });

  it('by the run itself, because the response to its write was lost, counts as written', async () => {
    const trail = await makeFive();
    trail.add();
    const create: typeof trail.archive.create = async (name, content) => {
      await trail.archive.create(name, content);
      return false;
    };

    trail.now += 2 * minute;
    const { newest } = await seal(
      { ...trail, archive: { ...trail.archive, create } },
      new Date(trail.now),
    );

    expect([newest.number, trail.archive.files.size]).toEqual([6, 6]);
  });
});

it('The entries of a file that cannot be read are sealed again', async () => {
  const trail = await makeFive();
  const [, , , four] = headersOf(trail);
  trail.archive.files.set(fileName(4), memberOf(four?.line ?? ''));

  await trail.seal(minute);

  expect(counts(trail)).toEqual([1, 1, 1, 1, 1, 1]);
  const { findings, entries } = await trail.verify();
  expect(findings.map(({ kind }) => kind)).toEqual(['altered']);
  expect(entries).toBe(5);
});
