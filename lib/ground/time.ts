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

export const dayInMilliseconds = day * 1000;

/** Whole seconds since 1970, the unit of times in tokens and in DynamoDB's time to live. */
export function seconds(date: Date): number {
  return Math.floor(date.getTime() / 1000);
}

/** The time limit in this process that corresponds to a time limit on AWS, in the same unit. */
export function patiently(limit: number): number {
  return limit * (globalThis.patience ?? 1);
}

/** Milliseconds by which a slow store may delay a response that does not depend on it. */
export function longestDelay(): number {
  return patiently(1000);
}

const instantForm = /^(\d{4}-\d\d-\d\d)(?:T(\d\d:\d\d:\d\d)(?:\.(\d+))?(Z|[+-]\d\d:\d\d))?$/i;

/**
 * The instant that a date-time of RFC 3339 means, or a date at 00:00 UTC.
 * @returns the instant in the form of `created_at`, UTC with milliseconds; undefined for any other text
 */
export function parseInstant(text: string): string | undefined {
  const match = instantForm.exec(text);
  if (!match) return undefined;
  const [, date, time = '00:00:00', fraction = '', offset = ''] = match;
  const written = `${date}T${time}.000Z`;
  const read = Date.parse(written);
  const ahead = aheadOf(offset);
  // `Date` would read a 30th of February as a day in March.
  if (Number.isNaN(read) || new Date(read).toISOString() !== written) return undefined;
  if (ahead === undefined) return undefined;
  const instant = new Date(read - ahead + roundUp(fraction)).toISOString();
  return /^\d{4}-/.test(instant) ? instant : undefined;
}

/** The same for a date-time alone; undefined for a date. */
export function parseDateTime(text: string): string | undefined {
  return /t/i.test(text) ? parseInstant(text) : undefined;
}

/** Milliseconds by which an offset is ahead of UTC; undefined if there is no such offset. */
function aheadOf(offset: string): number | undefined {
  // `Z` has no digits: the offset is 0.
  const [hours = 0, minutes = 0] = offset.slice(1).split(':').map(Number);
  if (hours > 23 || minutes > 59) return undefined;
  return (offset.startsWith('-') ? -1 : 1) * (hours * 60 + minutes) * 60_000;
}

/** The milliseconds of a fraction of a second, rounded up, because times of entries have no finer unit. */
function roundUp(fraction: string): number {
  return Number(fraction.slice(0, 3).padEnd(3, '0')) + (/[1-9]/.test(fraction.slice(3)) ? 1 : 0);
}
