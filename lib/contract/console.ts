/** The console: a page that calls the other operations, for admins. */
import { consolePage, consoleScript, consoleStyleSheet } from './named-schemas.ts';
import type { Describe, Operation, Operations } from './operation.ts';

const tag = 'Console';

export const openRoot = { caller: 'anyone' } as const satisfies Operation;

const openRootDescription: Describe = ({ console }) => ({
  exists: console === 'on',
  id: 'openRoot',
  tag,
  summary: 'Be led to the console',
  success: { status: 302, description: 'It leads to `/console`.', headers: ['Location'] },
  errors: [],
});

export const getConsolePage = { caller: 'anyone' } as const satisfies Operation;

const getConsolePageDescription: Describe = ({ console }) => ({
  exists: console === 'on',
  id: 'getConsolePage',
  tag,
  summary: 'Open the console',
  text: 'A page on which admins log in, and look at users and the audit trail.',
  success: {
    status: 200,
    description: 'The page.',
    schema: consolePage,
    contentType: 'text/html; charset=utf-8',
    headers: ['ETag'],
  },
  errors: [],
});

export const getConsoleFile = { caller: 'anyone' } as const satisfies Operation;

const getConsoleFileDescription: Describe = ({ console }) => ({
  exists: console === 'on',
  id: 'getConsoleFile',
  tag,
  summary: 'Get a file that the console loads',
  text: 'Compressed as `Accept-Encoding` allows. Clients may keep it for good.',
  success: {
    status: 200,
    description: 'The file.',
    schema: consoleScript,
    contentType: 'text/javascript; charset=utf-8',
    textForms: [{ contentType: 'text/css', schema: consoleStyleSheet, example: 'body {}' }],
  },
  errors: ['FILE_NOT_FOUND'],
});

export const operations = {
  'GET /': [openRoot, openRootDescription],
  'GET /console': [getConsolePage, getConsolePageDescription],
  'GET /console/{file}': [getConsoleFile, getConsoleFileDescription],
} as const satisfies Operations;
