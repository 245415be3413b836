/** Windows of at most so many entries, cut between two times. */
import { describe, expect, it } from 'vitest';
import { isTime } from '../../../lib/seal/line.ts';
import { readTrail } from '../../../lib/seal/read.ts';
import { findStart, sealFrom, sealWindows } from '../../../lib/seal/sealer.ts';
import { isFault } from '../../../lib/seal/verification.ts';
import { digestsOf, makeTrail, type Trail, verifyOf } from '../../support/sealed-trail.ts';

const minute = 60_000;

/** A trail whose windows have five entries at most, with entries at some milliseconds. */
const withEntries = (times: readonly number[]) => {
  const trail = Object.assign(makeTrail(), { windowSize: 5 });
  const start = trail.now;
  for (const time of times) trail.add({}, start + time);
  trail.now += 10 * minute;
  return trail;
};
const seal = (trail: Trail) => sealWindows(trail, new Date(trail.now));
const each = (count: number, apart: number) => Array.from({ length: count }, (_, i) => i * apart);

const sealedIds = async ({ archive, signer, now }: Trail) => {
  const ids: unknown[] = [];
  for await (const { id } of readTrail({ archive, publicKey: signer.publicKey, now })) ids.push(id);
  return ids;
};

const expectSound = async (trail: Trail) => {
  const { findings, entries, unsealed } = await verifyOf(trail);
  expect(findings.filter(isFault)).toEqual([]);
  expect([entries, unsealed]).toEqual([trail.source.items.size, 0]);
};

describe('A run of the sealer', () => {
  it('closes several windows in a row, none with more entries than it may have', async () => {
    const trail = withEntries(each(23, 1000));

    const newest = await seal(trail);

    const digests = digestsOf(trail);
    expect(digests.map(({ entries }) => entries.count)).toEqual([5, 5, 5, 5, 3]);
    expect(newest?.until).toBe(new Date(trail.now - minute).toISOString());
    expect(digests.every(({ until }) => isTime(until))).toBe(true);
    expect(await sealedIds(trail)).toEqual([...trail.source.items.keys()]);
    await expectSound(trail);
  });

  it('leaves entries of one millisecond together, in a window of their own where they are many', async () => {
    const trail = withEntries([0, 1, ...Array(12).fill(2), 3, 4, 4, 4, 4]);

    await seal(trail);

    expect(digestsOf(trail).map(({ entries }) => entries.count)).toEqual([2, 12, 5]);
    await expectSound(trail);
  });

  it('ends between two windows when its time is over, and the next run goes on', async () => {
    const trail = withEntries(each(23, 1000));
    const start = await findStart(trail, new Date(trail.now));
    const windows = [false, true];

    const first = await sealFrom(trail, start, { isOver: () => windows.shift() ?? true });
    const [sealed] = [await sealedIds(trail)];
    await seal(trail);

    expect([digestsOf(trail).length, sealed.length]).toEqual([5, 10]);
    expect(digestsOf(trail)[2]?.from).toBe(first?.until);
    await expectSound(trail);
  });

  it('seals a burst that came late in as many windows as it takes', async () => {
    const trail = withEntries(each(3, 1000));
    await seal(trail);
    const ids = each(17, 1000).map((time) => trail.add({}, trail.now - 5 * minute + time));

    trail.now += minute;
    await seal(trail);

    const digests = digestsOf(trail);
    expect(digests.slice(1).map(({ entries }) => entries.late)).toEqual([5, 5, 5, 2]);
    expect((await sealedIds(trail)).slice(3)).toEqual(expect.arrayContaining(ids));
    await expectSound(trail);
  });

  it('counts what a replay lists, and seals the replay with what it lists', async () => {
    const trail = withEntries([]);
    await seal(trail);
    for (let replays = 0; replays < 4; replays += 1) {
      trail.now += 1000;
      trail.replay([0, 1, 2].map((n) => trail.now - 60 * minute - n * 1000));
    }

    trail.now += 2 * minute;
    await seal(trail);

    expect(
      digestsOf(trail)
        .slice(1)
        .map(({ entries }) => entries.count),
    ).toEqual([4, 4, 4, 4]);
    await expectSound(trail);
  });

  it('reads nothing of a settled past once more, however much of it there is', async () => {
    const trail = withEntries(each(50, 1));
    trail.now += 60 * minute;
    const start = await findStart(trail, new Date(trail.now));
    await sealFrom(trail, start, { isOver: () => true });
    const { between } = trail.source;
    let read = 0;
    trail.source.between = async function* (from, until) {
      for await (const item of between(from, until)) {
        read += 1;
        yield item;
      }
    };

    await sealFrom(trail, await findStart(trail, new Date(trail.now)), { isOver: () => true });

    expect(read).toBeLessThan(12);
  });
});

describe('A digest', () => {
  it('says when its run began, and for how long files are kept', async () => {
    const trail = Object.assign(withEntries([0]), { archiveDays: 400 });

    await seal(trail);

    const at = new Date(trail.now).toISOString();
    expect(digestsOf(trail)).toMatchObject([{ at, archive_days: 400, verified: null }]);
  });
});
