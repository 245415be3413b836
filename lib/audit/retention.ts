/** How long entries stay in the table, and how long their windows stay in the archive. */
import { leastRetention } from '../settings.ts';
import { dayInMilliseconds } from '../time.ts';

/**
 * Whether DynamoDB may have deleted an entry by then. A time to live that is shorter than the
 * shortest setting is ignored: somebody else wrote it.
 * @param expires_at seconds since 1970, as in the table and in lines
 * @param now milliseconds since 1970
 */
export const hasExpired = (
  { created_at, expires_at }: { readonly created_at: unknown; readonly expires_at: unknown },
  now: number,
): boolean =>
  typeof expires_at === 'number' &&
  expires_at * 1000 <= now &&
  expires_at * 1000 > Date.parse(String(created_at)) + leastRetention * dayInMilliseconds - 1000;

/** The time before which entries were created that can have expired. */
export const expiryBound = (now: number): string =>
  new Date(now - leastRetention * dayInMilliseconds).toISOString();

/**
 * The time since which all windows must be in the archive, including the window of that time.
 * @param days 0: all windows must; the result is then undefined
 */
export const keptSince = (days: number, now: number): string | undefined =>
  days === 0 ? undefined : new Date(now - days * dayInMilliseconds).toISOString();
