import { describe, expect, it } from 'vitest';
import { parseAuditQuery } from '../../../lib/http/query.ts';
import type { ApiRequest } from '../../../lib/http/request.ts';
import { gatewayEvent } from '../../support/event.ts';

const parse = (query: Readonly<Record<string, string>>, accept = '*/*') =>
  parseAuditQuery(gatewayEvent({ query, headers: { accept } }) as unknown as ApiRequest);

describe('The audit query', () => {
  // What they sign must stay as it is: a client goes on with its cursors after an update.
  it.each([
    [{}, 'audit-logs?userId=&action='],
    [{ order: 'desc', limit: '7' }, 'audit-logs?userId=&action='],
    [{ action: 'LOGIN', userId: '007' }, 'audit-logs?userId=7&action=LOGIN'],
    [
      { until: '2026-11-21', since: '2026-11-20T09:00:00+01:00', resourceId: 'a&b' },
      'audit-logs?userId=&action=&resourceId=a%26b&since=2026-11-20T08%3A00%3A00.000Z&until=2026-11-21T00%3A00%3A00.000Z',
    ],
    [
      { userId: '0', result: 'FAILURE', order: 'asc' },
      'audit-logs?userId=0&action=&result=FAILURE&order=asc',
    ],
  ])('%o has cursors of the scope %s', (query, scope) => {
    expect(parse(query).scope).toBe(scope);
  });

  it.each([
    ['application/json', {}, { format: undefined, limit: 100 }],
    ['text/csv', {}, { format: 'csv', limit: 1000 }],
    ['application/x-ndjson', {}, { format: 'ndjson', limit: 1000 }],
    ['application/x-ndjson', { limit: '1000' }, { format: 'ndjson', limit: 1000 }],
    ['application/json;q=0', {}, { format: undefined, limit: 100 }],
    ['text/csv;q=0.5, text/html', {}, { format: 'csv', limit: 1000 }],
    ['text/csv;q=0.1, application/x-ndjson;q=0.2', {}, { format: 'ndjson', limit: 1000 }],
    ['text/*;q=0.5, */*;q=0.6, text/csv;q=0', {}, { format: undefined, limit: 100 }],
    ['application/*, text/csv', {}, { format: 'csv', limit: 1000 }],
  ])('for %s with %o is for %o', (accept, query, expected) => {
    const { format, page } = parse(query, accept);

    expect({ format, limit: page.limit }).toEqual(expected);
  });
});
