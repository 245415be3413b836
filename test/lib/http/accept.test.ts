import { describe, expect, it } from 'vitest';
import { accepts, preferredLanguage, preferredType } from '../../../lib/http/request.ts';

describe('accepts', () => {
  const asksForProblemDetails = (header?: string) => accepts(header, 'application/problem+json');

  it.each([
    'application/problem+json',
    'Application/Problem+JSON',
    'application/json, application/problem+json;q=0.1',
    'text/html;x="a,b" ,\tapplication/problem+json ; q=0.001',
    'application/problem+json;q=0, application/problem+json',
    'application/problem+json;charset=utf-8',
    '%%%, application/problem+json',
  ])('finds the media type in the header %s', (header) => {
    expect(asksForProblemDetails(header)).toBe(true);
  });

  // biome-ignore format: a table
  it.each([
    undefined, '', '*/*', 'application/*', 'application/json', 'application/problem',
    'application/problem+json;q=0', 'application/problem+json;q=0.000',
    'x/y;z="a, application/problem+json"', 'text/x;p="a, application/problem+json',
    'text/x;p="a", text/y;p="b, application/problem+json, c\\', 'application/problem+jsonx',
    'xapplication/problem+json', 'application/problem+json;q=x',
  ])('does not find the media type in the header %s', (header) => {
    expect(asksForProblemDetails(header)).toBe(false);
  });
});

describe('preferredType', () => {
  const [json, ndjson, csv] = ['application/json', 'application/x-ndjson', 'text/csv'] as const;

  it.each([
    [undefined, json],
    ['', json],
    ['*/*', json],
    ['text/html', json],
    ['application/json', json],
    ['application/*', json],
    ['application/json;q=0', json],
    ['text/csv;q=0', json],
    ['text/csv;q=0.5, application/json', json],
    ['text/csv;q=0.5, */*', json],
    ['application/json, text/csv', json],
    ['text/*;q=0.5, */*;q=0.6, text/csv;q=0', json],
    ['text/csv', csv],
    ['Text/CSV; header=present', csv],
    ['text/*', csv],
    ['text/csv, */*', csv],
    ['text/csv, application/json', csv],
    ['application/*, text/csv', csv],
    ['application/json;q=0.8, text/csv;q=0.9', csv],
    ['application/problem+json, text/csv', csv],
    ['text/csv;q=0.5, text/html', csv],
    ['application/x-ndjson', ndjson],
    ['*/*;q=0.1, application/x-ndjson;q=0.2', ndjson],
    ['text/csv;q=0.1, application/x-ndjson', ndjson],
    ['application/json;q=0, application/*', ndjson],
  ])('chooses for the header %s the media type %s', (header, expected) => {
    expect(preferredType(header, [json, ndjson, csv])).toBe(expected);
  });
});

describe('preferredLanguage', () => {
  it.each([
    ['de', 'de'],
    ['DE-ch', 'de'],
    ['fr-FR, de;q=0.5, en;q=0.8', 'en'],
    ['de, en', 'de'],
    ['en;q=0, de;q=0.1', 'de'],
    ['fr', undefined],
    ['den', undefined],
    ['*', undefined],
    ['de;q=x', undefined],
    ['', undefined],
    [undefined, undefined],
  ])('for the header %j is %s', (header, language) => {
    expect(preferredLanguage(header, ['en', 'de'])).toBe(language);
  });
});
