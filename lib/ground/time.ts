/** Seconds by which the clocks of two machines may differ. */
export const clockSkew = 60;

/** Seconds. */
export const hour = 60 * 60;
export const day = 24 * hour;

declare global {
  /**
   * The factor by which this process waits longer for other services, such as tables, than a process on AWS; absent: 1.
   * The service on one machine sets it, because there all services share the processors.
   */
  var patience: number | undefined;
}

/** Milliseconds. */
export const dayInMilliseconds = day * 1000;

/** Whole seconds since 1970, the unit of times in tokens and in DynamoDB's time to live. */
export function seconds(date: Date): number {
  return Math.floor(date.getTime() / 1000);
}

/** The time limit in this process that corresponds to a time limit on AWS, in the same unit. */
export function patiently(limit: number): number {
  return limit * (globalThis.patience ?? 1);
}

/**
 * Milliseconds by which a slow store may delay a response that does not depend on it, for example while an attempt is
 * counted or an entry recorded.
 */
export function longestDelay(): number {
  return patiently(1000);
}
