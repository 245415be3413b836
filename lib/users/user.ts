/** Users, their ids, and the details of audit entries about users (functions/README.md). */
import { DomainError, type ErrorCode } from '../ground/errors.ts';
import { config, hasSessions, type ServiceValues, sendsMail } from '../ground/settings.ts';

export const roles = ['user', 'admin'] as const;
export type Role = (typeof roles)[number];

/** The value of an attribute that an app has declared (functions/README.md, Attributes). */
export type AttributeValue = string | number | boolean;

/** The attributes in a body; null removes an attribute. */
export type GivenAttributes = Readonly<Record<string, AttributeValue | null>>;

/** The most characters (Unicode code points) that each text of a user may have (functions/README.md, Input). */
export const longest = { name: 100, email: 191, password: 255 } as const;

/**
 * A user as responses show it (functions/README.md, Responses): never with the password hash. A field is absent where
 * it does not apply, where its option is off, and where the caller may not see it.
 */
export interface User {
  readonly id: number;
  readonly name: string;
  readonly email: string;
  readonly role: Role;
  /** ISO 8601, UTC, milliseconds. */
  readonly created_at: string;
  /** Whether the user has verified the address; present only if EMAIL_VERIFICATION is not off. */
  readonly email_verified?: boolean | undefined;
  /** A requested address, which replaces `email` when its mailed link is used. */
  readonly pending_email?: string | undefined;
  /** Since when the user is suspended. */
  readonly suspended_at?: string | undefined;
  /** The time until which the newest link of an unused invitation is or was valid. */
  readonly invited_until?: string | undefined;
  /** In a stored user, absent counts as false. */
  readonly auditor?: boolean | undefined;
}

export type Status = 'invited' | 'suspended' | 'unverified';

export function statusesUnder(settings: ServiceValues): readonly Status[] {
  const { emailVerification } = settings;
  return [
    ...(sendsMail(settings) ? (['invited'] as const) : []), // invitations
    ...(hasSessions(settings) ? (['suspended'] as const) : []), // suspension
    ...(emailVerification === 'off' ? [] : (['unverified'] as const)), // verified addresses
  ];
}

/** The id of a user in a path. @throws {DomainError} USER_NOT_FOUND as {@link parseId} does */
export function parseUserId(text: string | undefined): number {
  return parseId(text, 'USER_NOT_FOUND');
}

/** The id in a path. @throws {DomainError} the fault, for text that is not a plain positive decimal number */
export function parseId(text: string | undefined, fault: ErrorCode): number {
  const id = /^[1-9]\d{0,15}$/.test(text ?? '') ? Number(text) : undefined;
  if (!isUserId(id)) throw new DomainError(fault);
  return id;
}

/** Whether a value can be a user's id: a positive safe integer. */
export function isUserId(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) > 0;
}

/**
 * Whether an address differs from a user's address, even if only in letter case, which a mail system may distinguish.
 */
export function isOtherAddress({ email: present }: Pick<User, 'email'>, email = present): boolean {
  return email !== present;
}

/** Whether a user may not log in before an admin lifts the suspension. */
export function isSuspended({ suspended_at }: Pick<User, 'suspended_at'>): boolean {
  return suspended_at !== undefined;
}

/** Whether a user is an admin or an auditor, whether or not that is in force. */
export function isPrivileged({ role, auditor }: Pick<User, 'role' | 'auditor'>): boolean {
  return role === 'admin' || auditor === true;
}

const unmatchable = `$${'.'.repeat(53)}`;

/** A hash that no password matches, by default at the current cost. */
export function unmatchableHash(cost: number = config.bcryptCost): string {
  return `$2b$${String(cost).padStart(2, '0')}${unmatchable}`;
}

/** Whether no password matches a hash, because the user has no password. */
export function isUnmatchable(hash: string): boolean {
  return hash.endsWith(unmatchable);
}

type Recorded = Pick<User, 'name' | 'email' | 'role' | 'auditor'>;

/**
 * The details of the creation of a user. They always say whether the user is an admin or an auditor, so that the trail
 * shows who had these rights, and when.
 */
export function creationDetails(user: Recorded): object | undefined {
  const { role, auditor } = user;
  const details = deletionDetails(user) ?? (role === 'admin' ? { role } : undefined);
  return auditor ? { ...details, auditor } : details;
}

export function deletionDetails({ name, email, role }: Recorded): object | undefined {
  return isFull() ? { name, email, role } : undefined;
}

/** They name the fields, and have the old and new values of those fields whose values entries hold. */
export function changeDetails(before: Recorded, changes: Partial<Recorded>) {
  const always = ['role', 'auditor'] as const;
  const recorded = isFull() ? (['name', 'email', ...always] as const) : always;
  const values = recorded
    .map((field) => {
      // Of these fields only `auditor` can be absent.
      const from = before[field] ?? false;
      return [field, { from, to: changes[field] ?? from }] as const;
    })
    .filter(([, { from, to }]) => from !== to);
  return { fields: Object.keys(changes), ...Object.fromEntries(values) };
}

function isFull() {
  return config.auditDetail === 'full';
}
