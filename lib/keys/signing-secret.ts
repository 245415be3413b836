import { createSecretKey, type KeyObject, type webcrypto } from 'node:crypto';
import { day } from '../ground/time.ts';
import { cached } from './cache.ts';
import { readSecret, type SecretVersion, type SecretVersions } from './secret-source.ts';

/** A version of the secret, ready to be used. */
export interface SigningKey {
  /** For HMACs with node:crypto. */
  readonly keyObject: KeyObject;
  /** For tokens: a form that jose need not import each time. */
  readonly cryptoKey: webcrypto.CryptoKey;
}

/** The keys in force: the first signs, all of them verify. */
export type SigningKeys = readonly [SigningKey, ...SigningKey[]];

/** Milliseconds after which the secret is read again. */
const refreshInterval = 60_000;

/**
 * Milliseconds after which a new version begins to sign. By then every function has read it and can
 * verify its signatures: twice the refresh interval, to allow for clocks and slow reads.
 */
export const activationDelay = 2 * refreshInterval;

/** The longest that a token is valid, in seconds: one day (functions/README.md, Tokens). */
export const tokenLifetime = day;

/**
 * Milliseconds after a rotation until the last token that the previous version signed has expired.
 */
export const retirementDelay = activationDelay + refreshInterval + tokenLifetime * 1000;

const imported = new WeakMap<SecretVersion, SigningKey>();

/** The versions that were read. */
interface Known {
  readonly versions: SecretVersions;
  /**
   * Whether they were read long enough after a rotation. Secrets Manager is eventually consistent: right
   * after one it may give a wrong version as the previous one, which must not be kept for as long as this
   * process lives.
   */
  readonly isSettled: boolean;
}

/**
 * The keys that sign and verify tokens and cursors.
 * @throws {ConfigError} when no secret is configured or it is shorter than 32 bytes; the SDK's or
 *   the file system's errors while it cannot be read and never was
 */
export const signingKeys = keptKeys((known) =>
  readSecret(known, ({ createdAt }) => isPreviousRetired(Date.now() - createdAt.getTime())),
);

/**
 * Keeps the keys of a secret, which is read again every {@link refreshInterval}.
 * @param read gets the versions that are known and settled, if there are any
 * @param now milliseconds since 1970
 */
export function keptKeys(
  read: (known?: SecretVersions) => Promise<SecretVersions>,
  now = () => Date.now(),
): () => Promise<SigningKeys> {
  const ageOf = ({ current }: SecretVersions) => now() - current.createdAt.getTime();
  const readKnown = async (known?: Known): Promise<Known> => {
    const versions = await read(known?.isSettled ? known.versions : undefined);
    return { versions, isSettled: ageOf(versions) >= activationDelay };
  };
  const known = cached(readKnown, {
    lifetime: refreshInterval,
    event: 'signing-secret-not-read',
    now,
  });
  return async () => {
    const { versions } = await known();
    return keysInForce(versions, ageOf(versions));
  };
}

/**
 * The keys that sign and verify at a moment, so that a rotation logs nobody out: first both verify
 * and the old one signs, then the new one signs, and a day later the old one is dropped.
 * @param age milliseconds since the current version was made
 */
export function keysInForce({ current, previous }: SecretVersions, age: number): SigningKeys {
  if (!previous || isPreviousRetired(age)) return [keyOf(current)];
  return age < activationDelay
    ? [keyOf(previous), keyOf(current)]
    : [keyOf(current), keyOf(previous)];
}

/**
 * Whether no token of the previous version is valid any more, when the current one has this age.
 */
function isPreviousRetired(age: number): boolean {
  return age >= retirementDelay;
}

/** The key of a version, imported once. */
function keyOf(version: SecretVersion): SigningKey {
  const key = imported.get(version) ?? importKey(version);
  imported.set(version, key);
  return key;
}

function importKey({ value }: SecretVersion): SigningKey {
  const keyObject = createSecretKey(value, 'utf8');
  const algorithm = { name: 'HMAC', hash: 'SHA-256' };
  return { keyObject, cryptoKey: keyObject.toCryptoKey(algorithm, false, ['sign', 'verify']) };
}
