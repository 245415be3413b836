/** Caches keys that may be replaced at any time. */
import { describeFault, logError } from './log.ts';

/** Milliseconds between two attempts to read keys, however many tokens name an unknown one. */
const askingInterval = 60_000;

/**
 * While the keys cannot be read, those that were read last stay in use; if there are none, the error is
 * thrown.
 * @param lifetime milliseconds for which keys are used
 * @param event the name of the line in the log when they cannot be read
 * @returns a function that gives the keys: it reads them again where they lack one, but once in
 *   {@link askingInterval} at most
 */
export const cachedKeys = <Keys>(
  read: () => Promise<Keys>,
  { lifetime, event }: { lifetime: number; event: string },
) => {
  let keys: Keys | undefined;
  let [readAt, askedAt] = [0, 0];
  let asking: Promise<void> | undefined;

  const ask = async () => {
    askedAt = Date.now();
    try {
      keys = await read();
      readAt = askedAt;
    } catch (error) {
      if (!keys) throw error;
      logError(event, describeFault(error));
    }
  };

  // A clock that was set back has passed too.
  const isPast = (time: number, length: number) => Math.abs(Date.now() - time) >= length;

  return async (lack: (keys: Keys) => boolean = () => false): Promise<Keys> => {
    const isWanted = isPast(readAt, lifetime) || (keys !== undefined && lack(keys));
    if (!keys || (isWanted && isPast(askedAt, askingInterval))) {
      asking ??= ask().finally(() => {
        asking = undefined;
      });
      await asking;
    }
    return keys as Keys;
  };
};
