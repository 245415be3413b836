import { config } from '../../lib/ground/settings.ts';
import { publicEndpoint } from '../../lib/http/endpoint.ts';
import { fileNames, revalidated, serveFile } from '../../lib/http/kept.ts';
import type { ApiRequest, Handler } from '../../lib/http/request.ts';
import * as contract from './contract.ts';
import { documentFor } from './document.ts';
import { pagePolicy, renderPage } from './page.ts';

/** The URL under which the gateway was called. In AWS that is always HTTPS. */
const serverOf = ({ headers, requestContext: { domainName } }: ApiRequest): string =>
  `${/^https\b/i.test(headers['x-forwarded-proto'] ?? '') ? 'https' : 'http'}://${domainName}`;

const document = publicEndpoint(contract.getDocument, (request) => {
  const body = JSON.stringify(documentFor(config, serverOf(request)));
  return revalidated(request, { body, contentType: 'application/json; charset=utf-8' });
});

const page = publicEndpoint(contract.getPage, (request) => {
  const body = renderPage(config, fileNames('docs'));
  const headers = { 'Content-Security-Policy': pagePolicy };
  return revalidated(request, { body, contentType: 'text/html; charset=utf-8' }, headers);
});

const file = publicEndpoint(contract.getFile, (request) =>
  serveFile(request, 'docs', fileNames('docs')),
);

const slash = publicEndpoint(contract.getPage, () => ({
  statusCode: 302,
  headers: { Location: '/docs' },
}));

const handlers: Readonly<Record<string, Handler>> = {
  '/openapi.json': document,
  '/docs': page,
  '/docs/': slash,
};

/** GET and HEAD /openapi.json and /docs, GET /docs/{file}: one function serves all of them. */
export const handler: Handler = (event, context) =>
  (handlers[event.rawPath] ?? file)(event, context);
