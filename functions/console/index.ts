import { config } from '../../lib/ground/settings.ts';
import { publicEndpoint } from '../../lib/http/endpoint.ts';
import { fileNames, revalidated, serveFile } from '../../lib/http/kept.ts';
import { type ApiRequest, type Handler, sourceOf } from '../../lib/http/request.ts';
import type { LinkPage } from '../../lib/options/links/page.ts';
import * as contract from './contract.ts';
import { renderLinkPage } from './link-page.ts';
import { pageHeaders, renderPage } from './page.ts';

const page = publicEndpoint(contract.getPage, (request) =>
  asPage(request, renderPage(config, fileNames('console'))),
);

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
  '/account/reset': linkPage(contract.getResetPage, 'reset'),
  '/account/verify': linkPage(contract.getVerifyPage, 'verify'),
  '/account/invitation': linkPage(contract.getInvitationPage, 'invitation'),
};

/** GET /, /console, /console/{file} and the pages of mailed links: one function serves all of them. */
export const handler: Handler = (event, context) =>
  (handlers[event.rawPath] ?? file)(event, context);

/** The page for one kind of link, in the language that the browser prefers, or else the language of mails. */
function linkPage(pageContract: typeof contract.getResetPage, name: LinkPage): Handler {
  return publicEndpoint(pageContract, (request) => {
    const { language = config.mailLanguage } = sourceOf(request);
    const body = renderLinkPage(name, language, config, fileNames('console'));
    return asPage(request, body, { Vary: 'Accept-Language' });
  });
}

function asPage(request: ApiRequest, body: string, headers: Readonly<Record<string, string>> = {}) {
  const page = { body, contentType: 'text/html; charset=utf-8' };
  return revalidated(request, page, { ...pageHeaders, ...headers });
}
