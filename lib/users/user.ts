export const roles = ['user', 'admin'] as const;
export type Role = (typeof roles)[number];

/** A user as responses show it (functions/README.md, Responses): never with the password hash. */
export interface User {
  readonly id: number;
  readonly name: string;
  readonly email: string;
  readonly role: Role;
  /** ISO 8601, UTC, milliseconds. */
  readonly created_at: string;
}

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
