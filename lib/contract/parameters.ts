/** Query parameters that several endpoints take, each as a schema that converts its text. */
import { isIP } from 'node:net';
import * as v from 'valibot';
import { described, rule } from '../ground/validation.ts';

/** The maximum number of entries in a JSON page, which is also the default. */
export const maxLimit = 100;

const instantForm = /^(\d{4}-\d\d-\d\d)(?:T(\d\d:\d\d:\d\d)(?:\.(\d+))?(Z|[+-]\d\d:\d\d))?$/i;

const instantRule =
  'must be a date such as 2026-11-20, or a date-time with its offset (RFC 3339) such as 2026-11-20T09:00:00Z or 2026-11-20T10:00:00%2B01:00';

/** A point in time. */
export const instant = v.pipe(
  v.string(),
  rule({
    code: 'INVALID_FORMAT',
    holds: (text) => parseInstant(text) !== undefined,
    message: () => instantRule,
    keywords: () => ({ minLength: 1 }),
  }),
  v.transform((text) => parseInstant(text) as string),
);

/** The address of a computer, IPv4 or IPv6. */
export const ipAddress = v.pipe(
  v.string(),
  rule({
    code: 'INVALID_FORMAT',
    holds: (text) => isIP(text) !== 0,
    message: () => 'must be an IP address',
    keywords: () => ({ minLength: 1 }),
  }),
);

/** The parameter `limit`. */
export function limitUpTo(most: number) {
  const limitRule = `must be a whole number from 1 to ${most}`;
  return v.pipe(
    v.string(),
    v.regex(/^[1-9]\d{0,3}$/, limitRule),
    v.transform(Number),
    v.number(),
    v.integer(),
    v.minValue(1),
    v.maxValue(most, limitRule),
    v.description('The most entries in the response.'),
  );
}

export function cursor() {
  return v.optional(described(v.string(), 'From the `Link` header of the previous page.'));
}

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

/** The milliseconds by which an offset is ahead of UTC; undefined for an offset that no clock has. */
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
