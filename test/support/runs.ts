/**
 * Runs properties: with the same cases each time, or with the cases of SEED, a number or `random`. Each file prints how
 * many cases it tried, and the SEED that repeats them.
 */
import fc from 'fast-check';
import { afterAll, expect } from 'vitest';
import { share } from './share.ts';

const { SEED = '1' } = process.env;
/** The seed of this run. */
export const seed = SEED === 'random' ? Math.trunc(Math.random() * 2 ** 31) : Number(SEED);
if (!Number.isInteger(seed)) throw new Error('SEED must be a whole number, or random');

let cases = 0;

/** Counts the calls of a function that sends a case to the service. */
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

/** A message in which the length of long repetitions replaces them. */
const shorten = (message: string): string =>
  message.replace(/(.{1,10}?)\1{50,}/gsu, (all, unit) => `${unit}…(${all.length} characters)…`);

/**
 * Fails with the smallest counterexample that was found, when a property does not hold.
 * @param runs how many cases are tried with a SEED; without a SEED a quarter of them
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
