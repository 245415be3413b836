/** Requests with the token of the session, which is replaced before it expires, and after a refusal. */
import { AccountsError } from './answer.ts';
import { originOf, place } from './place.ts';
import { freshSession, type Keeper, refresh, type Session } from './tokens.ts';

/** The type of the platform's `fetch`. */
export type Fetch = (input: string | URL | Request, init?: RequestInit) => Promise<Response>;

/** The address of a service without a final slash, and by default the platform's own `fetch`. */
export function targetOf({
  url,
  fetch,
}: {
  readonly url: string;
  readonly fetch?: Fetch | undefined;
}) {
  const own: Fetch = (...request) => globalThis.fetch(...request);
  return { url: url.replace(/\/+$/, ''), fetch: fetch ?? own };
}

export interface Way {
  readonly keeper: Keeper;
  readonly fetch: Fetch;
  /** The address of the service, without a final slash. */
  readonly base: string;
  /** The origin of the service. */
  readonly service: string;
}

/** `fetch` that adds the token only to requests to the service, to the page's own origin and to `sendTo`. */
export function fetchWithToken(way: Way, sendTo: readonly string[]): Fetch {
  const known = [way.service, place.location && originOf('/'), ...sendTo.map(originOf)];
  return async (input, init = {}) => {
    const origin = originOf(urlOf(input));
    const own = new Headers(init.headers ?? (input as Partial<Request>).headers);
    if (!origin || !known.includes(origin) || own.has('Authorization')) {
      return way.fetch(input, init);
    }
    try {
      return await send(way, input, { ...init, headers: own }, origin);
    } catch (error) {
      // The refresh failed: the request was not sent, or it was refused.
      if (error instanceof AccountsError) throw new TypeError(error.message, { cause: error });
      throw error;
    }
  };
}

/**
 * Sends a request with the token, and once more with the next token if the first token is refused.
 * @throws what `fetch` throws @throws {AccountsError} if an expired token could not be replaced
 */
export async function send(
  { keeper, fetch, service }: Way,
  input: string | URL | Request,
  init: RequestInit,
  origin = service,
): Promise<Response> {
  const sendWith = (session: Session | null) => {
    const headers = new Headers(init.headers);
    if (session) headers.set('Authorization', `Bearer ${session.token}`);
    return fetch(typeof input === 'object' && 'clone' in input ? input.clone() : input, {
      ...init,
      headers,
    });
  };
  const session = await freshSession(keeper);
  const response = await sendWith(session);
  const isOfService = origin === service;
  const isRefused = isOfService ? isTokenRefused : isRefusedByOther;
  if (!session || !isRefused(response, session)) return response;
  const next = await refresh(keeper, session, isOfService);
  const isNew = next && next.token !== session.token;
  return isNew && !isStream(init.body) ? sendWith(next) : response;
}

export function isTokenRefused({ status, headers }: Response): boolean {
  return status === 401 && /^TOKEN_(EXPIRED|INVALID)$/.test(headers.get('Error-Code') ?? '');
}

/** Other servers may refuse a token for reasons other than its age, for which they would also refuse a new token. */
function isRefusedByOther({ status }: Response, { refreshToken, ahead, issued }: Session): boolean {
  return status === 401 && Boolean(refreshToken) && Date.now() + ahead - issued > 60_000;
}

function urlOf(input: string | URL | Request): string {
  return String(typeof input === 'object' && 'url' in input ? input.url : input);
}

/** A stream can be read only once. */
function isStream(body: unknown): boolean {
  const parts = Object(body);
  return 'getReader' in parts || Symbol.asyncIterator in parts;
}
