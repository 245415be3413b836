import * as v from 'valibot';

export const roles = ['user', 'admin'] as const;
export type Role = (typeof roles)[number];

/** A user as responses show it (functions/README.md, Responses): never with the password hash. */
export const user = v.object({
  id: v.pipe(
    v.number(),
    v.integer(),
    v.minValue(1),
    v.maxValue(Number.MAX_SAFE_INTEGER),
    v.metadata({ format: 'int64' }),
  ),
  name: v.string(),
  email: v.string(),
  role: v.picklist(roles),
  /** ISO 8601, UTC, milliseconds. */
  created_at: v.pipe(v.string(), v.isoTimestamp()),
});
export type User = Readonly<v.InferOutput<typeof user>>;

/** Whether a value can be a user's id: a positive safe integer. */
export const isUserId = (value: unknown): value is number =>
  Number.isSafeInteger(value) && (value as number) > 0;

/**
 * The form under which addresses are unique and looked up (functions/README.md, Input). By way of
 * capitals, because some small letters share theirs: σ and ς, ß and ss. What has none yet, as ẞ, is
 * lower case first.
 */
export const emailKey = (email: string): string =>
  email.trim().toLowerCase().toUpperCase().toLowerCase();
