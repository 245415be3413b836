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

const root = endpoint(contract.openRoot, anyone, () => ({
  statusCode: 302,
  headers: { Location: '/console' },
}));

const handlers: Readonly<Record<string, Handler>> = {
  '/': root,
  '/console': page,
  '/console/': root,
};

/** GET /, GET /console and GET /console/{file}: one function serves all of them. */
export const handler: Handler = (event, context) =>
  (handlers[event.rawPath] ?? file)(event, context);
