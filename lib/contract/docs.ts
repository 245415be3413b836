/** This contract itself, for machines and for people. */
import * as v from 'valibot';
import type { ServiceValues } from '../settings.ts';
import type { Operation } from './operation.ts';

const tag = 'Documentation';
const common = { caller: 'anyone', exists: ({ docs }: ServiceValues) => docs === 'on' } as const;
const headers = ['ETag'] as const;

export const getDocument = {
  ...common,
  describe: () => ({
    ...{ id: 'getDocument', tag, summary: 'Get this document' },
    text: 'As the settings in force make it.',
    success: {
      status: 200,
      description: 'An OpenAPI 3.1 document.',
      schema: v.looseObject({ openapi: v.string() }),
      contentType: 'application/json; charset=utf-8',
      headers,
    },
    errors: [],
  }),
} as const satisfies Operation;

export const headDocument = {
  ...common,
  describe: () => ({
    ...{ id: 'headDocument', tag, summary: 'Ask whether this document has changed' },
    success: { status: 200, description: 'The headers of the document.', headers },
    errors: [],
  }),
} as const satisfies Operation;

export const headDocsPage = {
  ...common,
  describe: () => ({
    ...{ id: 'headDocsPage', tag, summary: 'Ask whether the page has changed' },
    success: { status: 200, description: 'The headers of the page.', headers },
    errors: [],
  }),
} as const satisfies Operation;

export const getDocsPage = {
  ...common,
  describe: () => ({
    ...{ id: 'getDocsPage', tag, summary: 'Read this document as a page' },
    success: {
      status: 200,
      description: 'The page.',
      contentType: 'text/html; charset=utf-8',
      headers,
    },
    errors: [],
  }),
} as const satisfies Operation;
