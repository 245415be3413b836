import { createHmac, timingSafeEqual } from 'node:crypto';
import { maxLimit } from '../contract/parameters.ts';
import { invalidParameter } from '../ground/errors.ts';
import { type SigningKey, signingKeys } from '../keys/signing-secret.ts';
import type { ApiRequest } from './request.ts';

/** @param scope names the list and its filters; a cursor of another scope is refused */
export async function pageOf(
  { limit = maxLimit, cursor }: { limit?: number | undefined; cursor?: string | undefined },
  scope: string,
): Promise<{ limit: number; after: string | undefined }> {
  return {
    limit,
    after: cursor === undefined ? undefined : await decodeCursor(scope, cursor),
  };
}

/**
 * The position that a cursor holds.
 * @throws {DomainError} PARAMETER_INVALID for a cursor that was not issued for this list
 */
export async function decodeCursor(scope: string, cursor: string): Promise<string> {
  const position = Buffer.from(cursor.replace(/\..*/s, ''), 'base64url').toString();
  for (const key of await signingKeys()) {
    // Several texts in base64url decode to the same bytes: only the text that the service wrote is accepted.
    if (isSame(cursor, makeCursor(key, scope, position))) return position;
  }
  throw invalidParameter('cursor', 'is invalid');
}

/**
 * The Link header (RFC 8288) with the URL of the next page; no header when nothing remains.
 * @param next the sort key of the last entry of this page
 */
export async function nextPageLink(
  { rawPath, rawQueryString }: ApiRequest,
  scope: string,
  next: string | undefined,
): Promise<Readonly<Record<string, string>>> {
  if (next === undefined) return {};
  const query = new URLSearchParams(rawQueryString);
  query.set('cursor', await encodeCursor(scope, next));
  return { Link: `<${rawPath}?${query}>; rel="next"` };
}

/**
 * An opaque cursor: a position in a list, signed together with the scope, so that nobody can alter it or use it for
 * another list.
 * @param scope the list and its filters
 * @param position the sort key of the last entry of the page
 * @throws the errors of {@link signingKeys}
 */
export async function encodeCursor(scope: string, position: string): Promise<string> {
  const [key] = await signingKeys();
  return makeCursor(key, scope, position);
}

/** Compares two texts in a time that does not depend on where they differ. */
function isSame(one: string, other: string): boolean {
  const [bytes, otherBytes] = [Buffer.from(one), Buffer.from(other)];
  return bytes.length === otherBytes.length && timingSafeEqual(bytes, otherBytes);
}

/** The purpose is signed too, so that no signature for another purpose is valid for a cursor. */
const purpose = 'cursor.v1';

function makeCursor({ keyObject }: SigningKey, scope: string, position: string): string {
  const signature = createHmac('sha256', keyObject)
    .update(JSON.stringify([purpose, scope, position]))
    .digest('base64url');
  return `${Buffer.from(position).toString('base64url')}.${signature}`;
}
