import { ConfigError } from '../config.ts';

/** Bytes. RFC 7518, section 3.2: a key for HS256 is at least as long as the hash's output. */
const minimumBytes = 32;

/** The keys in force: the first signs, all of them verify. */
export type SigningKeys = readonly [Uint8Array, ...Uint8Array[]];

const keyFrom = (secret: string, name: string): Uint8Array => {
  const key = new TextEncoder().encode(secret);
  if (key.length < minimumBytes) {
    throw new ConfigError(name, `must hold a secret of at least ${minimumBytes} bytes`);
  }
  return key;
};

/**
 * The keys that sign and verify tokens and cursors, from the environment.
 * @throws {ConfigError} when no secret is configured or it is shorter than 32 bytes
 */
export const signingKeys = async (): Promise<SigningKeys> => {
  const secret = process.env.JWT_SECRET;
  if (!secret) throw new ConfigError('JWT_SECRET', 'is not set');
  return [keyFrom(secret, 'JWT_SECRET')];
};
