import { createHmac, timingSafeEqual } from 'node:crypto';
import { type SigningKey, signingKeys } from '../auth/signing-secret.ts';
import { invalidParameter } from '../errors.ts';

/** Keeps a cursor's signature from ever being that of something else under the same secret. */
const purpose = 'cursor.v1';

const makeCursor = ({ keyObject }: SigningKey, scope: string, position: string): string => {
  const signature = createHmac('sha256', keyObject)
    .update(JSON.stringify([purpose, scope, position]))
    .digest('base64url');
  return `${Buffer.from(position).toString('base64url')}.${signature}`;
};

/** Takes the same time wherever the two differ. */
const isSame = (one: string, other: string): boolean => {
  const [bytes, otherBytes] = [Buffer.from(one), Buffer.from(other)];
  return bytes.length === otherBytes.length && timingSafeEqual(bytes, otherBytes);
};

/**
 * An opaque cursor: a position in a list, signed together with what was listed, so that it can
 * be neither altered nor used on another list.
 * @param scope the list and its filters
 * @param position the sort key of the last entry of the page
 * @throws what {@link signingKeys} throws
 */
export const encodeCursor = async (scope: string, position: string): Promise<string> => {
  const [key] = await signingKeys();
  return makeCursor(key, scope, position);
};

/**
 * The position that a cursor holds.
 * @throws {DomainError} PARAMETER_INVALID for one that was not issued for this list; what
 *   {@link signingKeys} throws
 */
export const decodeCursor = async (scope: string, cursor: string): Promise<string> => {
  const position = Buffer.from(cursor.replace(/\..*/s, ''), 'base64url').toString();
  for (const key of await signingKeys()) {
    // base64url has several spellings of the same bytes: only ours is accepted.
    if (isSame(cursor, makeCursor(key, scope, position))) return position;
  }
  throw invalidParameter('cursor', 'is invalid');
};
