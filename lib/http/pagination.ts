import { invalidParameter } from '../errors.ts';
import { decodeCursor, encodeCursor } from './cursor.ts';
import type { ApiRequest } from './request.ts';

/** Entries in a response: the most, and how many when the caller does not say. */
const maxLimit = 100;

const parseLimit = (text: string | undefined): number => {
  if (text === undefined) return maxLimit;
  const limit = /^[1-9]\d{0,2}$/.test(text) ? Number(text) : maxLimit + 1;
  if (limit > maxLimit)
    throw invalidParameter('limit', `must be a whole number from 1 to ${maxLimit}`);
  return limit;
};

/**
 * The query parameters of an endpoint that takes no others: a filter that is ignored would pass for
 * one that was applied. The raw query is read, because the gateway joins repeated values by commas.
 * @throws {DomainError} PARAMETER_INVALID for a parameter that is unknown or given twice
 */
export const readParameters = <Name extends string>(
  { rawQueryString }: ApiRequest,
  names: readonly Name[],
): Readonly<Partial<Record<Name, string>>> => {
  const parameters = new Map<string, string>();
  for (const [name, value] of new URLSearchParams(rawQueryString)) {
    if (!names.some((known) => known === name)) {
      const rule = `is unknown; the parameters are ${names.join(', ')}`;
      throw invalidParameter(name || 'A parameter without a name', rule);
    }
    if (parameters.has(name)) throw invalidParameter(name, 'must be given only once');
    parameters.set(name, value);
  }
  return Object.fromEntries(parameters) as Partial<Record<Name, string>>;
};

/** The parameters of {@link parsePageRequest}, which any list takes. */
export const pageParameters = ['limit', 'cursor'] as const;

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
