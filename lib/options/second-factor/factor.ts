/**
 * The second factor of a user, which is stored in the user's item (functions/README.md, Second factor): codes of an
 * authenticator app (TOTP, RFC 6238) and recovery codes. This file checks codes and uses them up.
 */

import { createHash, randomBytes } from 'node:crypto';
import { Secret, TOTP } from 'otpauth';
import { untilWritten } from '../../dynamodb/client.ts';
import { DomainError } from '../../ground/errors.ts';
import { seconds } from '../../ground/time.ts';
import { decryptSecret } from '../../keys/factor-key.ts';
import type { StoredUser } from '../../users/item.ts';
import { findStoredUser } from '../../users/store.ts';
import { writeUser } from '../../users/write.ts';

export type Code =
  | { readonly kind: 'app'; readonly digits: string }
  | { readonly kind: 'recovery'; readonly letters: string }
  | { readonly kind: 'neither' };

/** Crockford's base32 has no letters that look like digits. */
const alphabet = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';
/** 16 characters of 5 bits each: 80 bits. */
const recoveryLength = 16;

const recoveryForm = new RegExp(`^[${alphabet}]{${recoveryLength}}$`);

/** The proof that a code is right. It holds for one secret, and only until a write uses up the code. */
export type Proof = { readonly secret: string } & (
  | { readonly step: number }
  | { readonly hash: string }
);

/** Bytes of a secret: as many as the output of SHA-1 has (RFC 4226, section 4). */
const secretSize = 20;

/** A new secret, in base32 (RFC 4648). */
export function makeSecret(): string {
  return new Secret({ size: secretSize }).base32;
}

/** The URI that an app reads from a QR code. @param issuer the name of the service, which the app shows */
export function enrolmentUri(secret: string, names: { issuer: string; label: string }): string {
  return totp(secret, names).toString();
}

const recoveryCodes = 10;

/** New recovery codes, in groups that can be read aloud. */
export function makeRecoveryCodes(): string[] {
  return Array.from({ length: recoveryCodes }, makeRecoveryCode);
}

/** The hashes of recovery codes. @param codes the codes as users see them */
export function recoveryHashes(userId: number, codes: readonly string[]): Set<string> {
  return new Set(codes.map((code) => recoveryHash(userId, code.replaceAll('-', ''))));
}

/** The hash of a recovery code, which is stored in place of the code. It is fast, because a code has 80 random bits. */
export function recoveryHash(userId: number, letters: string): string {
  return createHash('sha256').update(`recovery.v1:${userId}:${letters}`).digest('base64url');
}

/**
 * Checks a code of a user, but does not use it up.
 * @throws {DomainError} STORAGE_FAULT when the secret cannot be decrypted
 */
export async function checkCode(user: StoredUser, text: string): Promise<Proof | undefined> {
  const { id, factor_secret: secret } = user;
  if (secret === undefined) return undefined;
  const code = readCode(text);
  if (code.kind === 'recovery') {
    const proof = { secret, hash: recoveryHash(id, code.letters) };
    return isGood(user, proof) ? proof : undefined;
  }
  const step = await stepOfCode(id, secret, text, new Date());
  if (step === undefined) return undefined;
  const proof = { secret, step };
  return isGood(user, proof) ? proof : undefined;
}

/** The time step of a code of an app. @param secret the secret, encrypted */
export async function stepOfCode(userId: number, secret: string, text: string, now: Date) {
  const code = readCode(text);
  if (code.kind !== 'app') return undefined;
  return stepOf(await decryptSecret(userId, secret), code.digits, now);
}

/** The encrypted secret that waits for its first code. @throws {DomainError} SECOND_FACTOR_NOT_FOUND */
export function pendingSecret({ enrolment }: StoredUser, now: Date): string {
  if (!enrolment || enrolment.until <= seconds(now)) {
    throw new DomainError('SECOND_FACTOR_NOT_FOUND');
  }
  return enrolment.secret;
}

const appForm = /^\d{6}$/;

/** The most characters of a text that is read as a code; people type separators into codes. */
const maxLength = 64;

/**
 * Reads a code. White space, dashes and letter case are ignored. Decimal digits of every script are accepted. In a
 * recovery code O is read as 0, and I and L as 1.
 */
export function readCode(value: string): Code {
  const text =
    value.length > maxLength ? '' : value.replaceAll(/[\s\p{White_Space}\p{Dash}]/gu, '');
  const plain = text.replaceAll(/\p{Nd}/gu, asciiDigit).toUpperCase();
  if (appForm.test(plain)) return { kind: 'app', digits: plain };
  const letters = plain.replaceAll('O', '0').replaceAll(/[IL]/g, '1');
  return recoveryForm.test(letters) ? { kind: 'recovery', letters } : { kind: 'neither' };
}

/** Seconds for which an app shows a code. */
const period = 30;

/** Steps by which the clocks of app and service may differ, in either direction. */
const window = 1;

/** The present step, or the step before or after it; undefined for a code of any other step. */
export function stepOf(secret: string, digits: string, now: Date): number | undefined {
  const timestamp = now.getTime();
  const delta = totp(secret).validate({ token: digits, timestamp, window });
  return delta === null ? undefined : TOTP.counter({ period, timestamp }) + delta;
}

/**
 * Uses up a code: of several requests with the same code, only one succeeds.
 * @param wrong thrown when another request has used the code, or the factor was removed
 * @param deleted thrown when the user was deleted; absent: `wrong` is thrown
 * @returns the user without the code
 */
export function useCode(
  user: StoredUser,
  proof: Proof,
  wrong: Error,
  deleted = wrong,
): Promise<StoredUser> {
  const use = async (current: StoredUser | undefined) => {
    if (!current) throw deleted;
    if (!isGood(current, proof)) throw wrong;
    return writeUser(current, { fields: spent(current, proof) });
  };
  return untilWritten(() => findStoredUser(user.id), use, user);
}

function totp(secret: string, names?: { issuer: string; label: string }) {
  return new TOTP({
    secret: Secret.fromBase32(secret),
    algorithm: 'SHA1',
    digits: 6,
    period,
    ...names,
  });
}

function makeRecoveryCode(): string {
  // 256 is a multiple of 32, so that each character is as likely as any other.
  const letters = [...randomBytes(recoveryLength)].map((byte) => alphabet.charAt(byte % 32));
  return letters.join('').replaceAll(/(.{4})(?=.)/g, '$1-');
}

/** In Unicode, the decimal digits of a script are in groups of ten, from zero to nine. */
function asciiDigit(digit: string): string {
  const code = digit.codePointAt(0) ?? 0;
  let zero = code;
  while (/^\p{Nd}$/u.test(String.fromCodePoint(zero - 1))) zero -= 1;
  return String((code - zero) % 10);
}

function isGood(user: StoredUser, proof: Proof): boolean {
  return (
    user.factor_secret === proof.secret &&
    ('step' in proof
      ? proof.step > (user.factor_step ?? 0)
      : user.recovery_codes?.has(proof.hash) === true)
  );
}

function spent(user: StoredUser, proof: Proof) {
  if ('step' in proof) return { factor_step: proof.step };
  const rest = new Set(user.recovery_codes);
  rest.delete(proof.hash);
  return { recovery_codes: rest.size > 0 ? rest : undefined };
}
