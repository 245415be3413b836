import { DomainError } from '../../lib/ground/errors.ts';
import { config } from '../../lib/ground/settings.ts';
import { publicEndpoint } from '../../lib/http/endpoint.ts';
import { fileNames, revalidated, serveFile } from '../../lib/http/kept.ts';
import { type ApiRequest, type Handler, sourceOf } from '../../lib/http/request.ts';
import { hasPage, type LinkPage } from '../../lib/options/links/page.ts';
import * as contract from './contract.ts';
import { renderLinkPage } from './link-page.ts';
import { pageHeaders, renderPage } from './page.ts';

const page = publicEndpoint(contract.getPage, (request) =>
  asPage(request, renderPage(config, fileNames('console'))),
);

const file = publicEndpoint(contract.getFile, (request) =>
  serveFile(request, 'console', fileNames('console')),
);

const root = publicEndpoint(contract.openRoot, () => leadTo('/console'));

const account = publicEndpoint(contract.openAccount, () => leadTo('/console#/account'));

/** The form of a path of which the fragment of a link has become a part, encoded once or twice. */
const encodedLink = /^(reset|verify|invitation)(?:#|%23)(.*)$/s;

const linkInPath = publicEndpoint(contract.openEncodedLink, ({ pathParameters }) => {
  const [, page, rest = ''] = encodedLink.exec(pathParameters?.page ?? '') ?? [];
  // Neither tokens nor addresses have spaces: a plus sign that was decoded too early is one.
  const fragment = new URLSearchParams(rest.replaceAll('+', '%2B'));
  return leadTo(`/account/${requirePage(page as LinkPage)}#${fragment}`);
});

const handlers: Readonly<Record<string, Handler>> = {
  '/': root,
  '/console': page,
  '/console/': root,
  '/account/reset': linkPage(contract.getResetPage, 'reset'),
  '/account/verify': linkPage(contract.getVerifyPage, 'verify'),
  '/account/invitation': linkPage(contract.getInvitationPage, 'invitation'),
  '/.well-known/change-password': account,
};

const handlerOf = (path: string): Handler =>
  handlers[path] ?? (path.startsWith('/account/') ? linkInPath : file);

/**
 * GET /, /console, /console/{file}, /.well-known/change-password and the pages of mailed links: one function
 * serves all of them.
 */
export const handler: Handler = (event, context) => handlerOf(event.rawPath)(event, context);

function leadTo(Location: string) {
  return { statusCode: 302, headers: { Location } };
}

/** @throws {DomainError} FILE_NOT_FOUND unless the service has the page */
function requirePage(page: LinkPage | undefined): LinkPage {
  if (!page || !hasPage(page, config)) throw new DomainError('FILE_NOT_FOUND');
  return page;
}

/** The page for one kind of link, in the language that the browser prefers, or else the language of mails. */
function linkPage(pageContract: typeof contract.getResetPage, name: LinkPage): Handler {
  return publicEndpoint(pageContract, (request) => {
    const { language = config.mailLanguage } = sourceOf(request);
    const body = renderLinkPage(requirePage(name), language, config, fileNames('console'));
    return asPage(request, body, { Vary: 'Accept-Encoding, Accept-Language' });
  });
}

function asPage(request: ApiRequest, body: string, headers: Readonly<Record<string, string>> = {}) {
  const page = { body, contentType: 'text/html; charset=utf-8' };
  return revalidated(request, page, { ...pageHeaders, ...headers });
}
