/** Bearer tokens as an attacker would make them: nothing is refused here. */
import { createHmac, type KeyObject, sign as signWithKey } from 'node:crypto';

/** base64url of a text, or of a value's JSON. */
export const encode = (part: unknown): string =>
  Buffer.from(typeof part === 'string' ? part : JSON.stringify(part)).toString('base64url');

export const now = (): number => Math.floor(Date.now() / 1000);

export const soundHeader = { alg: 'HS256', typ: 'JWT' };

/** Claims with which nothing is wrong, besides what is given. */
export const claimsWith = (claims: Readonly<Record<string, unknown>>) => ({
  id: 1,
  email: 'some@example.org',
  role: 'user',
  iat: now(),
  exp: now() + 3600,
  ...claims,
});

/**
 * A token with an HMAC, of the hash whose size its header names.
 * @param claims the payload, and `header` the header: as values, or as the text of their JSON
 */
export const signToken = (
  claims: unknown,
  secret: string | Buffer,
  header: object | string = soundHeader,
): string => {
  const signed = `${encode(header)}.${encode(claims)}`;
  const size = /"HS(256|384|512)"/.exec(JSON.stringify(header))?.[1] ?? '256';
  return `${signed}.${createHmac(`sha${size}`, secret).update(signed).digest('base64url')}`;
};

/** A token with the signature of an asymmetric key. */
export const signTokenWithKey = (claims: unknown, key: KeyObject, header: object): string => {
  const signed = `${encode(header)}.${encode(claims)}`;
  return `${signed}.${signWithKey('sha256', Buffer.from(signed), key).toString('base64url')}`;
};
