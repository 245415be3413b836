/**
 * The pages to which mailed links lead: pages that the settings name or, by default, pages of the service
 * (functions/console/link-page.ts). Their address comes from the settings and the deployment alone, and never from a
 * request.
 */
import { config, type ServiceValues, sendsMail } from '../../ground/settings.ts';

/** The purpose of a page: to set a new password, to verify an address, or to set the first password. */
export type LinkPage = 'reset' | 'verify' | 'invitation';

/**
 * Whether the service itself serves a page, because no setting names another page. If a setting has a URL, only its
 * path is compared, because the service may not know all hosts under which it is reached.
 */
export function hasPage(page: LinkPage, settings: ServiceValues): boolean {
  if (!sendsMail(settings)) return false;
  if (page === 'verify' && settings.emailVerification === 'off') return false;
  const url = namedUrl(page, settings);
  return url === '' || isOwnPath(page, URL.parse(url)?.pathname);
}

export function urlOf(page: LinkPage): string {
  return appUrl(page) || `${config.apiUrl}/account/${page}`;
}

/**
 * The link to a page. The token is in the fragment, which browsers send neither to a server nor in a referrer. For a
 * page of the service, the fragment also has the address to which the link is mailed, so that password managers know
 * the account, and says whether the user is an auditor: after an invitation, the page leads auditors to the console.
 */
export function linkTo(
  page: LinkPage,
  { token, email, isAuditor = false }: { token: string; email: string; isAuditor?: boolean },
): string {
  if (appUrl(page)) return `${appUrl(page)}#token=${token}`;
  const onward = page === 'invitation' && isAuditor ? { to: 'console' } : {};
  return `${urlOf(page)}#${new URLSearchParams({ token, email, ...onward })}`;
}

/** The URL of the app's page that replaces the page of the service; '': there is none. */
function appUrl(page: LinkPage): string {
  const url = namedUrl(page, config);
  const isOwn = url.startsWith(config.apiUrl) && isOwnPath(page, url.slice(config.apiUrl.length));
  return isOwn ? '' : url;
}

/** The URL that a setting names; invitations use the setting of resets, because both set a password. */
function namedUrl(page: LinkPage, settings: ServiceValues): string {
  return page === 'verify' ? settings.verifyUrl : settings.resetUrl;
}

function isOwnPath(page: LinkPage, path: string | undefined): boolean {
  const own = page === 'verify' ? ['/account/verify'] : ['/account/reset', '/account/invitation'];
  return own.some((each) => each === path);
}
