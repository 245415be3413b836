/** The requests that a server sends to the accounts service: for one browser, or for itself. */
import { AccountsError, type Answer, answered, requested } from './answer.ts';
import type { Fetch } from './fetch.ts';
import { readToken, type Tokens, type User } from './user.ts';

export interface Service {
  readonly url: string;
  readonly fetch: Fetch;
  /** The User-Agent, of the browser if there is one, which the service shows in lists of sessions and in the audit trail. */
  readonly agent: string;
  /** The headers by which the service learns the address of the browser; empty: it sees the address of the server. */
  readonly source: Readonly<Record<string, string>>;
}

/** Milliseconds after which a response is no longer awaited. */
export const patience = 10_000;

/** Logs in or refreshes. @param path the path of an operation that responds with tokens */
export function askTokens(service: Service, path: string, json: object): Promise<Answer<Tokens>> {
  const headers = { 'Content-Type': 'application/json' };
  const init = { method: 'POST', headers, body: JSON.stringify(json) };
  return ask(service, path, init, ({ token, refreshToken }: Tokens) => {
    readToken(token);
    return refreshToken ? { token, refreshToken } : { token };
  });
}

/**
 * The user of a token, with the data of the profile. The profile's role counts only if the token has it too: without
 * the second factor that an admin needs, the token has a lower role (functions/README.md, Second factor).
 */
export function askUser<Declared extends object>(
  service: Service,
  token: string,
): Promise<Answer<User<Declared>>> {
  const headers = { Authorization: `Bearer ${token}` };
  return ask(service, '/api/profile', { headers }, ({ data }: { data: User }) => {
    const { user } = readToken<Declared>(token);
    return { ...user, ...data, role: user.role === data.role ? data.role : 'user' };
  });
}

/** Whether an error says that a token will never be accepted again. */
export function isRefusal(code: string | null): boolean {
  return ['TOKEN_EXPIRED', 'TOKEN_INVALID', 'USER_NOT_FOUND'].includes(code ?? '');
}

/** Whether a refresh failed for good: the session is over, or there are no sessions any more. */
export function isEnd({ status }: AccountsError): boolean {
  return status === 401 || status === 404;
}

export function tokenExpired(cause?: unknown): AccountsError {
  return new AccountsError('TOKEN_EXPIRED', { status: 401, message: 'Token expired', cause });
}

/** Sends a request, and reads the JSON of its response. @param make if it throws, the answer is NO_RESPONSE */
export function ask<Body, Made>(
  { url, fetch, agent, source }: Service,
  path: string,
  init: RequestInit,
  make: (body: Body) => Made,
): Promise<Answer<Made>> {
  const headers = { 'User-Agent': agent, Accept: accepted, ...source, ...init.headers };
  const signal = AbortSignal.timeout(patience);
  const send = () => fetch(url + path, { ...init, headers, signal });
  const read = async (response: Response) => make((await response.json()) as Body);
  return answered(() => requested(send, read));
}

const accepted = 'application/json, application/problem+json';
