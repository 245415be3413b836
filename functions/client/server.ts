/**
 * `accounts-client/server`: for apps whose pages a server renders, on whatever speaks `Request` and `Response`. The
 * tokens are in cookies that no script reads (functions/client/README.md, Pages that a server renders).
 */
import type { AccountsError, Answer } from './answer.ts';
import {
  type BrowserSession,
  fetchOf,
  headersOf,
  type Outgoing,
  renew,
  secondsLeft,
  sessionOf,
  setCookies,
} from './browser-session.ts';
import { namingOf } from './cookies.ts';
import type { Fetch } from './fetch.ts';
import { forbidden, handle, isOwn, type ServedApp, sendAgain } from './handle.ts';
import { askUser, isRefusal, tokenExpired } from './service.ts';
import type { Tokens, User } from './user.ts';

export interface SessionCookiesOptions<Declared extends object = object> {
  /** Of the accounts service. */
  readonly url: string;
  /** Of the app, as browsers write it: https://app.example.com, or http://localhost:PORT. */
  readonly origin: string;
  /** Begins the names of the cookies; by default `accounts`. */
  readonly name?: string | undefined;
  /** `verifyToken` of `accounts-client/verify`; without it each request asks the service for the profile. */
  readonly verify?:
    | ((token: string, options: { readonly url: string }) => Promise<Answer<User<Declared>>>)
    | undefined;
  /** Origins that the `fetch` of a session sends the token to, beside the service's. */
  readonly sendTo?: readonly string[] | undefined;
  readonly fetch?: Fetch | undefined;
}

/** Who sent a request. */
export interface Visitor<Declared extends object = object> {
  /** Null: nobody is logged in. Undefined: nobody can tell now, and `error` says why. */
  readonly user: User<Declared> | null | undefined;
  readonly error: AccountsError | null;
  /** `fetch` with the token of the caller, for the service and for what `sendTo` names. */
  readonly fetch: Fetch;
}

export interface Opened<Declared extends object = object> extends Visitor<Declared> {
  readonly response?: undefined;
  /** Call it when the response is there, before it is sent: it has new cookies, or deletes them. */
  readonly setCookies: (response: Outgoing) => void;
  /** The headers of the request, with the new cookies: for a request that goes on to another part of the app. */
  readonly headers: Headers;
}

/** What the app responds with, and nothing else. */
export interface Closed {
  readonly response: Response;
  readonly user?: undefined;
}

export interface SessionCookies<Declared extends object = object> {
  /** Responds to POST …/login, …/refresh and …/logout, in JSON, as `{ data, error }`. */
  readonly handle: (request: Request) => Promise<Response>;
  /** For every request, before anything else: who sent it, or how to respond to it. */
  readonly open: (request: Request) => Promise<Opened<Declared> | Closed>;
  /** Who sent a request that `open` has let on. It refreshes nothing, because pages set no cookies. */
  readonly read: (request: Pick<Request, 'headers'>) => Promise<Visitor<Declared>>;
}

/**
 * Keeps the sessions of an app's users in cookies of its own.
 * @throws {TypeError} for an origin or a name that cookies cannot have
 */
export function sessionCookies<Declared extends object = object>(
  options: SessionCookiesOptions<Declared>,
): SessionCookies<Declared> {
  const { origin, name = 'accounts', sendTo = [] } = options;
  const fetch: Fetch = options.fetch ?? ((...request) => globalThis.fetch(...request));
  const url = options.url.replace(/\/+$/, '');
  const app = { ...options, url, sendTo, fetch, naming: namingOf(origin, name) };
  return {
    handle: (request) => handle(app, request),
    open: (request) => open(app, request),
    read: (request) => read(app, request),
  };
}

/** Seconds before the end of a token in which it is refreshed. */
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
    headers: headersOf(session, headers),
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

/** Whose tokens these are, by who verifies them, never by what they say alone. */
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

/** Whether the token is over, and its session perhaps not. */
function isOver({ error }: Known<object>): boolean {
  return error !== null && isRefusal(error.code);
}
