import { createHmac, timingSafeEqual } from 'node:crypto';
import { type SigningKey, signingKeys } from '../auth/signing-secret.ts';
import { invalidParameter } from '../errors.ts';

/** Keeps a cursor's signature from ever being that of something else under the same secret. */
const purpose = 'cursor.v1';

const signature = ({ keyObject }: SigningKey, scope: string, position: string): Buffer =>
  createHmac('sha256', keyObject)
    .update(JSON.stringify([purpose, scope, position]))
    .digest();

/**
 * An opaque cursor: a position in a list, signed together with what was listed, so that it can
 * be neither altered nor used on another list.
 * @param scope the list and its filters
 * @param position the sort key of the last entry of the page
 * @throws what {@link signingKeys} throws
 */
export const encodeCursor = async (scope: string, position: string): Promise<string> => {
  const [key] = await signingKeys();
  const signed = signature(key, scope, position).toString('base64url');
  return `${Buffer.from(position).toString('base64url')}.${signed}`;
};

/**
 * The position that a cursor holds.
 * @throws {DomainError} PARAMETER_INVALID for one that was not issued for this list; what
 *   {@link signingKeys} throws
 */
export const decodeCursor = async (scope: string, cursor: string): Promise<string> => {
  const [encoded = '', signed = ''] = cursor.split('.');
  const position = Buffer.from(encoded, 'base64url').toString();
  const given = Buffer.from(signed, 'base64url');
  for (const key of await signingKeys()) {
    const expected = signature(key, scope, position);
    const genuine = given.length === expected.length && timingSafeEqual(given, expected);
    // base64url has several spellings of the same bytes: only ours is accepted.
    if (
      genuine &&
      cursor === `${Buffer.from(position).toString('base64url')}.${expected.toString('base64url')}`
    ) {
      return position;
    }
  }
  throw invalidParameter('cursor', 'is invalid');
};
