/**
 * The requests to the service, and the time by its clock, according to its responses: the clock of this machine
 * may be hours wrong.
 */
import type { Fetch } from '../../client/fetch.ts';

const key = 'accounts-console-clock';

/** Milliseconds by which the clock of the service is ahead of the clock of this machine. */
let ahead = Number(sessionStorage.getItem(key));

/** Milliseconds since 1970. */
export const now = (): number => Date.now() + ahead;

/** Stores the difference of the clocks for the next load of the page. */
export const keepClock = (): void => sessionStorage.setItem(key, String(ahead));

/** Milliseconds: longer than the gateway waits for a function. */
const timeout = 35_000;

/** The responses to requests that change something, and the errors of such requests that got no response. */
const changes = new WeakSet<WeakKey>();

export const isOfChange = (outcome: unknown): boolean => changes.has(Object(outcome));

/** `fetch` for the requests of the console, which end after {@link timeout}. */
export const reach: Fetch = async (url, init = {}) => {
  const isChange = init.method !== 'GET' && !String(url).endsWith('/api/refresh');
  const noted = <Outcome extends WeakKey>(outcome: Outcome): Outcome => {
    if (isChange) changes.add(outcome);
    return outcome;
  };
  const signals = [AbortSignal.timeout(timeout), init.signal ?? []].flat();
  try {
    const response = await fetch(url, { ...init, signal: AbortSignal.any(signals) });
    const time = Date.parse(response.headers.get('Date') ?? '');
    if (!Number.isNaN(time)) ahead = time - Date.now();
    return noted(response);
  } catch (error) {
    throw noted(error as Error);
  }
};
