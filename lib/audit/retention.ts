/** How long entries stay in the table, and their windows in the archive. */
import { leastRetention } from '../settings.ts';

/** Milliseconds. */
const day = 86_400_000;

/**
 * Whether an entry may have left the table by then. A time to live that is shorter than any that
 * can be set counts for nothing: somebody else wrote it.
 * @param expires_at seconds since 1970, as the table and lines have it
 * @param now milliseconds since 1970
 */
export const hasExpired = (
  { created_at, expires_at }: { readonly created_at: unknown; readonly expires_at: unknown },
  now: number,
): boolean =>
  typeof expires_at === 'number' &&
  expires_at * 1000 <= now &&
  expires_at * 1000 > Date.parse(String(created_at)) + leastRetention * day - 1000;

/** A time before which all entries may have expired that can: none stays for a shorter time. */
export const expiryBound = (now: number): string =>
  new Date(now - leastRetention * day).toISOString();

/**
 * The time from which on all windows must be in the archive, those that end later included.
 * @param days 0: all windows must; the result is then undefined
 */
export const keptSince = (days: number, now: number): string | undefined =>
  days === 0 ? undefined : new Date(now - days * day).toISOString();
