/**
 * `accounts-client/server`: for apps whose pages a server renders, in any framework that uses `Request` and
 * `Response`. The tokens are in cookies that no script can read (functions/client/README.md, Pages that a server
 * renders). It also has the trail for the audit entries of servers.
 */
import type { AccountsError, Answer } from './answer.ts';
import {
  type BrowserSession,
  type ClientAddresses,
  fetchOf,
  type Outgoing,
  renew,
  secondsLeft,
  sessionOf,
  setCookies,
} from './browser-session.ts';
import { headersWith, namingOf } from './cookies.ts';
import { type Fetch, targetOf } from './fetch.ts';
import { forbidden, handle, isOwn, type ServedApp, sendAgain } from './handle.ts';
import { askUser, isRefusal, tokenExpired } from './service.ts';
import type { Tokens, User } from './user.ts';

export { createTrail, type Trail, type TrailEntry, type TrailOptions } from './trail.ts';

export interface SessionCookiesOptions<Declared extends object = object> {
  /** The URL of the accounts service. */
  readonly url: string;
  /** The origin of the app, as browsers write it: https://app.example.com, or http://localhost:PORT. */
  readonly origin: string;
  /** The names of the cookies begin with it; by default `accounts`. */
  readonly name?: string | undefined;
  /** `verifyToken` of `accounts-client/verify`; without it each request asks the service for the profile. */
  readonly verify?:
    | ((token: string, options: { readonly url: string }) => Promise<Answer<User<Declared>>>)
    | undefined;
  /** The origins to which the `fetch` of a session sends the token, besides the service's own. */
  readonly sendTo?: readonly string[] | undefined;
  /** Names the address of the browser to the service; without it all users have the address of the server. */
  readonly client?: ClientAddresses | undefined;
  readonly fetch?: Fetch | undefined;
}

/** Who sent a request. */
export interface Visitor<Declared extends object = object> {
  /** Null: nobody is logged in. Undefined: whether somebody is logged in is unknown now, and `error` says why. */
  readonly user: User<Declared> | null | undefined;
  readonly error: AccountsError | null;
  /** `fetch` with the token of the caller, for the service and the origins in `sendTo`. */
  readonly fetch: Fetch;
}

export interface Opened<Declared extends object = object> extends Visitor<Declared> {
  readonly response?: undefined;
  /** Call it once there is a response, before the response is sent: it sets new cookies, or deletes the old ones. */
  readonly setCookies: (response: Outgoing) => void;
  /** The headers of the request, with the new cookies: for a request that goes on to another part of the app. */
  readonly headers: Headers;
}

/** A request to which the app must respond with this response and nothing else. */
export interface Closed {
  readonly response: Response;
  readonly user?: undefined;
}

export interface SessionCookies<Declared extends object = object> {
  /** Responds to POST …/login, …/refresh and …/logout, in JSON, as `{ data, error }`. */
  readonly handle: (request: Request) => Promise<Response>;
  /** Call it for every request, before anything else. It returns who sent the request, or the response to give. */
  readonly open: (request: Request) => Promise<Opened<Declared> | Closed>;
  /** Who sent a request that `open` has let through. It refreshes nothing, because pages cannot set cookies. */
  readonly read: (request: Pick<Request, 'headers'>) => Promise<Visitor<Declared>>;
}

/**
 * Keeps the sessions of an app's users in the app's own cookies.
 * @throws {TypeError} for an origin or a name that cookies cannot have
 */
export function sessionCookies<Declared extends object = object>(
  options: SessionCookiesOptions<Declared>,
): SessionCookies<Declared> {
  const { origin, name = 'accounts', sendTo = [] } = options;
  const app = { ...options, ...targetOf(options), sendTo, naming: namingOf(origin, name) };
  return {
    handle: (request) => handle(app, request),
    open: (request) => open(app, request),
    read: (request) => read(app, request),
  };
}

/** A token is refreshed when it expires in at most this number of seconds. */
const lastMinute = 60;

type Known<Declared extends object> = Pick<Visitor<Declared>, 'user' | 'error'>;

const nobody = { user: null, error: null };

type App<Declared extends object> = ServedApp & Pick<SessionCookiesOptions<Declared>, 'verify'>;

async function open<Declared extends object>(
  app: App<Declared>,
  request: Request,
): Promise<Opened<Declared> | Closed> {
  if (!isOwn(request, app.origin)) return { response: forbidden() };
  const session = sessionOf(request, app);
  const { tokens } = session.cookies;
  if (tokens?.refreshToken && secondsLeft(tokens) <= lastMinute) await renew(session);
  const caller = await callerOf(app, session, tokens);
  if (!isOver(caller)) return opened(session, request, caller);
  const { data, error } = await renew(session);
  if (data) return { response: sendAgain(session, request, app.origin) };
  return opened(session, request, session.hasEnded ? nobody : { user: undefined, error });
}

function opened<Declared extends object>(
  session: BrowserSession,
  { headers }: Request,
  caller: Known<Declared>,
): Opened<Declared> {
  return {
    ...caller,
    fetch: fetchOf(session, async () => (await renew(session)).data ?? undefined),
    setCookies: (response) => setCookies(session, response),
    headers: headersWith(session.hasEnded ? null : session.renewed, headers, session.naming),
  };
}

async function read<Declared extends object>(
  app: App<Declared>,
  request: Pick<Request, 'headers'>,
): Promise<Visitor<Declared>> {
  const session = sessionOf(request, app);
  const { tokens, next } = session.cookies;
  const first = await callerOf(app, session, tokens);
  const caller = isOver(first) && next ? await callerOf(app, session, next) : first;
  return { ...(isOver(caller) ? nobody : caller), fetch: fetchOf(session, async () => next) };
}

/** The user of the tokens, as `verify` or the service says: unverified claims are never believed. */
async function callerOf<Declared extends object>(
  { verify, url }: App<Declared>,
  { hasEnded, service }: BrowserSession,
  tokens: Tokens | undefined,
): Promise<Known<Declared>> {
  if (!tokens || hasEnded) return nobody;
  if (secondsLeft(tokens) <= 0) return { user: undefined, error: tokenExpired() };
  const { token } = tokens;
  const { data, error } = await (verify
    ? verify(token, { url })
    : askUser<Declared>(service, token));
  return error ? { user: undefined, error } : { user: data, error };
}

/** Whether the token is no longer valid, although its session may still be open. */
function isOver({ error }: Known<object>): boolean {
  return error !== null && isRefusal(error.code);
}
