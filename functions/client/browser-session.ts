/** The session of the browser that sent a request: at most one refresh, and the cookies that the response sets. */
import type { Answer } from './answer.ts';
import { type Cookies, cookiesIn, deleted, type Naming, nameOf, pairKept } from './cookies.ts';
import { type Fetch, isTokenRefused } from './fetch.ts';
import { askTokens, isEnd, type Service, tokenExpired } from './service.ts';
import { readToken, type Tokens } from './user.ts';

export interface BrowserSession {
  readonly service: Service;
  readonly naming: Naming;
  readonly cookies: Cookies;
  /** The origins that get the token, besides the service's own. */
  readonly sendTo: readonly string[];
  renewal?: Promise<Answer<Tokens>>;
  renewed?: Tokens;
  hasEnded: boolean;
}

/** The object on which the headers of a response are set: its `Headers`, or the response of Express. */
export interface Outgoing {
  append(name: string, value: string): unknown;
  set(name: string, value: string): unknown;
}

/** How the service learns the addresses of browsers (functions/README.md, A backend in front). */
export interface ClientAddresses {
  /** The key of a machine with the scope `client-address`. */
  readonly key: string;
  /**
   * The address of the browser that sent a request, as `203.0.113.7`; undefined: it is not known, and the service sees
   * the address of the server. Never read it from a header that browsers can send.
   */
  readonly address: (request: Pick<Request, 'headers'>) => string | undefined;
}

export interface SessionApp
  extends Pick<BrowserSession, 'naming' | 'sendTo'>,
    Pick<Service, 'url' | 'fetch'> {
  readonly client?: ClientAddresses | undefined;
}

export function sessionOf(request: Pick<Request, 'headers'>, app: SessionApp): BrowserSession {
  const { headers } = request;
  const { url, fetch, naming, sendTo, client } = app;
  const agent = headers.get('user-agent') ?? '';
  const address = client?.address(request);
  const source = client && address ? { 'Machine-Key': client.key, 'Client-Address': address } : {};
  const service = { url, fetch, agent, source };
  return { service, naming, sendTo, cookies: cookiesIn(headers, naming), hasEnded: false };
}

/** Seconds until a token expires. The clocks of both servers are assumed to be right. */
export function secondsLeft({ token }: Tokens): number {
  return (readToken(token).ends - Date.now()) / 1000;
}

/** Refreshes the tokens, at most once for a request. If the service refuses the refresh, the session has ended. */
export function renew(session: BrowserSession): Promise<Answer<Tokens>> {
  session.renewal ??= renewed(session);
  return session.renewal;
}

/** Adds the cookies that the browser must keep from now on to a response, and deletes the others. */
export function setCookies(session: BrowserSession, response: Outgoing): void {
  const { cookies, naming, renewed, hasEnded } = session;
  const newest = hasEnded ? undefined : (renewed ?? cookies.tokens);
  const kept = newest && nameOf(newest, naming);
  const set = [
    ...(renewed && !hasEnded ? [pairKept(renewed, naming)] : []),
    ...(renewed && !hasEnded && cookies.mark ? [deleted(cookies.mark, naming)] : []),
    ...cookies.names.filter((name) => name !== kept).map((name) => deleted(name, naming)),
  ];
  for (const cookie of set) response.append('Set-Cookie', cookie);
  if (set.length > 0) response.set('Cache-Control', 'no-store');
}

/**
 * `fetch` that adds the token of the browser if a request goes to the service or to one of the named origins, and for
 * the service the address of the browser. If the token is refused, it sends the request again with the next pair, unless
 * the body is a stream.
 * @param follow gets the next pair; undefined: there is none
 */
export function fetchOf(
  { service, sendTo, cookies: { tokens } }: BrowserSession,
  follow: () => Promise<Tokens | undefined>,
): Fetch {
  const refusals = new Map([
    ...sendTo.map((url) => [new URL(url).origin, isRefusedByOther] as const),
    [new URL(service.url).origin, isTokenRefused],
  ]);
  return async (input, init) => {
    const request = withSource(new Request(input, init), service);
    const isRefused = refusals.get(new URL(request.url).origin);
    if (!tokens || !isRefused || request.headers.has('authorization')) {
      return service.fetch(request);
    }
    const copy = init?.body instanceof ReadableStream ? undefined : request.clone();
    const response = await service.fetch(withToken(request, tokens));
    if (!copy || !isRefused(response, tokens)) return response;
    const following = await follow();
    return following ? service.fetch(withToken(copy, following)) : response;
  };
}

async function renewed(session: BrowserSession): Promise<Answer<Tokens>> {
  const { service, cookies } = session;
  const refreshToken = cookies.tokens?.refreshToken;
  const answer: Answer<Tokens> = refreshToken
    ? await askTokens(service, '/api/refresh', { refreshToken })
    : { data: null, error: tokenExpired() };
  if (answer.data) session.renewed = answer.data;
  else session.hasEnded = isEnd(answer.error);
  return answer;
}

/** Whether a new token may help. Other servers also refuse tokens for their own reasons, which end no session. */
function isRefusedByOther({ status }: Response, { token, refreshToken }: Tokens): boolean {
  const isOld = Date.now() - readToken(token).issued > 60_000;
  return status === 401 && refreshToken !== undefined && isOld;
}

/** Only the service gets the key. */
function withSource(request: Request, { url, source }: Service): Request {
  if (new URL(request.url).origin === new URL(url).origin) {
    for (const [name, value] of Object.entries(source)) request.headers.set(name, value);
  }
  return request;
}

function withToken(request: Request, { token }: Tokens): Request {
  request.headers.set('authorization', `Bearer ${token}`);
  return request;
}
