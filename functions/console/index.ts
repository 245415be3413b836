import { config } from '../../lib/ground/settings.ts';
import { publicEndpoint } from '../../lib/http/endpoint.ts';
import { fileNames, revalidated, serveFile } from '../../lib/http/kept.ts';
import type { Handler } from '../../lib/http/request.ts';
import * as contract from './contract.ts';
import { pagePolicy, renderPage } from './page.ts';

const page = publicEndpoint(contract.getPage, (request) => {
  const body = renderPage(config, fileNames('console'));
  const headers = { 'Content-Security-Policy': pagePolicy };
  return revalidated(request, { body, contentType: 'text/html; charset=utf-8' }, headers);
});

const file = publicEndpoint(contract.getFile, (request) =>
  serveFile(request, 'console', fileNames('console')),
);

const root = publicEndpoint(contract.openRoot, () => ({
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
