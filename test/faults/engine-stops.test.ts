import { beforeAll, describe, expect, it } from 'vitest';
import { stopEngineUnderLoad } from './engine-stops.ts';
import { expected, expectNoSecret, longest, nothing, observed } from './expectations.ts';

/** Milliseconds within which an endpoint answers though the engine is gone. */
const stoppedEngineTimeout = 5000;

describe('An endpoint whose engine stops during requests', () => {
  let stopped: Awaited<ReturnType<typeof stopEngineUnderLoad>>;
  beforeAll(async () => {
    stopped = await stopEngineUnderLoad();
  });

  it.each(['hangs', 'killed'] as const)(
    'responds with its 500 within 5 s while the engine is in the state “%s”',
    (name) => {
      const outcomes = stopped.outcomes[name];

      expect(observed(outcomes)).toEqual(expected(() => true));
      expect(longest(outcomes)).toBeLessThan(stoppedEngineTimeout);
    },
  );

  it.each(['goes on', 'is back'] as const)(
    'responds as without faults while the engine is in the state “%s”',
    (name) => {
      expect(observed(stopped.outcomes[name])).toEqual(expected(nothing));
    },
  );

  it('has lost no user that it acknowledged, and has left no half-written user', () => {
    expect(stopped.acknowledged.length).toBeGreaterThan(0);
    expect(stopped.lost).toEqual([]);
    expect(stopped.broken).toEqual([]);
    expectNoSecret(stopped.output);
  });
});
