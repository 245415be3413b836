/** Query parameters that several endpoints take, each as a schema that converts its text. */
import { isIP } from 'node:net';
import * as v from 'valibot';
import { parseInstant } from '../ground/time.ts';
import { described, rule } from '../ground/validation.ts';

/** The maximum number of entries in a JSON page, which is also the default. */
export const maxLimit = 100;

const instantRule =
  'must be a date such as 2026-11-20, or a date-time with its offset (RFC 3339) such as 2026-11-20T09:00:00Z or 2026-11-20T10:00:00%2B01:00';

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

export const ipAddress = v.pipe(
  v.string(),
  rule({
    code: 'INVALID_FORMAT',
    holds: (text) => isIP(text) !== 0,
    message: () => 'must be an IP address',
    keywords: () => ({ minLength: 1 }),
  }),
);

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
