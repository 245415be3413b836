/**
 * The rules of settings that take more than one line: the rules for mails, URLs, issuers of identities, and passkeys.
 * They are here, and not in the folders of these options, because lib/ground/settings.ts needs them.
 */
import type { Rule } from './setting.ts';

declare global {
  /**
   * Whether lists of settings are files beside the code. The stack has checked these files, so bundles leave the checks
   * out (infra/stack/bundling/bundle.ts).
   */
  var hasFiles: true | undefined;
}

/** The most bytes that the name of a sender may have: one encoded-word (RFC 2047) holds no more. */
const longestName = 45;

export const mailSender = {
  rule: `an email address, or one with a name of at most ${longestName} bytes, as in My App <no-reply@example.com>`,
  isAllowed: (given) => {
    const { name, address } = senderIn(given);
    const isShort = Buffer.byteLength(name) <= longestName;
    return mailAddress.test(address) && (address === given || (isName(name) && isShort));
  },
} as const satisfies Rule;

/** The name and the address in `My App <no-reply@example.com>`; without a name, the text is only the address. */
export function senderIn(mailFrom: string): { readonly name: string; readonly address: string } {
  const [, name = '', address = mailFrom] = /^(.+) <(.*)>$/.exec(mailFrom) ?? [];
  return { name, address };
}

export const displayName = {
  rule: 'a name of at most 60 characters without " \\ < > : ; , @ ( ) [ ]',
  isAllowed: (given) => given.length <= 60 && isName(given),
} as const satisfies Rule;

export const pageUrl = {
  rule: 'an https URL without fragment, or an http one of localhost',
  isAllowed: isPageUrl,
} as const satisfies Rule;

export const issuerUrl = {
  rule: 'an https URL without query, fragment and final slash, or an http one of localhost',
  isAllowed: (given) => isPageUrl(given) && !/\?|\/$/.test(given),
} as const satisfies Rule;

/** The place to which a link may lead: a page, even with a fragment, or an app. */
export const returnUrl = {
  rule: 'an https URL, an http one of localhost, or one of an app as in my-app://login',
  isAllowed: (given) => appUrl.test(given) || isPageUrl(given.replace(/#[!-~]*$/, '')),
} as const satisfies Rule;

/** An OpenID Connect issuer whose ID tokens log users in, and the apps for which the tokens may be issued. */
export interface IdentityProvider {
  readonly issuer: string;
  readonly audiences: readonly string[];
}

/** The file beside the code of a deployed function that holds the list; no environment variable holds it there. */
export const providersFile = 'identity-providers.json';

/** A list of {@link IdentityProvider}, or the file that holds it. */
export const providerList = {
  rule: `a JSON list of {"issuer": an https URL, or an http one of localhost, "audiences": a list of text}, each issuer once; of Entra ID a tenant's own issuer, not common, organizations or consumers`,
  isJson: true,
  isAllowed: (given) =>
    given === providersFile || (!globalThis.hasFiles && isProviderList(parseJson(given))),
} as const satisfies Rule;

export interface PasskeySettings {
  readonly rpId: string;
  readonly origins: readonly string[];
}

export const relyingParty = {
  rule: 'JSON of at most 1,024 characters {"rpId": a domain in lower case, "origins": a list of https origins within it, of http ones of localhost, both without a final slash, or of apps as android:apk-key-hash:… or ios:…}',
  isJson: true,
  isAllowed: (given) => given.length <= 1024 && isRelyingParty(parseJson(given)),
} as const satisfies Rule;

/** Reads a JSON text. @returns undefined for any other text */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Neither mails nor authenticator apps may read a part of a name as an address or a label. */
function isName(text: string): boolean {
  return text.trim() === text && /^[^\p{C}"\\<>:;,@()[\]]+$/u.test(text);
}

/** Allows no characters that programs read in different ways, or that look like other characters. */
const plainUrl = /^https?:\/\/(?!\/)[!-~]+$/i;

function isPageUrl(text: string): boolean {
  const url = plainUrl.test(text) && !/[\\#]/.test(text) ? URL.parse(text) : null;
  if (!url || url.username || url.password) return false;
  return url.protocol === 'https:' || ['localhost', '127.0.0.1', '[::1]'].includes(url.hostname);
}

function isProviderList(list: unknown): boolean {
  const isList = Array.isArray(list) && list.length > 0;
  return isList && list.every((each) => each && isProvider(each)) && areDistinct(list);
}

/** An issuer of Entra ID for many tenants: tokens name the tenant's own issuer instead. */
const ofManyTenants = /\/(?:common|organizations|consumers)\/v2\.0\/?$/i;

function isProvider({ issuer, audiences, ...others }: Partial<IdentityProvider>): boolean {
  return (
    typeof issuer === 'string' &&
    isPageUrl(issuer) &&
    issuer.length <= 255 &&
    !issuer.includes('?') &&
    !ofManyTenants.test(issuer) &&
    Array.isArray(audiences) &&
    audiences.length > 0 &&
    audiences.every((each) => typeof each === 'string' && each !== '') &&
    Object.keys(others).length === 0
  );
}

/** Whether the list has each issuer only once, however its URL is written. */
function areDistinct(list: readonly IdentityProvider[]): boolean {
  return (
    new Set(list.map(({ issuer }) => new URL(issuer).href.replace(/\/$/, ''))).size === list.length
  );
}

const domain = /^(?=.{1,253}$)(?:localhost|(?:[a-z\d-]{1,63}\.)+[a-z][a-z\d-]*[a-z\d])$/;

function isRelyingParty(value: unknown): boolean {
  const { rpId, origins, ...others }: Partial<PasskeySettings> = value ?? {};
  return (
    typeof rpId === 'string' &&
    domain.test(rpId) &&
    Array.isArray(origins) &&
    origins.length > 0 &&
    origins.every((origin) => isOriginOf(rpId, origin)) &&
    Object.keys(others).length === 0
  );
}

const appOrigin = /^(?:android:apk-key-hash:[\w-]{43}|ios:[!-~]+)$/;

function isOriginOf(rpId: string, origin: unknown): boolean {
  if (typeof origin !== 'string') return false;
  if (appOrigin.test(origin)) return true;
  const url = URL.parse(origin);
  if (url?.origin !== origin) return false;
  const { protocol, hostname } = url;
  const isLocal = hostname === 'localhost' || hostname.endsWith('.localhost');
  const isWithin = hostname === rpId || hostname.endsWith(`.${rpId}`);
  return isWithin && (protocol === 'https:' || (protocol === 'http:' && isLocal));
}

/** A plain address, which needs no quoting in a header or in a condition of an IAM policy. */
const mailAddress = /^[\w.+-]{1,64}@[a-z\d](?:[a-z\d.-]{0,252}[a-z\d])?$/i;

/** A URL whose scheme belongs to an app, and is not a scheme that browsers run or show themselves. */
const appUrl =
  /^(?!(?:https?|javascript|data|vbscript|blob|file|about):)[a-z][a-z\d+.-]*:\/\/[!-~]*$/i;
