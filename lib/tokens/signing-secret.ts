import { describeFault, logError } from '../log.ts';
import { readSecret, type SecretVersion, type SecretVersions } from './secret-source.ts';

/** The keys in force: the first signs, all of them verify. */
export type SigningKeys = readonly [Uint8Array, ...Uint8Array[]];

/** Milliseconds for which what was read is used before it is read again. */
const refreshInterval = 60_000;

/**
 * Milliseconds after its creation from which a new version signs. By then everyone has read it
 * and can verify what it signed: twice the refresh interval, for clocks and slow reads.
 */
export const activationDelay = 2 * refreshInterval;

/** Seconds for which a token is valid: one day (spec, Limits). */
export const tokenLifetime = 24 * 60 * 60;

/** Milliseconds after a rotation until the last token that the previous version signed is dead. */
export const retirementDelay = activationDelay + refreshInterval + tokenLifetime * 1000;

const keyOf = ({ value }: SecretVersion): Uint8Array => new TextEncoder().encode(value);

/** Whether nothing is alive that the version before this one signed. */
const standsAlone = ({ createdAt }: SecretVersion, now: number): boolean =>
  now - createdAt.getTime() >= retirementDelay;

/**
 * Which keys sign and verify at a moment, so that a rotation logs nobody out: first both verify
 * and the old one signs, then the new one signs, and a day later the old one is forgotten.
 * @param now milliseconds since 1970
 */
export const keysInForce = ({ current, previous }: SecretVersions, now: number): SigningKeys => {
  if (!previous || standsAlone(current, now)) return [keyOf(current)];
  return now - current.createdAt.getTime() < activationDelay
    ? [keyOf(previous), keyOf(current)]
    : [keyOf(current), keyOf(previous)];
};

/**
 * Keeps the secret at hand and reads it again every {@link refreshInterval}. While it cannot be
 * read, what was read last serves on; before anything was read, the error is the caller's.
 */
export const cachedKeys = (
  read: (known?: SecretVersions) => Promise<SecretVersions>,
  clock: () => number = Date.now,
): (() => Promise<SigningKeys>) => {
  let versions: SecretVersions | undefined;
  let readAt = Number.NEGATIVE_INFINITY;
  let isSettled = false;
  let reading: Promise<void> | undefined;

  const refresh = async () => {
    try {
      versions = await read(isSettled ? versions : undefined);
      // Secrets Manager is eventually consistent: right after a rotation, the version before may
      // not be what was read, and would be relied on for as long as this process lives.
      isSettled = clock() - versions.current.createdAt.getTime() >= activationDelay;
    } catch (error) {
      if (!versions) throw error;
      logError('signing-secret-not-read', describeFault(error));
    }
    readAt = clock();
  };

  return async () => {
    if (clock() - readAt >= refreshInterval) {
      reading ??= refresh().finally(() => {
        reading = undefined;
      });
      await reading;
    }
    return keysInForce(versions as SecretVersions, clock());
  };
};

/**
 * The keys that sign and verify tokens and cursors.
 * @throws {ConfigError} when no secret is configured or it is shorter than 32 bytes; the SDK's or
 *   the file system's errors while it cannot be read and never was
 */
export const signingKeys = cachedKeys((known) =>
  readSecret(known, (current) => standsAlone(current, Date.now())),
);
