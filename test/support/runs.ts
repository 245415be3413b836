/**
 * How properties are run: the same cases each time, or the cases of SEED, a number or `random`. Each
 * file prints how much it tried, and the SEED that tries it again.
 */
import fc from 'fast-check';
import { afterAll, expect } from 'vitest';
import { share } from './share.ts';

const { SEED = '1' } = process.env;
/** Of this run. */
export const seed = SEED === 'random' ? Math.trunc(Math.random() * 2 ** 31) : Number(SEED);
if (!Number.isInteger(seed)) throw new Error('SEED must be a whole number, or random');

let cases = 0;

/** Counts the calls of what sends a case to the service. */
export const counted =
  <Case, Outcome>(send: (input: Case) => Outcome) =>
  (input: Case): Outcome => {
    cases += 1;
    return send(input);
  };

afterAll(() => {
  const file = expect.getState().testPath?.replace(/^.*\//, '');
  console.log(`${file}: ${cases} cases, SEED=${seed}`);
});

/** A message whose long repetitions are told by their number. */
const shorten = (message: string): string =>
  message.replace(/(.{1,10}?)\1{50,}/gsu, (all, unit) => `${unit}…(${all.length} characters)…`);

/**
 * Fails, with the smallest counterexample that is found, when a property does not hold.
 * @param runs with a SEED; a quarter of them without
 */
export const holds = async <T extends [unknown, ...unknown[]]>(
  runs: number,
  property: fc.IAsyncPropertyWithHooks<T>,
): Promise<void> => {
  try {
    await fc.assert(property, { seed, numRuns: Math.ceil(runs * share) });
  } catch (error) {
    if (error instanceof Error) error.message = shorten(error.message);
    throw error;
  }
};
