/** Keeps keys and secrets, which may be replaced at any time, in memory. */
import { describeFault, logError } from '../ground/log.ts';

/** The least number of milliseconds between two attempts to read, however many requests need a newer value. */
const askingInterval = 60_000;

/**
 * Makes a function that returns a value and keeps it in memory. The value is read again when its lifetime is over, or
 * when it lacks something that a caller wants, but at most once a minute. Simultaneous callers share one reading. While
 * the value cannot be read, the last value stays in use.
 * @param read gets the last value, if there is one
 * @param lifetime milliseconds, at least a minute
 * @param event the event of the log line for a failed attempt to read the value again
 * @param now milliseconds since 1970
 * @throws the errors of `read`, as long as no value was ever read
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
