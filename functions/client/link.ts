/** The token of a mailed link, in a page to which the link leads (functions/README.md, Pages for links). */
import { place } from './place.ts';

export interface MailedLink {
  readonly token: string;
  /** The address to which the link was mailed, if the link contains it. */
  readonly email?: string;
}

/** Takes the token out of the address bar, to hide it. @returns null if there is no token */
export function readLink(): MailedLink | null {
  const { location, history } = place;
  const [token, email] = ['token', 'email'].map((name) => partOf(name, location?.hash ?? ''));
  if (!token) return null;
  history?.replaceState(history.state, '', `${location?.pathname}${location?.search}`);
  return { token, ...(email && { email }) };
}

function partOf(name: string, hash: string): string | undefined {
  const value = new RegExp(`[#&]${name}=([^&]*)`).exec(hash)?.[1];
  try {
    return value && decodeURIComponent(value.replace(/\+/g, ' '));
  } catch {
    // A mail gateway has changed the link.
    return undefined;
  }
}
