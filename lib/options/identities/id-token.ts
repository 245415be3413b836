/**
 * Verifies ID tokens, and reads which identity a token vouches for (OpenID Connect Core 1.0, section 3.1.3.7). The
 * discovery documents of the accepted issuers name the addresses of their keys (OpenID Connect Discovery 1.0, section
 * 4). The keys are cached in this process.
 */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import {
  createLocalJWKSet,
  errors,
  type JWTPayload,
  type JWTVerifyOptions,
  jwtVerify,
  type LocalJWKSet,
} from 'jose';
import * as v from 'valibot';
import { DomainError, namedError } from '../../ground/errors.ts';
import { type IdentityProvider, providersFile } from '../../ground/rules.ts';
import { ConfigError } from '../../ground/setting.ts';
import { config } from '../../ground/settings.ts';
import { clockSkew } from '../../ground/time.ts';
import { atLeast, atMost, text } from '../../ground/validation.ts';
import { cached } from '../../keys/cache.ts';
import { isNonce, type NonceKind } from '../../keys/nonce.ts';
import { getDocument } from '../../keys/signed-request.ts';
import { email as emailRule, name as nameRule } from '../../users/fields.ts';

export interface Vouched {
  /** The issuer as the setting names it. */
  readonly issuer: string;
  readonly subject: string;
  /** The address; undefined: the issuer names no address that a user may have, or has not verified the address. */
  readonly email: string | undefined;
  readonly name: string | undefined;
}

/** An ID token, and the nonce that the app sent to the issuer for it. */
export interface TokenAndNonce {
  readonly idToken: string;
  readonly nonce: string;
}

/** The nonces with which apps request ID tokens from issuers. */
export const forIdToken: NonceKind = { purpose: 'id-token', lifetime: 10 * 60 };

/** Seconds for which a token is accepted after it was issued. */
const tokenAge = 10 * 60;

/**
 * Verifies an ID token: its signature, only with keys of its issuer, and its claims. The nonce is not used up.
 * @returns undefined for a token, or a nonce, that is not valid
 * @throws {DomainError} IDENTITY_PROVIDER_FAULT when its issuer cannot be reached and no keys are cached
 */
export async function verifyIdToken(
  { idToken, nonce }: TokenAndNonce,
  now = new Date(),
): Promise<Vouched | undefined> {
  try {
    const provider = providerOf(issuerIn(idToken));
    if (!provider || !(await isNonce(nonce, forIdToken, now))) return undefined;
    const { audiences } = provider;
    const claims = await verify(idToken, provider, {
      algorithms: ['RS256', 'ES256'],
      issuer: namesOf(provider),
      audience: [...audiences],
      requiredClaims: ['exp'],
      maxTokenAge: tokenAge,
      clockTolerance: clockSkew,
      currentDate: now,
    });
    const isOurs = isForOurs(claims, audiences) && isFor(nonce, claims.nonce);
    return isOurs ? vouchedBy(claims, provider) : undefined;
  } catch (error) {
    if (isFlaw(error)) return undefined;
    throw error;
  }
}

type KnownProvider = IdentityProvider & { readonly keys: ReturnType<typeof keysOf> };

let known: readonly KnownProvider[] | undefined;

export function providerOf(name: unknown) {
  known ??= readProviders().map((each) => ({ ...each, keys: keysOf(each) }));
  return known.find((each) => namesOf(each).some((one) => one === name));
}

const googleInTokens = 'accounts.google.com';
const google = `https://${googleInTokens}`;

/** The names that an issuer may have in a token: in tokens of Google, the name may lack `https://`. */
export function namesOf({ issuer }: Pick<IdentityProvider, 'issuer'>): string[] {
  return issuer === google ? [issuer, googleInTokens] : [issuer];
}

/** The issuer as the setting names it, for any name that the issuer may have in a token. */
export function issuerNamed(name: string): string {
  return name === googleInTokens ? google : name;
}

/** The issuer that a token names, unverified. @throws for text that is not a token */
function issuerIn(token: string): unknown {
  return JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString()).iss;
}

/** If the key of the token is not among the provider's keys, the keys are fetched again. */
async function verify(
  token: string,
  provider: KnownProvider,
  options: JWTVerifyOptions,
): Promise<JWTPayload> {
  const keys = await provider.keys();
  try {
    return (await jwtVerify(token, keys, options)).payload;
  } catch (error) {
    if (!(error instanceof errors.JWKSNoMatchingKey)) throw error;
    const newer = await provider.keys(() => true);
    return (await jwtVerify(token, newer, options)).payload;
  }
}

/** Milliseconds for which keys are used before they are fetched again. */
const keysLifetime = 60 * 60_000;

function keysOf({ issuer }: IdentityProvider) {
  return cached(() => readKeys(issuer), {
    lifetime: keysLifetime,
    event: 'identity-provider-not-read',
  });
}

async function readKeys(issuer: string): Promise<LocalJWKSet> {
  try {
    return createLocalJWKSet(await getDocument(await discover(issuer)));
  } catch (cause) {
    throw new DomainError('IDENTITY_PROVIDER_FAULT', { cause });
  }
}

/** The address of an issuer's keys. It may not be less secure than the address of the document that names it. */
async function discover(issuer: string): Promise<string> {
  const url = `${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`;
  const document = await getDocument(url);
  if (`${document.issuer}`.includes('{tenantid}')) {
    const rule = `must have a tenant's own issuer in place of ${issuer}, which is for many tenants`;
    throw new ConfigError('IDENTITY_PROVIDERS', rule);
  }
  const { protocol } = new URL(document.jwks_uri);
  const isSafe = protocol === 'https:' || protocol === new URL(issuer).protocol;
  if (document.issuer !== issuer || !isSafe) throw namedError('DiscoveryDocumentInvalid');
  return document.jwks_uri;
}

/** Whether a token is for one of our apps. A token for several audiences names the app to which it was issued. */
function isForOurs({ aud, azp }: JWTPayload, audiences: readonly string[]): boolean {
  return !Array.isArray(aud) || aud.length === 1 || audiences.some((each) => each === azp);
}

/** Whether the claim in a token is the nonce, or its SHA-256 in hex, as apps on Apple's systems request it. */
function isFor(nonce: string, claim: unknown): boolean {
  return claim === nonce || claim === createHash('sha256').update(nonce).digest('hex');
}

/** A subject (OpenID Connect Core 1.0, section 2). */
const subjectRule = v.pipe(
  text,
  atLeast(() => 1),
  atMost(255),
);

/** @returns undefined when the subject is not valid */
function vouchedBy(
  { sub, email_verified, email, name }: JWTPayload,
  { issuer }: IdentityProvider,
): Vouched | undefined {
  const subject = claim(subjectRule, sub);
  if (!subject) return undefined;
  // Apple writes this claim as text.
  const isVerified = email_verified === true || email_verified === 'true';
  const address = isVerified ? claim(emailRule, email) : undefined;
  return { issuer, subject, email: address, name: claim(nameRule, name) };
}

function claim(rule: v.GenericSchema<string>, value: unknown): string | undefined {
  const { success, output } = v.safeParse(rule, value);
  return success ? output : undefined;
}

/** Whether an error means that the text is not a token, or that the token or its key is not valid. */
function isFlaw(error: unknown): boolean {
  return [errors.JOSEError, SyntaxError, TypeError, DOMException].some(
    (kind) => error instanceof kind,
  );
}

function readProviders(): readonly IdentityProvider[] {
  const text = config.identityProviders;
  return JSON.parse(text === providersFile ? readFileSync(providersFile, 'utf8') : text);
}
