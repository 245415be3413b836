import { createSecretKey, type KeyObject, type webcrypto } from 'node:crypto';
import { describeFault, logError } from '../log.ts';
import { day } from '../time.ts';
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

/** Seconds for which a token is valid: one day (functions/README.md, Tokens). */
export const tokenLifetime = day;

/**
 * Milliseconds after a rotation until the last token that the previous version signed has expired.
 */
export const retirementDelay = activationDelay + refreshInterval + tokenLifetime * 1000;

const importKey = ({ value }: SecretVersion): SigningKey => {
  const keyObject = createSecretKey(value, 'utf8');
  const algorithm = { name: 'HMAC', hash: 'SHA-256' };
  return { keyObject, cryptoKey: keyObject.toCryptoKey(algorithm, false, ['sign', 'verify']) };
};

const imported = new WeakMap<SecretVersion, SigningKey>();

/** The key of a version, imported once. */
const keyOf = (version: SecretVersion): SigningKey => {
  const key = imported.get(version) ?? importKey(version);
  imported.set(version, key);
  return key;
};

/** A moment in milliseconds, by two clocks. */
export interface Moment {
  /** Since 1970. This clock may be set back. */
  readonly wall: number;
  /** Since this process began. This clock may stand still while a function is frozen. */
  readonly monotonic: number;
}

const present = (): Moment => ({ wall: Date.now(), monotonic: performance.now() });

/** Milliseconds from one moment to another, by the clock that shows more. */
const elapsed = (from: Moment, to: Moment): number =>
  Math.max(to.wall - from.wall, to.monotonic - from.monotonic);

/** When a version was created, by both clocks; it is read now for the first time. */
const creation = ({ createdAt }: SecretVersion, now: Moment): Moment => {
  const wall = createdAt.getTime();
  return { wall, monotonic: now.monotonic - Math.max(0, now.wall - wall) };
};

/**
 * Whether no token of the previous version is valid any more, when the current one has this age.
 */
const isPreviousRetired = (age: number): boolean => age >= retirementDelay;

/**
 * The keys that sign and verify at a moment, so that a rotation logs nobody out: first both verify
 * and the old one signs, then the new one signs, and a day later the old one is dropped.
 * @param age milliseconds since the current version was made
 */
export const keysInForce = ({ current, previous }: SecretVersions, age: number): SigningKeys => {
  if (!previous || isPreviousRetired(age)) return [keyOf(current)];
  return age < activationDelay
    ? [keyOf(previous), keyOf(current)]
    : [keyOf(current), keyOf(previous)];
};

/** The versions that were read, and when the current one was created. */
interface Known {
  readonly versions: SecretVersions;
  readonly created: Moment;
}

/**
 * Caches the secret and reads it again every {@link refreshInterval}. When it cannot be read, the
 * last version stays in use; if there is none, the error is thrown.
 */
export const cachedKeys = (
  read: (known?: SecretVersions) => Promise<SecretVersions>,
  clock: () => Moment = present,
): (() => Promise<SigningKeys>) => {
  let known: Known | undefined;
  let readAt: Moment | undefined;
  let isSettled = false;
  let reading: Promise<void> | undefined;

  const refresh = async () => {
    try {
      const versions = await read(isSettled ? known?.versions : undefined);
      const { current } = versions;
      const created =
        current.id === known?.versions.current.id ? known.created : creation(current, clock());
      known = { versions, created };
      // Secrets Manager is eventually consistent: right after a rotation, a wrong version may be
      // read as the previous one. It must not be kept for as long as this process lives.
      isSettled = elapsed(created, clock()) >= activationDelay;
    } catch (error) {
      if (!known) throw error;
      logError('signing-secret-not-read', describeFault(error));
    }
    readAt = clock();
  };

  return async () => {
    if (!readAt || elapsed(readAt, clock()) >= refreshInterval) {
      reading ??= refresh().finally(() => {
        reading = undefined;
      });
      await reading;
    }
    const { versions, created } = known as Known;
    return keysInForce(versions, elapsed(created, clock()));
  };
};

/**
 * The keys that sign and verify tokens and cursors.
 * @throws {ConfigError} when no secret is configured or it is shorter than 32 bytes; the SDK's or
 *   the file system's errors while it cannot be read and never was
 */
export const signingKeys = cachedKeys((known) =>
  readSecret(known, ({ createdAt }) => isPreviousRetired(Date.now() - createdAt.getTime())),
);
