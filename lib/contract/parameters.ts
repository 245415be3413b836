/** Query parameters that several endpoints take: from text to value. */
import * as v from 'valibot';

/** Entries in a response: the most, and how many when the caller does not say. */
export const maxLimit = 100;

const limitRule = `must be a whole number from 1 to ${maxLimit}`;

/** Which page of a list, and how long. */
export const pageParameters = {
  limit: v.optional(
    v.pipe(
      v.string(),
      v.regex(/^[1-9]\d{0,2}$/, limitRule),
      v.transform(Number),
      v.number(),
      v.integer(),
      v.minValue(1),
      v.maxValue(maxLimit, limitRule),
      v.description('How many at most.'),
      v.metadata({ default: maxLimit }),
    ),
  ),
  cursor: v.optional(
    v.pipe(v.string(), v.description('From the `Link` header of the page before.')),
  ),
};
