/** Which addresses count as the same, are allowed, and can get mail (functions/README.md, Input). */
import { domainToASCII } from 'node:url';
import { config } from '../ground/settings.ts';
import { longest } from './user.ts';

/** The sentence in the description of an address that says how addresses are unique. */
export const uniqueness =
  'Kept as it was given; unique without regard to letter case, to how accents are composed, and to whether the domain is written in Unicode or in punycode.';

/** The text that replaces an address that is too long to be processed: no user has it, and no field accepts it. */
export const nobodysEmail = '';

/** The form in which texts are searched: without regard to letter case or to how accents are composed. */
export function searchable(text: string): string {
  return capitals(text.normalize()).normalize();
}

/** The form something@something, with one @, and without white space, control and format characters. */
const emailForm = /^[^\s@\p{Cc}\p{Cf}]+@[^\s@\p{Cc}\p{Cf}]+$/u;

/** The most bytes of an address as a key: with the prefix of the key, DynamoDB allows 2,048 bytes. */
const longestKey = 2000;

/** Whether a text is an address that a user may have, apart from its length. */
export function isAddress(text: string): boolean {
  return (
    emailForm.test(text) &&
    asciiDomain(partsOf(text.normalize()).domain ?? '') !== undefined &&
    Buffer.byteLength(emailKey(text)) <= longestKey
  );
}

/**
 * The form under which addresses are unique and looked up (functions/README.md, Input). The key of a key is the same
 * key, and the key of a text that is not an address is never the key of an address.
 */
export function emailKey(email: string): string {
  return untrimmedKey(email.trim());
}

/** The {@link emailKey} of an address that is not trimmed: white space around it counts. */
export function untrimmedKey(email: string): string {
  const { local, domain } = partsOf(email.normalize());
  if (domain === undefined) return folded(local);
  return `${folded(local)}@${asciiDomain(domain)?.toLowerCase() ?? domain}`;
}

/** Whether a user may get an address: if addresses are verified, the service must be able to send mail to it. */
export function isVerifiable(email: string): boolean {
  return config.emailVerification === 'off' || mailedAs(email) !== undefined;
}

/**
 * Text that Amazon SES and every reader of the header understand as exactly one address: a dot-atom (RFC 5322, section
 * 3.2.3) at a domain that DNS can have. Text with a comma, a bracket or a quote may be a list of addresses, or a name
 * with another address. Before the @, characters that are not in ASCII may look like another address, or be converted
 * into another address on the way.
 */
const plainAddress =
  /^(?!\.)(?!.*(?:\.\.|\.@|\.$))[\w!#$%&'*+/=?^`{|}~.-]+@(?=.{1,253}$)(?:(?!-)[a-z\d-]{1,63}(?<!-)(?:\.|$))+$/i;

/** An encoded-word (RFC 2047), which readers of the header may decode into another address. */
const encodedWord = /=\?[^?]*\?[bq]\?.*\?=/i;

/**
 * An address in the form in which mails are sent to it, with its domain in ASCII; undefined: the service can never send
 * a mail to it. Only the text of the address is checked.
 */
export function mailedAs(email: string): string | undefined {
  const { local, domain = '' } = partsOf(email);
  const address = `${local}@${asciiDomain(domain.normalize()) ?? ''}`;
  return plainAddress.test(address) && !encodedWord.test(address) ? address : undefined;
}

/**
 * A text in capitals. All texts that differ only in letter case have the same capitals, and so have their corresponding
 * parts. Some small letters share their capitals: σ and ς, ß and ss. The text is first converted to small letters
 * because of letters such as ẞ.
 */
function capitals(text: string): string {
  return text.toLowerCase().toUpperCase();
}

/**
 * The characters that `domainToASCII` would cut off, leave out or decode, so that two domains would become the same.
 */
const misread = /[\s\p{Cc}\p{Cf}/\\?#%:[\]]/u;

/** The most UTF-16 code units: the time to convert a text to punycode grows with the square of its length. */
const longestDomain = 2 * longest.email;

/** A domain as in DNS, in punycode if it is not ASCII; undefined: there is no such domain. */
function asciiDomain(domain: string): string | undefined {
  if (/^\p{ASCII}*$/u.test(domain)) return domain;
  const isRead = domain.length <= longestDomain && !misread.test(domain);
  return (isRead && domainToASCII(domain)) || undefined;
}

/** The parts before and after the last @; the domain of a text without an @ is undefined. */
function partsOf(text: string): { readonly local: string; readonly domain: string | undefined } {
  const [, local = text, domain] = /^(.*)@(.*)$/s.exec(text) ?? [];
  return { local, domain };
}

/** {@link capitals} as small letters. A sigma gets the same form in the middle and at the end of a word. */
function folded(text: string): string {
  return capitals(text.normalize()).toLowerCase().replaceAll('ς', 'σ').normalize();
}
