/** The entries that machines post, and their rules (functions/README.md, Entries of your own services). */
import * as v from 'valibot';
import { ownResources, postedActions, redactDeeply, results } from '../../audit/entry.ts';
import type { FieldFault } from '../../ground/errors.ts';
import { isAddress } from '../../ground/source.ts';
import { dayInMilliseconds, parseDateTime } from '../../ground/time.ts';
import { atLeast, atMost, hasNoControls, oneOf, rule, text } from '../../ground/validation.ts';
import { isUserId } from '../../users/user.ts';

/** The most entries of a request. */
export const maxEntries = 25;

/** The most bytes of the details of an entry as they are stored, in UTF-8. */
const maxDetails = 2048;

const resourceForm = /^[a-z][a-z0-9-]*(\.[a-z0-9-]+)+$/;

/** The entries of a body, whatever it is. Faults name the entry, as `entries/3/resource`. */
// @__NO_SIDE_EFFECTS__
export function postedEntries(given: unknown) {
  // Of too many entries none is checked, because a response has no room for all their faults.
  const isTooLong = Array.isArray(given) && given.length > maxEntries;
  const entry = (isTooLong ? v.unknown() : postedEntry()) as ReturnType<typeof postedEntry>;
  return v.pipe(
    v.array(entry, 'must be an array'),
    v.minLength(1, 'must have at least 1 entry'),
    v.maxLength(maxEntries, `must have at most ${maxEntries} entries`),
  );
}

/** An entry that a machine posts, after validation; its details are as they are stored. */
export type PostedEntry = v.InferOutput<ReturnType<typeof postedEntry>>;

/** The faults of the times at which entries occurred, which depend on the present time. */
export function timeFaults(entries: readonly PostedEntry[], now: Date): readonly FieldFault[] {
  return entries.flatMap(({ occurredAt }, i) => {
    const ago = occurredAt ? now.getTime() - Date.parse(occurredAt) : 0;
    const isTimely = ago <= mostAgo * dayInMilliseconds && ago >= -mostAhead;
    const field = `entries/${i}/occurredAt`;
    return isTimely ? [] : [{ field, code: 'INVALID_FORMAT' as const, rule: timeRule }];
  });
}

/** Days, and milliseconds. */
const mostAgo = 7;
const mostAhead = 5 * 60_000;
const timeRule = 'must be at most 7 days ago, and at most 5 minutes ahead';

function postedEntry() {
  const entry = v.object(
    {
      action: oneOf(postedActions),
      resource: resource(),
      result: oneOf(results),
      resourceId: v.nullish(line(100)),
      userId: v.nullish(userId()),
      ipAddress: v.nullish(address()),
      userAgent: v.nullish(line(1024)),
      details: v.nullish(details()),
      occurredAt: v.nullish(dateTime()),
    },
    ({ expected }) => (expected === 'Object' ? 'must be an object' : 'is required'),
  );
  // The name is in the document, as `named` of lib/contract/schemas.ts gives names.
  return v.pipe(entry, v.metadata({ name: 'NewAuditEntry' }));
}

function resource() {
  return v.pipe(
    text,
    atMost(100),
    rule({
      code: 'INVALID_FORMAT',
      holds: (value) => resourceForm.test(value),
      message: () => 'must have a dot, as shop.orders has, and otherwise only a-z, 0-9 and -',
      keywords: () => ({ pattern: resourceForm.source }),
    }),
    rule({
      code: 'UNKNOWN_VALUE',
      holds: (value) => !ownResources.some((own) => value.startsWith(`${own}.`)),
      message: () => `must not begin with ${ownResources.join('., ')}.`,
    }),
  );
}

function line(most: number) {
  return v.pipe(
    text,
    atLeast(() => 1),
    atMost(most),
    rule({
      code: 'INVALID_FORMAT',
      holds: hasNoControls,
      message: () => 'must have no control characters',
    }),
  );
}

function userId() {
  return v.pipe(
    v.number('must be a number'),
    rule({
      code: 'INVALID_FORMAT',
      holds: (value: number) => isUserId(value),
      message: () => `must be a whole number from 1 to ${Number.MAX_SAFE_INTEGER}`,
      keywords: () => ({ type: 'integer', minimum: 1, maximum: Number.MAX_SAFE_INTEGER }),
    }),
    v.metadata({ format: 'int64' }),
  );
}

function address() {
  return v.pipe(
    text,
    atMost(45),
    rule({
      code: 'INVALID_FORMAT',
      holds: isAddress,
      message: () => 'must be an IP address',
    }),
  );
}

function details() {
  return v.pipe(
    v.unknown(),
    rule({
      code: 'WRONG_TYPE',
      holds: isObject,
      message: () => 'must be an object or null',
      keywords: () => ({ type: 'object' }),
    }),
    v.transform((given) => JSON.stringify(redactDeeply(given, maxDetails / 2))),
    rule({
      code: 'TOO_LONG',
      holds: (stored) => Buffer.byteLength(stored) <= maxDetails,
      message: () => `must be at most ${maxDetails} bytes as JSON`,
    }),
    v.metadata({ name: 'NewAuditEntryDetails' }),
  );
}

function isObject(value: unknown): boolean {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function dateTime() {
  return v.pipe(
    text,
    rule({
      code: 'INVALID_FORMAT',
      holds: (value) => parseDateTime(value) !== undefined,
      message: () => 'must be a date-time with its offset (RFC 3339) such as 2026-11-20T09:00:00Z',
      keywords: () => ({ format: 'date-time' }),
    }),
    v.transform((value) => parseDateTime(value) as string),
  );
}
