import type { OpenApiDocument } from '../../../lib/contract/document.ts';
import { operationsOf, type PageOperation } from '../../../lib/docs/document.ts';
import { type Html, textOf } from '../../../lib/docs/html.ts';

const common = { 'X-Request-Id': { $ref: '#/components/headers/X-Request-Id' } };

const errors = (description: string, headers: object, codes: readonly string[]) => {
  const examples = (suffix: string) =>
    Object.fromEntries(
      codes.map((code) => [code, { $ref: `#/components/examples/${code}${suffix}` }]),
    );
  return {
    ...{ description, headers: { ...common, ...headers } },
    content: {
      'application/json': { schema: {}, examples: examples('') },
      'application/problem+json': { schema: {}, examples: examples('.problem') },
    },
  };
};

const problem = (code: string, title: string, status: number) => ({
  [code]: { value: { message: title } },
  [`${code}.problem`]: { value: { title, status, code } },
});

const Box = {
  ...{ type: 'object', description: 'A box.', required: ['size'] },
  properties: { size: { type: 'integer', minimum: 1 } },
};

/** A document with one of each thing that the page shows. */
export const document = {
  servers: [{ url: 'https://api.example.org' }],
  tags: [
    { name: 'Boxes, and more', description: 'What can be **packed**.' },
    { name: 'Bare', description: 'Nothing.' },
  ],
  paths: {
    '/boxes/{id}': {
      put: {
        ...{ operationId: 'pack', tags: ['Boxes, and more'], summary: 'Pack a box' },
        ...{ description: 'For *packers*.', security: [{ token: [] }] },
        parameters: [
          { $ref: '#/components/parameters/id' },
          { name: 'soon', in: 'query', schema: { type: 'string' } },
        ],
        requestBody: {
          content: {
            'application/json': {
              ...{ schema: { $ref: '#/components/schemas/Box' }, example: { size: 2 } },
            },
          },
        },
        responses: {
          200: {
            description: 'It is `packed`.',
            headers: { ...common, Link: { $ref: '#/components/headers/Link' } },
            content: {
              'application/json': {
                schema: { type: 'object', properties: { left: { type: 'integer' } } },
                example: { left: 0 },
              },
              'text/csv': { schema: { type: 'string' } },
            },
          },
          304: { description: 'It was.' },
          400: errors('It does not *fit*.', {}, ['TOO_BIG', 'TORN']),
          429: errors('Wait.', { 'Retry-After': {}, Link: {} }, ['TOO_MANY']),
          default: { $ref: '#/components/responses/Gateway' },
        },
      },
    },
    '/': {
      head: {
        ...{ operationId: 'look', tags: ['Bare'], summary: 'Look', security: [] },
        responses: { 204: { description: 'There.' } },
      },
    },
  },
  components: {
    schemas: {
      Box,
      Problem: {
        properties: {
          code: {
            description: 'New ones may come.\n\n- `TOO_BIG`: Buy `XL`.\n- `TORN`: By - `us`.',
          },
        },
      },
    },
    examples: {
      ...problem('TOO_BIG', 'Too big', 400),
      ...problem('TORN', 'Torn', 400),
      ...problem('TOO_MANY', 'Too many', 429),
      ...problem('FIELD_INVALID', 'size must be a number', 400),
    },
    headers: {
      'X-Request-Id': { description: 'Leads to a `log`.', schema: { type: 'string' } },
      Link: { schema: { type: 'string' } },
    },
    parameters: {
      id: { name: 'id', in: 'path', required: true, example: 7, schema: { type: 'integer' } },
    },
    responses: { Gateway: { description: 'What the gateway says.' } },
  },
} as unknown as OpenApiDocument;

/** Its operation with an id. */
export const operation = (id: string): PageOperation => {
  const found = operationsOf(document).find(({ operationId }) => operationId === id);
  if (!found) throw new Error(`There is no operation ${id}.`);
  return found;
};

/** What is read of a part of the page, line by line: cells are apart, links show where they lead. */
export const lines = (part: Html): readonly string[] =>
  textOf(part)
    .replace(/<a href="([^"]*)">(.*?)<\/a>/g, '[$2]($1)')
    .replace(/<\/t[hd]><t[hd][^>]*>/g, ' | ')
    .replace(/<(?:p|li)>/g, '\n')
    .replace(/<[^>]*>/g, '')
    .replace(/&#(\d+);/g, (_, code) => String.fromCharCode(code))
    .split('\n')
    .map((line) => line.trim())
    .filter(Boolean);
