import { beforeAll, describe, expect, inject, it } from 'vitest';
import { stopEngineUnderLoad } from './engine-stops.ts';
import {
  expected,
  expectFull,
  expectNoSecret,
  longest,
  nothing,
  observed,
} from './expectations.ts';
import { writeReport } from './report.ts';

/** Milliseconds within which an endpoint answers though the engine is gone. */
const stoppedEngineTimeout = 5000;

describe('An endpoint whose engine stops at work', () => {
  let stopped: Awaited<ReturnType<typeof stopEngineUnderLoad>>;
  beforeAll(async () => {
    stopped = await stopEngineUnderLoad();
    const columns = new Map(Object.entries(stopped.outcomes));
    const sections = new Map([['The engine stops', columns]]);
    writeReport('.reports/faults-engine-stops.md', inject('engineName'), sections);
  }, 120_000);

  it.each(['hangs', 'killed'] as const)(
    'responds with its 500 within 5 s to an engine in the state “%s”',
    (name) => {
      const outcomes = stopped.outcomes[name];

      expect(observed(outcomes)).toEqual(expected(() => true));
      expect(longest(outcomes)).toBeLessThan(stoppedEngineTimeout);
    },
  );

  it.each(['goes on', 'is back'] as const)(
    'responds as without faults to an engine in the state “%s”',
    (name) => {
      expect(observed(stopped.outcomes[name])).toEqual(expected(nothing));
    },
  );

  it('has lost no user that it acknowledged, and left none half-written', () => {
    expect(stopped.acknowledged.length).toBeGreaterThan(0);
    expect(stopped.lost).toEqual([]);
    expect(stopped.broken).toEqual([]);
    expectNoSecret(stopped.output);
  });

  it('has an answer in every cell of the table', () => {
    expectFull(Object.values(stopped.outcomes));
  });
});
