import * as v from 'valibot';
import { type FieldFault, invalidParameter } from '../errors.ts';
import { hold } from '../validation.ts';
import type { ApiRequest } from './request.ts';

type Parameters<Query extends v.ObjectEntries> = v.InferOutput<v.ObjectSchema<Query, undefined>>;

/**
 * The values of an endpoint's query parameters; it ignores those that it does not know.
 * @throws {DomainError} PARAMETER_INVALID naming the first that breaks its rule
 */
export const parseQuery = <Query extends v.ObjectEntries>(
  { query }: { readonly query: Query },
  given: Readonly<Record<string, string | undefined>> = {},
): Parameters<Query> => {
  const held = hold(v.object(query), given);
  if ('output' in held) return held.output;
  const [{ field, rule }] = held.faults as readonly [FieldFault];
  throw invalidParameter(field, rule);
};

/**
 * The same for an endpoint that takes no others: a filter that is ignored would pass for one that
 * was applied. The raw query is read, because the gateway joins repeated values by commas.
 * @throws {DomainError} PARAMETER_INVALID too for a parameter that is unknown or given twice
 */
export const parseExactQuery = <Query extends v.ObjectEntries>(
  operation: { readonly query: Query },
  { rawQueryString }: ApiRequest,
): Parameters<Query> => {
  const names = Object.keys(operation.query);
  const given = new Map<string, string>();
  for (const [name, value] of new URLSearchParams(rawQueryString)) {
    if (!names.includes(name)) {
      const rule = `is unknown; the parameters are ${names.join(', ')}`;
      throw invalidParameter(name || 'A parameter without a name', rule);
    }
    if (given.has(name)) throw invalidParameter(name, 'must be given only once');
    given.set(name, value);
  }
  return parseQuery(operation, Object.fromEntries(given));
};
