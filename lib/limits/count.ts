/** Counts of limited attempts, and the waits that follow from them. */
import { clockSkew, seconds } from '../time.ts';

/** Seconds within which attempts add up. */
export const window = 15 * 60;

/** Seconds to wait after the limit is reached; doubled each further time, up to the longest. */
const firstBackOff = 30;
const longestBackOff = 15 * 60;

/** A count as it is stored. Times are seconds since 1970. */
export interface Count {
  readonly occurrences: number;
  /** Absent until the limit was reached. */
  readonly blocked_until?: number;
  /** The `blocked_until` of the last wait that was marked because it had refused somebody. */
  readonly marked_wait?: number;
  readonly expires_at: number;
}

/** No count lasts longer: one that seems to last longer was made before the clock was set back. */
const longestLife = longestBackOff + window + clockSkew;

const isLive = (count: Count | undefined, now: number): count is Count =>
  count !== undefined && count.expires_at > now && count.expires_at <= now + longestLife;

/** Seconds that remain to wait; 0 when there is no wait. */
export const waitOf = (count: Count | undefined, now: Date): number =>
  isLive(count, seconds(now))
    ? Math.min(longestBackOff, Math.max(0, (count.blocked_until ?? 0) - seconds(now)))
    : 0;

/** Whether a count demands a wait that is not known to have refused anybody. */
export const isUnmarkedWait = (count: Count | undefined, now: Date): count is Count =>
  waitOf(count, now) > 0 && count?.marked_wait !== count?.blocked_until;

/**
 * The update that marks a wait once it has refused somebody.
 * @param by the id of this marking, by which a second attempt is recognised if the first response
 *   was lost
 */
export const marking = ({ blocked_until }: Count, by: string) => ({
  UpdateExpression: 'SET marked_wait = :wait, marked_by = :by',
  ConditionExpression:
    'blocked_until = :wait AND (attribute_not_exists(marked_wait) OR marked_wait <> :wait OR marked_by = :by)',
  ExpressionAttributeValues: { ':wait': blocked_until, ':by': by },
});

const backOff = (occurrences: number, limit: number): number =>
  Math.min(firstBackOff * 2 ** Math.min(occurrences - limit, 16), longestBackOff);

const live = '(expires_at > :now AND expires_at <= :farthest)';
const expired = '(attribute_not_exists(pk) OR expires_at <= :now OR expires_at > :farthest)';
/** The condition that nobody has to wait, for `:now`. */
export const notBlocked = '(attribute_not_exists(blocked_until) OR blocked_until <= :now)';

/** The update that counts one more attempt, provided that the count is still as it was read. */
export const increment = (count: Count | undefined, limit: number, now: number) => {
  const seen = isLive(count, now) ? count.occurrences : undefined;
  const next = (seen ?? 0) + 1;
  const times = { ':now': now, ':farthest': now + longestLife };
  if (next >= limit) {
    // The attempt that reaches the limit is still let through; those after it wait.
    const blockedUntil = now + backOff(next, limit);
    return {
      UpdateExpression: 'SET occurrences = :next, blocked_until = :blocked, expires_at = :expires',
      ConditionExpression:
        seen === undefined ? expired : `${live} AND occurrences = :seen AND ${notBlocked}`,
      ExpressionAttributeValues: {
        ...times,
        ':next': next,
        ':blocked': blockedUntil,
        ':expires': blockedUntil + window,
        ...(seen === undefined ? {} : { ':seen': seen }),
      },
    };
  }
  return seen === undefined
    ? {
        UpdateExpression: 'SET occurrences = :one, expires_at = :expires REMOVE blocked_until',
        ConditionExpression: expired,
        ExpressionAttributeValues: { ...times, ':one': 1, ':expires': now + window },
      }
    : {
        UpdateExpression: 'SET occurrences = occurrences + :one',
        ConditionExpression: `${live} AND occurrences < :last AND ${notBlocked}`,
        ExpressionAttributeValues: { ...times, ':one': 1, ':last': limit - 1 },
      };
};
