import { createSecretKey, type KeyObject, type webcrypto } from 'node:crypto';
import { day } from '../ground/time.ts';
import { cached } from './cache.ts';
import { readSecret, type SecretVersion, type SecretVersions } from './secret-source.ts';

export interface SigningKey {
  /** The form for HMACs with node:crypto. */
  readonly keyObject: KeyObject;
  /** The form for tokens: jose would otherwise import the secret each time. */
  readonly cryptoKey: webcrypto.CryptoKey;
}

/** The keys in force: the first key signs, and all keys verify. */
export type SigningKeys = readonly [SigningKey, ...SigningKey[]];

/** Milliseconds after which the secret is read again. */
const refreshInterval = 60_000;

/**
 * Milliseconds after which a new version begins to sign. By then every function has read the version and can verify its
 * signatures. It is twice the refresh interval, to allow for clocks that differ and for slow reads.
 */
export const activationDelay = 2 * refreshInterval;

/** The maximum validity of a token, in seconds: one day (functions/README.md, Tokens). */
export const tokenLifetime = day;

/** Milliseconds after a rotation by which the last token that the previous version signed has expired. */
export const retirementDelay = activationDelay + refreshInterval + tokenLifetime * 1000;

const imported = new WeakMap<SecretVersion, SigningKey>();

interface Known {
  readonly versions: SecretVersions;
  /**
   * Whether the versions were read long enough after a rotation. Secrets Manager is eventually consistent: right after
   * a rotation it may return a wrong version as the previous version, which must not be kept for as long as this
   * process lives.
   */
  readonly isSettled: boolean;
}

/**
 * The keys that sign and verify tokens and cursors.
 * @throws {ConfigError} if no secret is configured or it is shorter than 32 bytes; the errors of the SDK or of the file
 *   system, if the secret cannot be read and was never read before
 */
export const signingKeys = keptKeys((known) =>
  readSecret(known, ({ createdAt }) => isPreviousRetired(Date.now() - createdAt.getTime())),
);

/**
 * Keeps the keys of a secret in memory; the secret is read again every {@link refreshInterval}.
 * @param read gets the known versions, if there are any and they are settled
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
 * The keys that sign and verify at a given time, so that a rotation logs nobody out. First both keys verify and the
 * old key signs, then the new key signs, and a day later the old key is dropped.
 * @param age milliseconds since the current version was made
 */
export function keysInForce({ current, previous }: SecretVersions, age: number): SigningKeys {
  if (!previous || isPreviousRetired(age)) return [keyOf(current)];
  return age < activationDelay
    ? [keyOf(previous), keyOf(current)]
    : [keyOf(current), keyOf(previous)];
}

function isPreviousRetired(age: number): boolean {
  return age >= retirementDelay;
}

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
