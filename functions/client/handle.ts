/** The responses that an app's server gives by itself: to a login, a refresh, a logout, and to forged requests. */
import { AccountsError, type Answer } from './answer.ts';
import {
  type BrowserSession,
  fetchOf,
  renew,
  type SessionApp,
  sessionOf,
  setCookies,
} from './browser-session.ts';
import { loggedOut, sentAgain } from './cookies.ts';
import { askTokens, patience } from './service.ts';
import { readToken, type Tokens, type User } from './user.ts';

export type ServedApp = SessionApp & { readonly origin: string };

/** Responds to a request according to the last part of its path. */
export async function handle(app: ServedApp, request: Request): Promise<Response> {
  if (!isOwn(request, app.origin)) return forbidden();
  const act = actions.get(new URL(request.url).pathname.replace(/^.*\//, ''));
  if (!act) return refusal('NOT_FOUND', 404, 'Not Found');
  if (request.method !== 'POST') return refusal('NOT_ALLOWED', 405, 'Method Not Allowed');
  const session = sessionOf(request, app);
  const response = await act(session, request);
  setCookies(session, response.headers);
  return response;
}

/**
 * Whether a request comes from a page of the app, or has a method that changes nothing. If `Origin` is missing, or
 * is `null` because a policy hides it, `Sec-Fetch-Site` decides; all browsers have sent that header since 2023.
 * @param origin the configured origin: behind a proxy, the URL of a request has a different origin
 */
export function isOwn(
  { method, headers }: Pick<Request, 'method' | 'headers'>,
  origin: string,
): boolean {
  if (['GET', 'HEAD', 'OPTIONS'].includes(method)) return true;
  const from = headers.get('origin') ?? 'null';
  return from === 'null' ? headers.get('sec-fetch-site') === 'same-origin' : from === origin;
}

/** The response to a request that a page of another origin may have made. */
export function forbidden(): Response {
  return refusal('ORIGIN_REFUSED', 403, 'The request does not come from a page of this app');
}

/**
 * Redirects the browser so that it sends the request again, with the same method and body and with its new cookies.
 * It does so once: if the new token is refused too, or the cookies do not arrive, the response is 401.
 */
export function sendAgain(session: BrowserSession, { url }: Request, origin: string): Response {
  const { pathname, search } = new URL(url);
  // The path is not resolved against the origin, because a path that begins with two slashes would name another host.
  const headers = {
    Location: origin + pathname + search,
    'Set-Cookie': sentAgain(session.naming),
  };
  const response = session.cookies.isSentAgain
    ? refusal('TOKEN_INVALID', 401, 'The token was renewed, and the new one is refused too')
    : new Response(null, { status: 307, headers });
  setCookies(session, response.headers);
  return response;
}

const actions = new Map<string, (session: BrowserSession, request: Request) => Promise<Response>>([
  ['login', logIn],
  ['refresh', refresh],
  ['logout', logOut],
]);

async function logIn(session: BrowserSession, request: Request): Promise<Response> {
  const given = await fieldsOf(request);
  const { path, fields } = logins.find(({ fields: [proof] }) => given[proof]) ?? logins[0];
  const filled = fields.filter((name) => given[name]).map((name) => [name, given[name]]);
  const answer = await askTokens(session.service, path, Object.fromEntries(filled));
  if (answer.data) session.renewed = answer.data;
  return told(answer);
}

/** The paths of the logins, and the fields that each takes; the presence of the first field selects the login. */
const logins = [
  { path: '/api/login', fields: ['password', 'email', 'code'] },
  { path: '/api/login/identity', fields: ['idToken', 'nonce', 'name', 'code'] },
  { path: '/api/login/passkey', fields: ['credential'] },
] as const;

/** The fields that a form or a script has sent; empty if the body cannot be read. */
async function fieldsOf(request: Request): Promise<Readonly<Record<string, unknown>>> {
  const isJson = request.headers.get('content-type')?.startsWith('application/json');
  const body = isJson ? request.json() : request.formData().then(Object.fromEntries);
  return Object(await body.catch(() => ({})));
}

async function refresh(session: BrowserSession): Promise<Response> {
  if (session.cookies.tokens?.refreshToken) return told(await renew(session));
  return refusal('REFRESH_TOKEN_INVALID', 401, 'Invalid refresh token');
}

/** Forgets the tokens, even if the service does not respond. */
async function logOut(session: BrowserSession): Promise<Response> {
  const send = fetchOf(session, async () => (await renew(session)).data ?? undefined);
  const init = { method: 'POST', signal: AbortSignal.timeout(patience) };
  await send(`${session.service.url}/api/logout`, init).catch(() => undefined);
  session.hasEnded = true;
  const headers = { ...unstored, 'Set-Cookie': loggedOut(session.naming) };
  return new Response(null, { status: 204, headers });
}

/** Responds with the user of the tokens that the service has just issued, or with the error, but with no token. */
function told({ data, error }: Answer<Tokens>): Response {
  if (error) return failed(error);
  const user: User = readToken(data.token).user;
  return Response.json({ data: user, error: null }, { headers: unstored });
}

function refusal(code: string, status: number, message: string): Response {
  return failed(new AccountsError(code, { status, message }));
}

function failed(given: AccountsError): Response {
  const { code, status, message, fields, retryAfter, isTemporary } = given;
  const error = { code, status, message, fields, retryAfter, isTemporary };
  const headers = { ...unstored, ...(retryAfter && { 'Retry-After': String(retryAfter) }) };
  return Response.json({ data: null, error }, { status: status || 503, headers });
}

const unstored = { 'Cache-Control': 'no-store' };
