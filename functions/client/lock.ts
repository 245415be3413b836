/** One at a time: in all tabs where the browser has Web Locks, or else in this one. */
import { place } from './place.ts';

/** Runs what may not run twice at once. @throws what it throws */
export type Exclusive = <T>(work: () => Promise<T>) => Promise<T>;

/** Milliseconds after which who waits goes on: a tab that hangs may hold the lock for ever. */
const patience = 15_000;

/** @param name of the lock in other tabs too; absent: they share nothing */
export function exclusiveBy(name?: string): Exclusive {
  let last: Promise<unknown> = Promise.resolve();
  return async (work) => {
    let hasBegun = false;
    const begin = () => {
      hasBegun = true;
      clearTimeout(timer);
      return work();
    };
    const wait = new AbortController();
    const timer = setTimeout(() => wait.abort(), patience);
    try {
      // Plain http has no locks, but for localhost.
      const { locks } = place.navigator ?? {};
      if (locks && name) return await locks.request(name, { signal: wait.signal }, begin);
      const turn = last.then(begin, begin);
      last = turn;
      return await turn;
    } catch (error) {
      // The lock was not to be had. The service tolerates two refreshes within a minute.
      if (hasBegun) throw error;
      return await work();
    } finally {
      clearTimeout(timer);
    }
  };
}

/**
 * Ends work that takes too long.
 * @param limit milliseconds
 * @param late the error that is thrown then
 */
export async function within<T>(
  limit: number,
  late: () => Error,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const control = new AbortController();
  let timer: ReturnType<typeof setTimeout> | undefined;
  const end = new Promise<never>((_, reject) => {
    timer = setTimeout(() => {
      reject(late());
      control.abort();
    }, limit);
  });
  try {
    return await Promise.race([work(control.signal), end]);
  } finally {
    clearTimeout(timer);
  }
}
