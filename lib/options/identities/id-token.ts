/** How an ID token is verified, and whom it vouches for (OpenID Connect Core 1.0, section 3.1.3.7). */
import { createHash } from 'node:crypto';
import { errors, type JWTPayload, type JWTVerifyOptions, jwtVerify } from 'jose';
import * as v from 'valibot';
import type { IdentityProvider } from '../../ground/rules.ts';
import { clockSkew } from '../../ground/time.ts';
import { atLeast, atMost, text } from '../../ground/validation.ts';
import { isNonce, type NonceKind } from '../../keys/nonce.ts';
import { email as emailRule, name as nameRule } from '../../users/fields.ts';
import { type KnownProvider, namesOf, providerOf } from './providers.ts';

/** Whom an issuer vouches for. */
export interface Vouched {
  /** As the setting names it. */
  readonly issuer: string;
  readonly subject: string;
  /** The address; undefined: the issuer says none that a user may have, or has not verified it. */
  readonly email: string | undefined;
  readonly name: string | undefined;
}

/** An ID token, and the nonce for which the app had it issued. */
export interface TokenAndNonce {
  readonly idToken: string;
  readonly nonce: string;
}

/** The nonces for which apps have ID tokens issued. */
export const forIdToken: NonceKind = { purpose: 'id-token', lifetime: 10 * 60 };

/** A subject (OpenID Connect Core 1.0, section 2). */
const subjectRule = v.pipe(
  text,
  atLeast(() => 1),
  atMost(255),
);

/** Seconds for which a token counts after it was issued. */
const tokenAge = 10 * 60;

/**
 * Verifies an ID token: its signature by the keys of its issuer alone, and its claims. The nonce is not
 * used up by this.
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

/** The issuer that a token names, which nobody has verified. @throws what is thrown for no token */
function issuerIn(token: string): unknown {
  return JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString()).iss;
}

/** The claims of a token of a provider; the keys are asked for anew if they lack the token's. */
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

/** A token for several audiences names the app to which it was issued. */
function isForOurs({ aud, azp }: JWTPayload, audiences: readonly string[]): boolean {
  return !Array.isArray(aud) || aud.length === 1 || audiences.some((each) => each === azp);
}

/** Whether the token is for the nonce, or for its SHA-256 in hex, as apps of Apple's systems ask. */
function isFor(nonce: string, claim: unknown): boolean {
  return claim === nonce || claim === createHash('sha256').update(nonce).digest('hex');
}

/** A claim that follows a rule; undefined for any other. */
function claim(rule: v.GenericSchema<string>, value: unknown): string | undefined {
  const { success, output } = v.safeParse(rule, value);
  return success ? output : undefined;
}

/** Whom the claims of a token of a provider vouch for; undefined when the subject is not a valid one. */
function vouchedBy(
  { sub, email_verified, email, name }: JWTPayload,
  { issuer }: IdentityProvider,
): Vouched | undefined {
  const subject = claim(subjectRule, sub);
  if (!subject) return undefined;
  // Apple writes it as text.
  const isVerified = email_verified === true || email_verified === 'true';
  const address = isVerified ? claim(emailRule, email) : undefined;
  return { issuer, subject, email: address, name: claim(nameRule, name) };
}

/** Whether an error says that the text is not a token, or that the token or its key is not valid. */
function isFlaw(error: unknown): boolean {
  return [errors.JOSEError, SyntaxError, TypeError, DOMException].some(
    (kind) => error instanceof kind,
  );
}
