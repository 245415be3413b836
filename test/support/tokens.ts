/** Bearer tokens as an attacker would make them: nothing is refused here. */
import { createHmac, type KeyObject, sign as signWithKey } from 'node:crypto';
import { decodeJwt, decodeProtectedHeader } from 'jose';

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

/** Seconds that are longer than the life of any token. */
const twoDays = 2 * 24 * 60 * 60;

/** A token as it is two days later. @param sign as the service signs */
export const outlived = (
  token: string,
  sign: (claims: object, header: object) => string,
): string => {
  const { iat = 0, exp = 0, ...claims } = decodeJwt(token);
  const times = { iat: iat - twoDays, exp: exp - twoDays };
  return sign({ ...claims, ...times }, decodeProtectedHeader(token));
};
