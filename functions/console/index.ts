import * as contract from '../../lib/contract/console.ts';
import { anyone, endpoint } from '../../lib/http/endpoint.ts';
import { fileNames, revalidated, serveFile } from '../../lib/http/kept.ts';
import type { Handler } from '../../lib/http/request.ts';
import { config } from '../../lib/settings.ts';
import { pagePolicy, renderPage } from './page.ts';

const page = endpoint(contract.getConsolePage, anyone, (request) => {
  const body = renderPage(config, fileNames('console'));
  const headers = { 'Content-Security-Policy': pagePolicy };
  return revalidated(request, { body, contentType: 'text/html; charset=utf-8' }, headers);
});

const file = endpoint(contract.getConsoleFile, anyone, (request) =>
  serveFile(request, 'console', fileNames('console')),
);

/** GET /console and GET /console/{file}: one function serves both. */
export const handler: Handler = (event, context) =>
  (event.rawPath === '/console' ? page : file)(event, context);
