/**
 * The pages to which mailed links lead: the settings name them, or else they are the service's own
 * (functions/console/link-page.ts). Their address comes from the settings and the deployment alone, and
 * never from a request.
 */
import { config, type ServiceValues, sendsMail } from '../../ground/settings.ts';

/** A page: it sets a new password, verifies an address, or sets the first password. */
export type LinkPage = 'reset' | 'verify' | 'invitation';

/** Whether the service itself serves a page. */
export function hasPage(page: LinkPage, settings: ServiceValues): boolean {
  const isWanted = page !== 'verify' || settings.emailVerification !== 'off';
  return sendsMail(settings) && isWanted && ownUrl(page, settings) === '';
}

/** The URL of a page, to which a link adds `#token=`: browsers send a fragment to no server. */
export function urlOf(page: LinkPage): string {
  return ownUrl(page, config) || `${config.apiUrl}/account/${page}`;
}

/** A page of the app; an invitation sets a password as a reset does. */
function ownUrl(page: LinkPage, { resetUrl, verifyUrl }: ServiceValues): string {
  return page === 'verify' ? verifyUrl : resetUrl;
}
