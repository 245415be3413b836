import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { seal } from '../../lib/seal/sealer.ts';
import { counted, holds } from '../support/runs.ts';
import { makeTrail, type TestTrail } from '../support/sealed-trail.ts';

const minute = 60_000;

/** What may happen, one thing after another. */
const crash = fc.option(fc.record({ at: fc.integer({ min: 1, max: 12 }), done: fc.boolean() }), {
  nil: undefined,
});
const event = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constant('entry' as const),
      lag: fc.oneof(fc.constant(0), fc.integer({ min: 1, max: 6 * minute })),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant('replay' as const),
      ages: fc.array(fc.integer({ min: 0, max: 500 * minute }), { maxLength: 3 }),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constant('time' as const),
      ms: fc.integer({ min: 1, max: 4 * minute }),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant('clock' as const),
      ms: fc.integer({ min: -90 * minute, max: 90 * minute }),
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constant('seal' as const),
      crash,
      sealers: fc.integer({ min: 1, max: 2 }),
    }),
  },
);
type Event = typeof event extends fc.Arbitrary<infer T> ? T : never;

const sealOnce = (trail: TestTrail, now = trail.now) => seal({ ...trail, size: 3 }, new Date(now));

const happen = async (trail: TestTrail, step: Event): Promise<void> => {
  if (step.kind === 'time') trail.now += step.ms;
  // The clock of the sealer alone is wrong, for one run; the next run comes soon.
  else if (step.kind === 'clock') {
    await sealOnce(trail, trail.now + step.ms);
    await sealOnce(trail);
  } else if (step.kind === 'replay') trail.replay(step.ages.map((age) => trail.now - age));
  else if (step.kind === 'entry') {
    trail.source.lagging.set(trail.add(), trail.now + step.lag);
  } else {
    trail.archive.crash(step.crash);
    await Promise.allSettled(Array.from({ length: step.sealers }, () => sealOnce(trail)));
    trail.archive.crash(undefined);
  }
};

describe('A sealed trail', () => {
  it('is intact and has every entry, whatever stopped the sealer and whatever its clock showed', async () => {
    const live = counted(async (history: readonly Event[]) => {
      const trail = makeTrail();
      for (const step of history) await happen(trail, step);
      trail.now += 8 * minute;
      await sealOnce(trail);
      return { trail, verified: await trail.verify() };
    });

    await holds(
      200,
      fc.asyncProperty(fc.array(event, { maxLength: 40, size: 'max' }), async (history) => {
        const { trail, verified } = await live(history);

        expect(verified.findings).toEqual([]);
        expect(verified.waiting).toBe(0);
        expect(verified.entries).toBe(trail.source.items.size);
      }),
    );
  });
});
