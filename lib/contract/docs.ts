/** This contract itself, for machines and for people. */
import { docsPage, docsScript, docsStyleSheet, openApiDocument } from './named-schemas.ts';
import type { Describe, Operation, Operations } from './operation.ts';

const tag = 'Documentation';
const headers = ['ETag'] as const;

export const getDocument = { caller: 'anyone' } as const satisfies Operation;

const getDocumentDescription: Describe = ({ docs }) => ({
  exists: docs === 'on',
  id: 'getDocument',
  tag,
  summary: 'Get this document',
  text: 'It describes the service under the settings in force.',
  success: {
    status: 200,
    description: 'An OpenAPI 3.1 document.',
    schema: openApiDocument,
    contentType: 'application/json; charset=utf-8',
    headers,
  },
  errors: [],
});

const headDocument = { caller: 'anyone' } as const satisfies Operation;

const headDocumentDescription: Describe = ({ docs }) => ({
  exists: docs === 'on',
  id: 'headDocument',
  tag,
  summary: 'Ask whether this document has changed',
  success: { status: 200, description: 'The headers of the document.', headers },
  errors: [],
});

const headDocsPage = { caller: 'anyone' } as const satisfies Operation;

const headDocsPageDescription: Describe = ({ docs }) => ({
  exists: docs === 'on',
  id: 'headDocsPage',
  tag,
  summary: 'Ask whether the page has changed',
  success: { status: 200, description: 'The headers of the page.', headers },
  errors: [],
});

export const getDocsPage = { caller: 'anyone' } as const satisfies Operation;

const getDocsPageDescription: Describe = ({ docs }) => ({
  exists: docs === 'on',
  id: 'getDocsPage',
  tag,
  summary: 'Read this document as a page',
  success: {
    status: 200,
    description: 'The page.',
    schema: docsPage,
    contentType: 'text/html; charset=utf-8',
    headers,
  },
  errors: [],
});

export const getDocsFile = { caller: 'anyone' } as const satisfies Operation;

const getDocsFileDescription: Describe = ({ docs }) => ({
  exists: docs === 'on',
  id: 'getDocsFile',
  tag,
  summary: 'Get a file that the page loads',
  text: 'Compressed as `Accept-Encoding` allows. Clients may cache it for ever.',
  success: {
    status: 200,
    description: 'The file.',
    schema: docsScript,
    contentType: 'text/javascript; charset=utf-8',
    textForms: [{ contentType: 'text/css', schema: docsStyleSheet, example: 'body {}' }],
  },
  errors: ['FILE_NOT_FOUND'],
});

export const operations = {
  'GET /openapi.json': [getDocument, getDocumentDescription],
  'HEAD /openapi.json': [headDocument, headDocumentDescription],
  'GET /docs': [getDocsPage, getDocsPageDescription],
  'HEAD /docs': [headDocsPage, headDocsPageDescription],
  'GET /docs/{file}': [getDocsFile, getDocsFileDescription],
} as const satisfies Operations;
