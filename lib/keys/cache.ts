/** Keeps keys and secrets in memory, which somebody may replace at any time. */
import { describeFault, logError } from '../ground/log.ts';

/** Milliseconds between two attempts to read, however many requests need a newer value. */
const askingInterval = 60_000;

/**
 * Makes a function that gives a value, and reads it again once its lifetime is over or it lacks what is
 * wanted, at most once a minute. Callers at the same time share one reading. While the value cannot be
 * read, the last one stays in use.
 * @param read gets the value that is known already, if there is one
 * @param lifetime milliseconds, at least a minute
 * @param event the name of the line in the log for when the value cannot be read again
 * @param now milliseconds since 1970
 * @throws what the reading throws while there is no value
 */
export function cached<T>(
  read: (known?: T) => Promise<T>,
  {
    lifetime,
    event,
    now = () => Date.now(),
  }: { lifetime: number; event: string; now?: () => number },
): (lacks?: (value: T) => boolean) => Promise<T> {
  let value: T | undefined;
  let [readAt, askedAt] = [0, 0];
  let reading: Promise<void> | undefined;

  const ask = async () => {
    askedAt = now();
    try {
      value = await read(value);
      readAt = askedAt;
    } catch (error) {
      if (value === undefined) throw error;
      logError(event, describeFault(error));
    }
  };
  // If the clock was set back, it is unknown how much time has passed.
  const isOver = (since: number, length: number) => Math.abs(now() - since) >= length;

  return async (lacks = () => false) => {
    const isWanted = value === undefined || isOver(readAt, lifetime) || lacks(value);
    if (isWanted && (value === undefined || isOver(askedAt, askingInterval))) {
      reading ??= ask().finally(() => {
        reading = undefined;
      });
      await reading;
    }
    return value as T;
  };
}
