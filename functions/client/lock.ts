/** Runs work one at a time: across all tabs if the browser has Web Locks, or else within this tab. */
import { place } from './place.ts';

/** Runs work that may not run twice at once. @throws the errors of the work */
export type Exclusive = <T>(work: () => Promise<T>) => Promise<T>;

/** Milliseconds after which work no longer waits for the lock, which a tab that hangs may hold for ever. */
const patience = 15_000;

/** @param name the name of the lock, shared by all tabs; absent: the tabs share nothing */
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
      // Pages on plain http have no Web Locks, except on localhost.
      const { locks } = place.navigator ?? {};
      if (locks && name) return await locks.request(name, { signal: wait.signal }, begin);
      const turn = last.then(begin, begin);
      last = turn;
      return await turn;
    } catch (error) {
      // The lock could not be obtained. The service tolerates two refreshes within a minute.
      if (hasBegun) throw error;
      return await work();
    } finally {
      clearTimeout(timer);
    }
  };
}

/** Ends work that takes too long. @param limit milliseconds @param late the error that is thrown then */
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
