import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { sealWindows } from '../../lib/seal/sealer.ts';
import { isFault } from '../../lib/seal/verification.ts';
import { counted, holds } from '../support/runs.ts';
import { makeTrail, type Trail, verifyOf } from '../support/sealed-trail.ts';

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
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constant('seal' as const),
      crash,
      sealers: fc.integer({ min: 1, max: 2 }),
    }),
  },
);
type Event = typeof event extends fc.Arbitrary<infer T> ? T : never;

const seal = (trail: Trail) => sealWindows(trail, new Date(trail.now));

const happen = async (trail: Trail, step: Event): Promise<void> => {
  if (step.kind === 'time') trail.now += step.ms;
  else if (step.kind === 'replay') trail.replay(step.ages.map((age) => trail.now - age));
  else if (step.kind === 'entry') {
    trail.source.lagging.set(trail.add(), trail.now + step.lag);
  } else {
    trail.archive.crash(step.crash);
    await Promise.allSettled(Array.from({ length: step.sealers }, () => seal(trail)));
    trail.archive.crash(undefined);
  }
};

describe('A trail that was sealed', () => {
  it('is intact whatever the sealer died of, with every entry sealed or too new', async () => {
    const live = counted(async (history: readonly Event[]) => {
      const trail = makeTrail();
      for (const step of history) await happen(trail, step);
      trail.now += 8 * minute;
      await seal(trail);
      return { trail, verified: await verifyOf(trail) };
    });

    await holds(
      200,
      fc.asyncProperty(fc.array(event, { maxLength: 40, size: 'max' }), async (history) => {
        const { trail, verified } = await live(history);

        expect(verified.findings.filter(isFault)).toEqual([]);
        expect(verified.unsealed).toBe(0);
        expect(verified.windows).toBeGreaterThan(0);
        // Once each; but what a replay lists may have been sealed before.
        const replayed = history.flatMap((step) => (step.kind === 'replay' ? step.ages : []));
        const entries = trail.source.items.size;
        expect(verified.entries).toBeGreaterThanOrEqual(entries);
        expect(verified.entries).toBeLessThanOrEqual(entries + replayed.length);
      }),
    );
  });
});
