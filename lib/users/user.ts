/** A user, its id and address, and what audit entries say of it (functions/README.md). */
import { DomainError } from '../errors.ts';
import { config } from '../settings.ts';

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
  /** Whether the user has verified the address; only where EMAIL_VERIFICATION is not off. */
  readonly email_verified?: boolean | undefined;
  /**
   * Another address that counts once its mailed link is used; absent: there is none, or the response
   * is for somebody who may not see it.
   */
  readonly pending_email?: string | undefined;
  /** Since when the user is suspended; absent: the user is not, or the response is for no admin. */
  readonly suspended_at?: string | undefined;
}

/** Whether a value can be a user's id: a positive safe integer. */
export const isUserId = (value: unknown): value is number =>
  Number.isSafeInteger(value) && (value as number) > 0;

/**
 * The id in a path.
 * @throws {DomainError} USER_NOT_FOUND for text that is not a plain positive decimal number
 */
export const parseUserId = (text: string | undefined): number => {
  const id = /^[1-9]\d{0,15}$/.test(text ?? '') ? Number(text) : undefined;
  if (!isUserId(id)) throw new DomainError('USER_NOT_FOUND');
  return id;
};

/**
 * Capitals, the same for all texts that differ only in letter case, and so for all their parts. Some small
 * letters share them: σ and ς, ß and ss. The first step to small letters is for letters such as ẞ.
 */
const capitals = (text: string): string => text.toLowerCase().toUpperCase();

/** The same text, in small letters, for all texts that differ only in letter case. */
export const foldCase = (text: string): string => capitals(text).toLowerCase();

/** The form in which texts are searched: without regard to letter case or to how accents are composed. */
export const searchable = (text: string): string => capitals(text.normalize()).normalize();

/** What a description of an address says of it. */
export const uniqueness = 'Kept as it was given; unique without regard to letter case.';

/** The form under which addresses are unique and looked up (functions/README.md, Input). */
export const emailKey = (email: string): string => foldCase(email.trim());

/** Whether entries hold the values of fields, and not their names alone. */
const isFull = () => config.auditDetail === 'full';

type Recorded = Pick<User, 'name' | 'email' | 'role'>;

/** The details of a deletion. */
export const deletionDetails = ({ name, email, role }: Recorded): object | undefined =>
  isFull() ? { name, email, role } : undefined;

/**
 * The details of a creation. They always hold the role of an admin, so that the trail says who was
 * one when.
 */
export const creationDetails = (user: Recorded): object | undefined =>
  deletionDetails(user) ?? (user.role === 'admin' ? { role: user.role } : undefined);

/** The details of a change: the names of the fields, and the old and new role if it changed. */
export const changeDetails = (before: Recorded, changes: Partial<Recorded>) => {
  const recorded = isFull() ? (['name', 'email', 'role'] as const) : (['role'] as const);
  const values = recorded
    .map((field) => [field, { from: before[field], to: changes[field] ?? before[field] }] as const)
    .filter(([, { from, to }]) => from !== to);
  return { fields: Object.keys(changes), ...Object.fromEntries(values) };
};
