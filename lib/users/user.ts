/** A user, its id and address, and what audit entries say of it (functions/README.md). */
import { domainToASCII } from 'node:url';
import { DomainError } from '../ground/errors.ts';
import { config } from '../ground/settings.ts';

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

/** The form in which texts are searched: without regard to letter case or to how accents are composed. */
export const searchable = (text: string): string => capitals(text.normalize()).normalize();

/** The same, in small letters. A sigma has the same form in the middle of a word and at its end. */
const folded = (text: string): string =>
  capitals(text.normalize()).toLowerCase().replaceAll('ς', 'σ').normalize();

/** What a description of an address says of it. */
export const uniqueness =
  'Kept as it was given; unique without regard to letter case, to how accents are composed, and to whether the domain is written in Unicode or in punycode.';

const isAscii = (text: string): boolean => /^\p{ASCII}*$/u.test(text);

/** What `domainToASCII` would cut off, leave out or decode, so that two domains became one. */
const misread = /[\s\p{Cc}\p{Cf}/\\?#%:[\]]/u;

/** UTF-16 code units that no address has more of: punycode of a text takes time in proportion to its square. */
const longestDomain = 2 * 191;

/** A domain as DNS knows it: one beyond ASCII in punycode; undefined: there is no such domain. */
const asciiDomain = (domain: string): string | undefined => {
  if (isAscii(domain)) return domain;
  const isRead = domain.length <= longestDomain && !misread.test(domain);
  return (isRead && domainToASCII(domain)) || undefined;
};

/** What stands before and after the last @; the domain of a text without one is undefined. */
const partsOf = (text: string): { readonly local: string; readonly domain: string | undefined } => {
  const [, local = text, domain] = /^(.*)@(.*)$/s.exec(text) ?? [];
  return { local, domain };
};

/** The {@link emailKey} of an address whose white space around it counts. */
export const untrimmedKey = (email: string): string => {
  const { local, domain } = partsOf(email.normalize());
  if (domain === undefined) return folded(local);
  return `${folded(local)}@${asciiDomain(domain)?.toLowerCase() ?? domain}`;
};

/**
 * The form under which addresses are unique and looked up (functions/README.md, Input). The key of a key
 * is that key, and text that is no address has a key that no address has.
 */
export const emailKey = (email: string): string => untrimmedKey(email.trim());

/** something@something, with one @, and without white space, control and format characters. */
const emailForm = /^[^\s@\p{Cc}\p{Cf}]+@[^\s@\p{Cc}\p{Cf}]+$/u;

/** Bytes of a key: with what stands before it, less than a partition key of DynamoDB may have. */
const longestKey = 2000;

/** Whether a text is an address that a user may have, apart from its length. */
export const isAddress = (text: string): boolean =>
  emailForm.test(text) &&
  asciiDomain(partsOf(text.normalize()).domain ?? '') !== undefined &&
  Buffer.byteLength(emailKey(text)) <= longestKey;

/**
 * Text that Amazon SES takes, and that every reader of the header takes, for exactly one address: a
 * dot-atom (RFC 5322, section 3.2.3) at a domain that DNS can have. Text with a comma, a bracket or a quote
 * may be a list of addresses, or a name with another address. Before the @, text beyond ASCII may look like
 * another address, or be converted into one on the way.
 */
const plainAddress =
  /^(?!\.)(?!.*(?:\.\.|\.@|\.$))[\w!#$%&'*+/=?^`{|}~.-]+@(?=.{1,253}$)(?:(?!-)[a-z\d-]{1,63}(?<!-)(?:\.|$))+$/i;

/** An encoded-word (RFC 2047), which readers of the header may decode into another address. */
const encodedWord = /=\?[^?]*\?[bq]\?.*\?=/i;

/**
 * An address as mails go to it, with its domain in ASCII; undefined: the service can never send a mail to
 * it. The text alone decides.
 */
export const mailedAs = (email: string): string | undefined => {
  const { local, domain = '' } = partsOf(email);
  const address = `${local}@${asciiDomain(domain.normalize()) ?? ''}`;
  return plainAddress.test(address) && !encodedWord.test(address) ? address : undefined;
};

/** Whether an address may be verified, or need not be: where addresses are verified, it can be mailed. */
export const isVerifiable = (email: string): boolean =>
  config.emailVerification === 'off' || mailedAs(email) !== undefined;

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
