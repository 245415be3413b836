/** The console, and the pages of mailed links. One function serves all of them, with one set of files. */
import { DomainError } from '../../lib/ground/errors.ts';
import { config } from '../../lib/ground/settings.ts';
import { publicEndpoint } from '../../lib/http/endpoint.ts';
import { fileNames, revalidated, serveFile } from '../../lib/http/page-files.ts';
import type { ApiRequest } from '../../lib/http/request.ts';
import { routes } from '../../lib/http/routes.ts';
import { hasPage, type LinkPage } from '../../lib/options/links/page.ts';
import * as contract from './contract.ts';
import { renderLinkPage } from './link-page.ts';
import { pageHeaders, renderPage } from './page.ts';

/** The last part of a path that includes the fragment of a link, because its `#` was encoded once or twice. */
const encodedLink = /^(reset|verify|invitation)(?:#|%23)(.*)$/s;

export const handler = routes(
  publicEndpoint(contract.openRoot, () => leadTo('/console')),

  publicEndpoint(contract.getPage, (request) =>
    hasFinalSlash(request)
      ? leadTo('/console')
      : asPage(request, renderPage(config, fileNames('console'))),
  ),

  publicEndpoint(contract.getFile, (request) =>
    hasFinalSlash(request)
      ? leadTo('/console')
      : serveFile(request, 'console', fileNames('console')),
  ),

  publicEndpoint(contract.openAccount, () => leadTo('/console#/account')),

  publicEndpoint(contract.getResetPage, linkPage('reset')),
  publicEndpoint(contract.getVerifyPage, linkPage('verify')),
  publicEndpoint(contract.getInvitationPage, linkPage('invitation')),

  publicEndpoint(contract.openEncodedLink, ({ pathParameters }) => {
    const [, page, rest = ''] = encodedLink.exec(pathParameters?.page ?? '') ?? [];
    // Neither tokens nor addresses have spaces: a `+` is a plus sign that was decoded too early.
    const fragment = new URLSearchParams(rest.replaceAll('+', '%2B'));
    return leadTo(`/account/${requirePage(page as LinkPage)}#${fragment}`);
  }),
);

function leadTo(Location: string) {
  return { statusCode: 302, headers: { Location } };
}

/** The gateway may match `/console/` with the route of the page, or with the route of a file. */
function hasFinalSlash({ rawPath }: ApiRequest): boolean {
  return rawPath === '/console/';
}

function asPage(request: ApiRequest, body: string, headers: Readonly<Record<string, string>> = {}) {
  const page = { body, contentType: 'text/html; charset=utf-8' };
  return revalidated(request, page, { ...pageHeaders, ...headers });
}

/** The page for one kind of link, in the language that the browser prefers, or else the language of mails. */
function linkPage(name: LinkPage) {
  return (request: ApiRequest) => {
    const { language = config.mailLanguage } = request.source;
    const body = renderLinkPage(requirePage(name), language, config, fileNames('console'));
    return asPage(request, body, { Vary: 'Accept-Encoding, Accept-Language' });
  };
}

/** @throws {DomainError} FILE_NOT_FOUND unless the service has the page */
function requirePage(page: LinkPage | undefined): LinkPage {
  if (!page || !hasPage(page, config)) throw new DomainError('FILE_NOT_FOUND');
  return page;
}
