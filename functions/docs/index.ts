/** The OpenAPI document and its page. One function serves them, because both follow from the contracts. */
import { buildDocument } from '../../lib/contract/document.ts';
import { config } from '../../lib/ground/settings.ts';
import { publicEndpoint } from '../../lib/http/endpoint.ts';
import { fileNames, revalidated, serveFile } from '../../lib/http/page-files.ts';
import type { ApiRequest } from '../../lib/http/request.ts';
import { routes } from '../../lib/http/routes.ts';
import { endpoints } from '../contracts.ts';
import * as contract from './contract.ts';
import { pagePolicy, renderPage } from './page.ts';

export const handler = routes(
  publicEndpoint(contract.getDocument, showDocument),
  publicEndpoint(contract.headDocument, showDocument),
  publicEndpoint(contract.getPage, showPage),
  publicEndpoint(contract.headPage, showPage),
  publicEndpoint(contract.getFile, (request) =>
    hasFinalSlash(request) ? toPage() : serveFile(request, 'docs', fileNames('docs')),
  ),
);

/** Whether the path is `/docs/`, which the gateway may match with the route of the page or the route of a file. */
function hasFinalSlash({ rawPath }: ApiRequest): boolean {
  return rawPath === '/docs/';
}

function toPage() {
  return { statusCode: 302, headers: { Location: '/docs' } };
}

function showDocument(request: ApiRequest) {
  const body = JSON.stringify(buildDocument(endpoints, config, serverOf(request)));
  return revalidated(request, { body, contentType: 'application/json; charset=utf-8' });
}

/** The URL under which the gateway was called. In AWS that is always HTTPS. */
function serverOf({ headers, requestContext: { domainName } }: ApiRequest): string {
  const isSecure = /^https\b/i.test(headers['x-forwarded-proto'] ?? '');
  return `${isSecure ? 'https' : 'http'}://${domainName}`;
}

function showPage(request: ApiRequest) {
  if (hasFinalSlash(request)) return toPage();
  const body = renderPage(config, fileNames('docs'));
  const headers = { 'Content-Security-Policy': pagePolicy };
  return revalidated(request, { body, contentType: 'text/html; charset=utf-8' }, headers);
}
