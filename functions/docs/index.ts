import * as contract from '../../lib/contract/docs.ts';
import { buildDocument } from '../../lib/contract/document.ts';
import { anyone, endpoint } from '../../lib/http/endpoint.ts';
import { fileNames, revalidated, serveFile } from '../../lib/http/kept.ts';
import type { ApiRequest, Handler } from '../../lib/http/request.ts';
import { config } from '../../lib/settings.ts';
import { pagePolicy, renderPage } from './page.ts';

/** The URL under which the gateway was called. In AWS that is always HTTPS. */
const serverOf = ({ headers, requestContext: { domainName } }: ApiRequest): string =>
  `${/^https\b/i.test(headers['x-forwarded-proto'] ?? '') ? 'https' : 'http'}://${domainName}`;

const document = endpoint(contract.getDocument, anyone, (request) => {
  const body = JSON.stringify(buildDocument(config, serverOf(request)));
  return revalidated(request, { body, contentType: 'application/json; charset=utf-8' });
});

const page = endpoint(contract.getDocsPage, anyone, (request) => {
  const body = renderPage(config, fileNames('docs'));
  const headers = { 'Content-Security-Policy': pagePolicy };
  return revalidated(request, { body, contentType: 'text/html; charset=utf-8' }, headers);
});

const file = endpoint(contract.getDocsFile, anyone, (request) =>
  serveFile(request, 'docs', fileNames('docs')),
);

const slash = endpoint(contract.getDocsPage, anyone, () => ({
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
