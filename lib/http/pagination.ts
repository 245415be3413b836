import { maxLimit } from '../contract/parameters.ts';
import { decodeCursor, encodeCursor } from './cursor.ts';
import type { ApiRequest } from './request.ts';

/**
 * Which page of a list is asked for.
 * @param scope names the list and its filters; a cursor of another one is refused
 * @throws what {@link decodeCursor} throws
 */
export const pageOf = async (
  { limit = maxLimit, cursor }: { limit?: number | undefined; cursor?: string | undefined },
  scope: string,
): Promise<{ limit: number; after: string | undefined }> => ({
  limit,
  after: cursor === undefined ? undefined : await decodeCursor(scope, cursor),
});

/**
 * The Link header (RFC 8288) that leads to the next page; no header when nothing remains.
 * @param next the sort key of the last entry of this page
 * @throws what {@link encodeCursor} throws
 */
export const nextPageLink = async (
  { rawPath, rawQueryString }: ApiRequest,
  scope: string,
  next: string | undefined,
): Promise<Readonly<Record<string, string>>> => {
  if (next === undefined) return {};
  const query = new URLSearchParams(rawQueryString);
  query.set('cursor', await encodeCursor(scope, next));
  return { Link: `<${rawPath}?${query}>; rel="next"` };
};
