import { setTimeout as sleep } from 'node:timers/promises';

/** How often to check, and milliseconds in between: the limit ends waits that hang, not waits that are slow. */
const maxLooks = 3000;
const interval = 50;

type Found<T> = Exclude<T, undefined | false>;

/**
 * Checks repeatedly until there is a result, or a condition is true. @returns the result
 * @param look throws if further checks are useless
 * @param missing the message if there is no result in time
 */
export const until = async <T>(
  look: () => T | Promise<T>,
  missing = `It never came: ${look}`,
): Promise<Found<T>> => {
  for (let looks = 0; looks < maxLooks; looks += 1) {
    const found = await look();
    if (found) return found as Found<T>;
    await sleep(interval);
  }
  throw new Error(missing);
};
