/** Bearer tokens as an attacker would make them, which may be invalid in any way. */
import { createHmac, type KeyObject, sign as signWithKey } from 'node:crypto';
import { decodeJwt, decodeProtectedHeader } from 'jose';

/** The base64url of a text, or of the JSON of a value. */
export const encode = (part: unknown): string =>
  Buffer.from(typeof part === 'string' ? part : JSON.stringify(part)).toString('base64url');

export const now = (): number => Math.floor(Date.now() / 1000);

export const soundHeader = { alg: 'HS256', typ: 'JWT' };

/** Valid claims, besides the given ones. */
export const claimsWith = (claims: Readonly<Record<string, unknown>>) => ({
  id: 1,
  email: 'some@example.org',
  role: 'user',
  iat: now(),
  exp: now() + 3600,
  ...claims,
});

/**
 * A token with an HMAC, by the hash whose size its header names.
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

/** The seconds of two days: longer than any token is valid. */
const twoDays = 2 * 24 * 60 * 60;

/** A token two days later, when it has expired. @param sign signs as the service does */
export const outlived = (
  token: string,
  sign: (claims: object, header: object) => string,
): string => {
  const { iat = 0, exp = 0, ...claims } = decodeJwt(token);
  const times = { iat: iat - twoDays, exp: exp - twoDays };
  return sign({ ...claims, ...times }, decodeProtectedHeader(token));
};
