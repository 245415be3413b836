import { setTimeout as sleep } from 'node:timers/promises';

/** Times to look, and milliseconds in between: for what hangs, not for what is slow. */
const maxLooks = 3000;
const interval = 50;

type Found<T> = Exclude<T, undefined | false>;

/**
 * Looks again and again until there is something, or something is so. @returns it
 * @param look throws where it is in vain to go on
 * @param missing what to say if it does not come
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
