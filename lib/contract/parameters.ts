/** Query parameters that several endpoints take: from text to value. */
import * as v from 'valibot';

const limitRule = 'must be a whole number from 1 to 100';

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
      v.maxValue(100, limitRule),
      v.description('How many at most.'),
      v.metadata({ default: 100 }),
    ),
    '100',
  ),
  cursor: v.optional(
    v.pipe(v.string(), v.description('From the `Link` header of the page before.')),
  ),
};
