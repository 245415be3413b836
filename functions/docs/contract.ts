import * as v from 'valibot';
import type { Contract, Descriptions } from '../../lib/contract/contract.ts';
import { named, page, pageFile } from '../../lib/contract/schemas.ts';
import type { ServiceValues } from '../../lib/ground/settings.ts';

const forAnyone = { exists, may: 'public' } as const;

export const getDocument = {
  route: 'GET /openapi.json',
  ...forAnyone,
} as const satisfies Contract;

export const headDocument = {
  route: 'HEAD /openapi.json',
  ...forAnyone,
} as const satisfies Contract;

export const getPage = { route: 'GET /docs', ...forAnyone } as const satisfies Contract;

export const headPage = { route: 'HEAD /docs', ...forAnyone } as const satisfies Contract;

export const getFile = { route: 'GET /docs/{file}', ...forAnyone } as const satisfies Contract;

export const tag = 'Documentation';

const headers = ['ETag'];

export const descriptions: Descriptions = {
  getDocument: () => ({
    id: 'getDocument',
    summary: 'Get this document',
    text: 'It describes the service under the settings in force.',
    success: {
      status: 200,
      description: 'An OpenAPI 3.1 document.',
      schema: named('OpenApiDocument', v.record(v.string(), v.unknown())),
      contentType: 'application/json; charset=utf-8',
      headers,
    },
  }),

  headDocument: () => ({
    id: 'headDocument',
    summary: 'Ask whether this document has changed',
    success: { status: 200, description: 'The headers of the document.', headers },
  }),

  getPage: () => ({
    id: 'getDocsPage',
    summary: 'Read this document as a page',
    success: page('Docs'),
  }),

  headPage: () => ({
    id: 'headDocsPage',
    summary: 'Ask whether the page has changed',
    success: { status: 200, description: 'The headers of the page.', headers },
  }),

  getFile: () => ({
    id: 'getDocsFile',
    summary: 'Get a file that the page loads',
    text: 'Compressed as `Accept-Encoding` allows. Clients may cache it for ever.',
    success: pageFile('Docs'),
  }),
};

function exists({ docs }: ServiceValues) {
  return docs === 'on';
}
