import { decodeCursor, encodeCursor } from './dynamodb/cursor.ts';
import type { ApiRequest } from './endpoint.ts';
import { invalidParameter } from './errors.ts';

/** Entries in an answer: the most, and how many when the caller does not say (spec, Limits). */
const maxLimit = 100;

const parseLimit = (text: string | undefined): number => {
  if (text === undefined) return maxLimit;
  const limit = /^[1-9]\d{0,2}$/.test(text) ? Number(text) : maxLimit + 1;
  if (limit > maxLimit)
    throw invalidParameter('limit', `must be a whole number from 1 to ${maxLimit}`);
  return limit;
};

/**
 * Which page of a list is asked for.
 * @param scope names the list and its filters; a cursor of another one is refused
 * @throws {DomainError} PARAMETER_INVALID; what {@link decodeCursor} throws
 */
export const parsePageRequest = async (
  { queryStringParameters: { limit, cursor } = {} }: ApiRequest,
  scope: string,
): Promise<{ limit: number; after: string | undefined }> => ({
  limit: parseLimit(limit),
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
