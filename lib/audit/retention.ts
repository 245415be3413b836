/** How long entries stay in the table. */
import { leastRetention } from '../ground/settings.ts';
import { dayInMilliseconds } from '../ground/time.ts';

/**
 * Whether DynamoDB may have deleted an entry by a time. A time to live that is shorter than the shortest setting is
 * ignored, because the service has not written it.
 * @param expires_at seconds since 1970, as in the table and in the lines of seal files
 * @param now milliseconds since 1970
 */
export function hasExpired(
  { created_at, expires_at }: { readonly created_at: unknown; readonly expires_at: unknown },
  now: number,
): boolean {
  return (
    typeof expires_at === 'number' &&
    expires_at * 1000 <= now &&
    expires_at * 1000 > Date.parse(String(created_at)) + leastRetention * dayInMilliseconds - 1000
  );
}
