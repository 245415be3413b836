/** Sessions of an app whose pages a server renders, request by request; a browser has them in rendered-app.test.ts. */
import { describe, expect, it, vi } from 'vitest';
import { type SessionCookiesOptions, sessionCookies } from '../../functions/client/server.ts';
import { verifyToken } from '../../functions/client/verify.ts';
import { serviceForThisFile } from '../support/acceptance.ts';
import { type Account, register } from '../support/client.ts';
import { identityServiceForThisFile, newPerson, startIssuer } from '../support/issuer.ts';
import { startLoopback } from '../support/loopback.ts';
import { makeMachine } from '../support/machines.ts';
import { passkeyClient, passkeySettings } from '../support/passkeys.ts';
import { stillClockForThisFile } from '../support/still-clock.ts';

const plain = await serviceForThisFile();
const service = await serviceForThisFile({
  SESSION_DAYS: '90',
  TOKEN_MINUTES: '5',
  TOKEN_SIGNING: 'RS256',
});
const full = await identityServiceForThisFile(await startIssuer(), passkeySettings);
const fronted = await serviceForThisFile({ MACHINES: 'on', SESSION_DAYS: '90' });
const careful = await serviceForThisFile({ SESSION_DAYS: '90', SECOND_FACTOR: 'admins' });

const origin = 'https://shop.example.com';
const sessionsOf = (options: Partial<SessionCookiesOptions> = {}) =>
  sessionCookies({ url: service.url, origin, name: 'shop', ...options });
const sessions = sessionsOf();

/** Sets the clock of the service and of the app forward. */
const forward = stillClockForThisFile();

/** The cookies of a browser. */
class Jar {
  cookies = new Map<string, string>();

  /** Takes what a response sets. @returns the response */
  take<R extends { headers: Headers }>(response: R): R {
    for (const cookie of response.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(cookie) ?? [];
      if (cookie.endsWith('Max-Age=0')) this.cookies.delete(name);
      else this.cookies.set(name, value);
    }
    return response;
  }

  request(path: string, method = 'GET', init: RequestInit = {}): Request {
    const cookie = [...this.cookies].map((pair) => pair.join('=')).join('; ');
    const headers = { origin, cookie, 'user-agent': 'Browser', ...init.headers };
    return new Request(`http://10.0.0.1${path}`, { method, ...init, headers });
  }
}

/** A browser in which somebody is logged in. */
const loggedIn = async (of = sessions, at = service): Promise<{ jar: Jar; account: Account }> => {
  const account = await register(at.api);
  const jar = new Jar();
  const body = JSON.stringify(account);
  const headers = { 'content-type': 'application/json' };
  const login = await of.handle(jar.request('/auth/login', 'POST', { body, headers }));
  expect(jar.take(login).status).toBe(200);
  return { jar, account };
};

/** What `open` lets on. */
const opened = async (jar: Jar, of = sessions) => {
  const session = await of.open(jar.request('/'));
  if (session.response) throw new Error(`The response is ${session.response.status}`);
  const response = new Response();
  session.setCookies(response.headers);
  return { ...session, sent: jar.take(response) };
};

/** The response of `open`, if it is one. */
const closed = async (request: Request, of = sessions) => {
  const { response } = await of.open(request);
  return response;
};

describe('A request that changes something', () => {
  const own = { origin };
  it.each([
    ['from the origin of the app', own, true],
    [
      'from the origin of the app, whatever else it says',
      { ...own, 'sec-fetch-site': 'cross-site' },
      true,
    ],
    ['without an origin, from the same origin', { 'sec-fetch-site': 'same-origin' }, true],
    [
      'with a hidden origin, from the same origin',
      { origin: 'null', 'sec-fetch-site': 'same-origin' },
      true,
    ],
    ['without an origin', {}, false],
    ['with a hidden origin', { origin: 'null' }, false],
    ['without an origin, from the same site', { 'sec-fetch-site': 'same-site' }, false],
    ['without an origin, by the user', { 'sec-fetch-site': 'none' }, false],
    [
      'with a hidden origin, from another site',
      { origin: 'null', 'sec-fetch-site': 'cross-site' },
      false,
    ],
    ['from another origin', { origin: 'https://x.example' }, false],
    [
      'from another origin that claims to be the same',
      { origin: 'https://x.example', 'sec-fetch-site': 'same-origin' },
      false,
    ],
    ['from a neighbouring host', { origin: 'https://evil.shop.example.com' }, false],
    ['from a longer origin', { origin: `${origin}.x.example` }, false],
    ['by plain HTTP', { origin: 'http://shop.example.com' }, false],
    ['from the origin to which the proxy sends it', { origin: 'http://10.0.0.1' }, false],
  ])(
    '%s, with the headers %j, is allowed: %s',
    async (_, headers: Record<string, string>, isLetOn) => {
      const request = (path: string) =>
        new Request(`http://10.0.0.1${path}`, { method: 'POST', headers });

      expect((await closed(request('/orders')))?.status).toBe(isLetOn ? undefined : 403);
      expect((await sessions.handle(request('/auth/login'))).status).toBe(isLetOn ? 400 : 403);
    },
  );

  it.each(['PUT', 'PATCH', 'DELETE', 'PROPFIND'])('may be a %s', async (method) => {
    expect((await closed(new Request('http://10.0.0.1/', { method })))?.status).toBe(403);
  });
});

it.each(['GET', 'HEAD', 'OPTIONS'])('A %s may come from anywhere', async (method) => {
  const headers = { origin: 'https://x.example' };
  expect(await closed(new Request('http://10.0.0.1/', { method, headers }))).toBeUndefined();
});

describe('handle', () => {
  const post = (path: string, init: RequestInit) =>
    sessions.handle(new Jar().request(path, 'POST', init));
  const json = (fields: object) => {
    return { body: JSON.stringify(fields), headers: { 'content-type': 'application/json' } };
  };

  it.each([
    ['JSON', json],
    ['a form', (fields: object) => ({ body: new URLSearchParams({ ...fields, code: '' }) })],
  ])('takes a login as %s, and responds without a token', async (_, encode) => {
    const { id, email, password } = await register(service.api);
    const response = await post('/any/path/login', encode({ email, password }));
    const [cookie = '', ...others] = response.headers.getSetCookie();

    expect(await response.json()).toEqual({ data: { id, email, role: 'user' }, error: null });
    expect(response.headers.get('cache-control')).toBe('no-store');
    expect(others).toEqual([]);
    expect(cookie).toMatch(
      /^__Host-shop-\d+=[\w.~-]+; Path=\/; HttpOnly; SameSite=Lax; Secure; Max-Age=34560000$/,
    );
  });

  it('names the browser to the service', async () => {
    const { account } = await loggedIn();
    const { id, token } = account;
    const { body } = await service.api('GET', `/api/users/${id}/sessions`, { token });

    expect(body.data.map((session: { user_agent: string }) => session.user_agent)).toContain(
      'Browser',
    );
  });

  it('takes a login by an identity', async () => {
    const of = sessionsOf({ url: full.url });
    const { idToken, nonce } = await full.proofOf(newPerson({ email: 'ada@example.org' }));
    const name = 'Ada';
    const jar = new Jar();
    jar.take(await of.handle(jar.request('/login', 'POST', json({ idToken, nonce, name }))));

    expect((await opened(jar, of)).user).toMatchObject({ email: 'ada@example.org' });
  });

  it('takes a login by a passkey', async () => {
    const of = sessionsOf({ url: full.url });
    const account = await register(full.api);
    const { add, loginOptions } = passkeyClient(full.api);
    const { passkey } = await add(account);
    const credential = passkey.use(await loginOptions());
    const jar = new Jar();
    jar.take(await of.handle(jar.request('/login', 'POST', json({ credential }))));

    expect((await opened(jar, of)).user).toMatchObject({ id: account.id });
  });

  it('passes on what the service says of a refused login, and sets no cookie', async () => {
    const { email } = await register(service.api);
    const response = await post('/login', json({ email, password: 'wrong' }));

    expect(response.status).toBe(401);
    expect(await response.json()).toMatchObject({
      data: null,
      error: { code: 'INVALID_CREDENTIALS', message: 'Invalid credentials', isTemporary: false },
    });
    expect(response.headers.getSetCookie()).toEqual([]);
  });

  it.each([
    ['POST', '/auth/constructor', 404],
    ['POST', '/auth/login/', 404],
    ['GET', '/auth/login', 405],
  ])('responds to %s %s with %i', async (method, path, status) => {
    expect((await sessions.handle(new Jar().request(path, method))).status).toBe(status);
  });

  it('refreshes whenever it is asked to', async () => {
    const { jar, account } = await loggedIn();
    const before = [...jar.cookies.keys()];
    forward(2);
    const response = jar.take(await sessions.handle(jar.request('/auth/refresh', 'POST')));

    expect(await response.json()).toMatchObject({ data: { id: account.id } });
    expect([...jar.cookies.keys()]).not.toEqual(before);
    expect(jar.cookies.size).toBe(1);
  });

  it('forgets a session whose refresh is refused', async () => {
    const { jar, account } = await loggedIn();
    await service.api('DELETE', `/api/users/${account.id}/sessions`, { token: account.token });
    const response = jar.take(await sessions.handle(jar.request('/auth/refresh', 'POST')));

    expect([response.status, jar.cookies.size]).toEqual([401, 0]);
  });

  it('refuses to refresh if nobody is logged in', async () => {
    const response = await sessions.handle(new Jar().request('/auth/refresh', 'POST'));
    expect([response.status, response.headers.getSetCookie()]).toEqual([401, []]);
  });

  it('ends a session also after the end of its token', async () => {
    const { jar } = await loggedIn();
    const again = new Jar();
    for (const [name, value] of jar.cookies) again.cookies.set(name, value);
    forward(400);
    const response = jar.take(await sessions.handle(jar.request('/auth/logout', 'POST')));

    expect([response.status, ...jar.cookies.keys()]).toEqual([204, '__Host-shop-out']);
    expect((await opened(again)).user).toBeNull();
  });

  it('forgets the tokens where the service does not respond', async () => {
    const { jar } = await loggedIn();
    const offline = sessionsOf({ fetch: () => Promise.reject(new TypeError('offline')) });
    const response = jar.take(await offline.handle(jar.request('/auth/logout', 'POST')));

    expect([response.status, ...jar.cookies.keys()]).toEqual([204, '__Host-shop-out']);
  });

  it('logs out also where a response with new tokens arrives later', async () => {
    const byToken = sessionsOf({ verify: verifyToken });
    const { jar, account } = await loggedIn();
    forward(250);
    const before = new Map(jar.cookies);
    const late = (await opened(jar, byToken)).sent;
    jar.cookies = before;

    jar.take(await byToken.handle(jar.request('/auth/logout', 'POST')));
    jar.take(late);
    const { user, sent } = await opened(jar, byToken);
    const { email, password } = account;
    const body = new URLSearchParams({ email, password });
    jar.take(await byToken.handle(jar.request('/auth/login', 'POST', { body })));

    expect(late.headers.getSetCookie()).not.toEqual([]);
    expect([user, sent.headers.getSetCookie()]).toEqual([
      null,
      [expect.stringMatching(/Max-Age=0$/)],
    ]);
    expect((await opened(jar, byToken)).user).toMatchObject({ email });
  });

  it.each(['x', '', '99999999999999999'])(
    'deletes at a login a logout cookie with a value that no logout has set: %j',
    async (mark) => {
      const { jar, account } = await loggedIn();
      jar.cookies.set('__Host-shop-out', mark);
      forward(1);
      const { email, password } = account;
      const body = new URLSearchParams({ email, password });

      expect((await opened(jar)).user).toMatchObject({ email });
      jar.take(await sessions.handle(jar.request('/auth/login', 'POST', { body })));

      expect([...jar.cookies.keys()]).not.toContain('__Host-shop-out');
      expect((await opened(jar)).user).toMatchObject({ email });
    },
  );

  it('forgets the session of whoever was logged in before', async () => {
    const { jar } = await loggedIn();
    forward(1);
    const { email, password } = await register(service.api);
    const body = new URLSearchParams({ email, password });
    jar.take(await sessions.handle(jar.request('/auth/login', 'POST', { body })));

    expect(jar.cookies.size).toBe(1);
    expect((await opened(jar)).user).toMatchObject({ email });
  });
});

describe.each([
  ['the profile', sessions],
  ['verifyToken', sessionsOf({ verify: verifyToken })],
])('open, which knows users by %s,', (_, of) => {
  it('knows nobody without cookies, and sets none', async () => {
    const { user, error, sent } = await opened(new Jar(), of);
    expect([user, error, [...sent.headers]]).toEqual([null, null, []]);
  });

  it('sets no cookie before the last minute of a token', async () => {
    const { jar, account } = await loggedIn();
    forward(238);
    const { user, sent } = await opened(jar, of);

    expect(user).toMatchObject({ id: account.id, email: account.email, role: 'user' });
    expect([...sent.headers]).toEqual([]);
  });

  it('refreshes in the last minute of a token, and uses the old token until it is refused', async () => {
    const { jar, account } = await loggedIn();
    forward(250);
    const { headers, fetch, sent } = await opened(jar, of);
    const used: unknown[] = [];
    const noting = sessionsOf({
      fetch: (input, init) => {
        used.push(new Request(input, init).headers.get('authorization'));
        return globalThis.fetch(input, init);
      },
    });
    const read = async () => (await noting.read({ headers })).user;

    expect(sent.headers.get('cache-control')).toBe('no-store');
    expect(await read()).toMatchObject({ id: account.id });
    forward(60);
    expect(await read()).toMatchObject({ id: account.id });
    expect(new Set(used).size).toBe(2);
    expect((await fetch(`${service.url}/api/profile`)).status).toBe(200);
  });

  it('has the browser resend any request once, with the new cookies, after the token has expired', async () => {
    const { jar, account } = await loggedIn();
    forward(301);
    const first = await closed(jar.request('//x.example/orders?a=b', 'DELETE'), of);
    const { user, sent } = await opened(jar.take(first as Response) && jar, of);

    expect(first?.status).toBe(307);
    expect(first?.headers.get('location')).toBe(`${origin}//x.example/orders?a=b`);
    expect(first?.headers.get('cache-control')).toBe('no-store');
    expect(user).toMatchObject({ id: account.id });
    expect(sent.headers.getSetCookie()).toEqual([expect.stringMatching(/^__Host-shop-again=;/)]);
    expect(jar.cookies.size).toBe(1);
  });

  it('is 401 where the request that is sent again has the old cookies', async () => {
    const { jar } = await loggedIn();
    const old = [...jar.cookies];
    forward(301);
    jar.take((await closed(jar.request('/'), of)) as Response);
    jar.cookies.clear();
    for (const [name, value] of old) jar.cookies.set(name, value);
    jar.cookies.set('__Host-shop-again', '1');

    expect((await closed(jar.request('/'), of))?.status).toBe(401);
  });

  it('deletes the cookies when a refresh is refused', async () => {
    const { jar, account } = await loggedIn();
    await service.api('DELETE', `/api/users/${account.id}/sessions`, { token: account.token });
    forward(250);
    const { user, headers } = await opened(jar, of);

    expect([user, jar.cookies.size]).toEqual([null, 0]);
    expect((await of.read({ headers })).user).toBeNull();
  });

  it('does not know the user while the service does not respond, and deletes no cookie', async () => {
    const { jar } = await loggedIn();
    forward(301);
    const options = of === sessions ? {} : { verify: verifyToken };
    const offline = sessionsOf({
      ...options,
      fetch: () => Promise.reject(new TypeError('offline')),
    });
    const { user, error, sent } = await opened(jar, offline);

    expect([user, error?.code, [...sent.headers]]).toEqual([undefined, 'NO_RESPONSE', []]);
  });

  it('waits ten seconds for the service, and no longer', async () => {
    const { jar } = await loggedIn();
    forward(301);
    const late = new DOMException('The operation timed out', 'TimeoutError');
    vi.mocked(AbortSignal.timeout).mockReturnValue(AbortSignal.abort(late));
    const { user, error } = await opened(jar, of);

    expect(AbortSignal.timeout).toHaveBeenLastCalledWith(10_000);
    expect([user, error?.code]).toEqual([undefined, 'NO_RESPONSE']);
  });

  it.each([
    ['that is no token', 'x'],
    ['whose parts are no JSON', 'a.b.c~d'],
    ['that would break a header', 'a.b.c%0d%0a'],
  ])('ignores a cookie %s', async (_, value) => {
    const jar = new Jar();
    jar.cookies.set('__Host-shop-1700000000', value);
    expect((await opened(jar, of)).user).toBeNull();
  });

  it('ignores cookies without the prefix, because a page of a neighbouring host may set them', async () => {
    const { jar } = await loggedIn();
    const bare = new Jar();
    for (const [name, value] of jar.cookies) bare.cookies.set(name.replace('__Host-', ''), value);
    expect((await opened(bare, of)).user).toBeNull();
  });
});

describe('Without sessions', () => {
  const of = sessionsOf({ url: plain.url });

  it('a user is known until the token expires, and then its cookie is deleted', async () => {
    const { jar, account } = await loggedIn(of, plain);
    forward(24 * 60 * 60 - 10);
    const before = await opened(jar, of);
    forward(11);
    const after = await opened(jar, of);

    expect(before.user).toMatchObject({ id: account.id, email: account.email, role: 'user' });
    expect([after.user, jar.cookies.size]).toEqual([null, 0]);
  });

  it('a deleted user is unknown', async () => {
    const { jar, account } = await loggedIn(of, plain);
    const path = `/api/users/${account.id}`;
    expect((await plain.api('DELETE', path, { token: plain.adminToken })).status).toBe(204);

    expect([(await opened(jar, of)).user, jar.cookies.size]).toEqual([null, 0]);
  });
});

describe('The fetch of a session', () => {
  /** A service of the app, which responds with what it got. */
  const startEcho = (status = 200) =>
    startLoopback(({ headers }, body, response) => {
      response.statusCode = status;
      response.end(JSON.stringify({ authorization: headers.authorization, body }));
    });

  it('sends the token to the service and the named origins, and to no other origin', async () => {
    const [named, other] = [await startEcho(), await startEcho()];
    const { jar } = await loggedIn();
    const { fetch } = await opened(jar, sessionsOf({ sendTo: [named.url] }));
    const bearer = async (url: string, init?: RequestInit) =>
      ((await (await fetch(url, init)).json()) as { authorization?: string }).authorization;
    const headers = { authorization: 'Basic x' };

    expect((await fetch(`${service.url}/api/profile`)).status).toBe(200);
    expect(await bearer(named.url)).toMatch(/^Bearer /);
    expect(await bearer(named.url, { headers })).toBe('Basic x');
    expect(await bearer(other.url)).toBeUndefined();
    await named.stop();
    await other.stop();
  });

  it.each([
    ['a token that is older than a minute', 61, 2],
    ['a new token', 10, 1],
  ])(
    'refreshes for another service that refuses %s, and ends no session',
    async (_, age, tries) => {
      const seen: unknown[] = [];
      const other = await startLoopback(({ headers }, __, response) => {
        seen.push(headers.authorization);
        response.writeHead(401).end();
      });
      const { jar } = await loggedIn();
      forward(age);
      const session = await opened(jar, sessionsOf({ sendTo: [other.url] }));
      const { status } = await session.fetch(other.url);
      await other.stop();

      expect([status, new Set(seen).size]).toEqual([401, tries]);
      expect((await opened(jar)).user).not.toBeNull();
    },
  );

  it('ends no session where there is no refresh token and another service refuses the token', async () => {
    const other = await startEcho(401);
    const of = sessionsOf({ url: plain.url, sendTo: [other.url] });
    const { jar } = await loggedIn(of, plain);
    forward(61);
    const session = await of.open(jar.request('/'));
    if (session.response) throw new Error('It is let on');
    const { status } = await session.fetch(other.url);
    const response = new Response();
    session.setCookies(response.headers);
    await other.stop();

    expect([status, [...response.headers]]).toEqual([401, []]);
  });

  it('sends a refused request again with the next token, unless its body is a stream', async () => {
    const { jar } = await loggedIn();
    const { fetch } = await opened(jar);
    forward(301);
    const path = `${service.url}/api/users/1`;
    const init = { method: 'PUT', headers: { 'content-type': 'application/json' } };
    const body = '{"name":"Eve"}';
    const stream = new Blob([body]).stream();
    const streamed = await fetch(path, { ...init, body: stream, duplex: 'half' } as RequestInit);
    const whole = await fetch(path, { ...init, body });

    // The second one has a caller, who may not change this user.
    expect([streamed.status, whole.status]).toEqual([401, 403]);
  });

  it('rejects as fetch does', async () => {
    const { fetch } = await opened(new Jar());
    await expect(fetch('/relative')).rejects.toThrow(TypeError);
  });
});

describe('The option client', () => {
  const key = 'mk_7_key';
  const address = ({ headers }: Pick<Request, 'headers'>) =>
    headers.get('x-forwarded-for')?.split(',').at(-1)?.trim();

  /** Sessions that note the path of each request, with the two headers that name the browser's address. */
  const noting = (sendTo: readonly string[] = []) => {
    const seen: (readonly unknown[])[] = [];
    const of = sessionsOf({
      client: { key, address },
      sendTo,
      fetch: (input, init) => {
        const { url, headers } = new Request(input, init);
        const named = ['machine-key', 'client-address'].map((name) => headers.get(name));
        seen.push([url.replace(service.url, ''), ...named]);
        return globalThis.fetch(input, init);
      },
    });
    return { of, seen };
  };
  const forwarded = { headers: { 'x-forwarded-for': '198.51.100.1, 203.0.113.7' } };

  it('sends the key and the address of the browser with each call to the service', async () => {
    const { of, seen } = noting();
    const { email, password } = await register(service.api);
    const jar = new Jar();
    const body = new URLSearchParams({ email, password });
    jar.take(await of.handle(jar.request('/auth/login', 'POST', { ...forwarded, body })));
    forward(250);
    const session = await of.open(jar.request('/', 'GET', forwarded));
    if (session.response) throw new Error('It is let on');
    await session.fetch(`${service.url}/api/profile`);
    await of.read({ headers: session.headers });
    jar.take(await of.handle(jar.request('/auth/logout', 'POST', forwarded)));

    const paths = ['login', 'refresh', 'profile', 'profile', 'profile', 'logout'];
    expect(seen).toEqual(paths.map((path) => [`/api/${path}`, key, '203.0.113.7']));
  });

  it('also sends them with a request of a browser in which nobody is logged in', async () => {
    const { of, seen } = noting();
    const session = await of.open(new Jar().request('/', 'GET', forwarded));
    if (session.response) throw new Error('It is let on');
    await session.fetch(new URL(`${service.url}/api/profile`));

    expect(seen).toEqual([['/api/profile', key, '203.0.113.7']]);
  });

  it('sends the key to no other origin, even where the token is sent', async () => {
    const other = await startLoopback((_, __, response) => response.end());
    const { of, seen } = noting([other.url]);
    const { jar } = await loggedIn();
    const session = await of.open(jar.request('/', 'GET', forwarded));
    if (session.response) throw new Error('It is let on');
    await session.fetch(`${other.url}/`);
    await other.stop();

    expect(seen.at(-1)).toEqual([`${other.url}/`, null, null]);
  });

  it('makes the service see the address of the browser in place of the address of the server', async () => {
    const { key } = await makeMachine(fronted.api, fronted.adminToken, ['client-address']);
    const of = sessionsOf({ url: fronted.url, client: { key, address } });
    const { id, email, password, token } = await register(fronted.api);
    const body = new URLSearchParams({ email, password });
    await of.handle(new Jar().request('/login', 'POST', { ...forwarded, body }));
    const sessions = await fronted.api('GET', `/api/users/${id}/sessions`, { token });

    const addresses = sessions.body.data.map((each: { ip_address: string }) => each.ip_address);
    expect(addresses).toContain('203.0.113.7');
  });

  it('sends neither where the address of the browser is not known', async () => {
    const { of, seen } = noting();
    const { jar } = await loggedIn(of);
    await opened(jar, of);

    expect(seen).toEqual([
      ['/api/login', null, null],
      ['/api/profile', null, null],
    ]);
  });
});

it('An admin without the second factor that admins need has the role of a user', async () => {
  const { email, password } = careful.admin;
  const of = sessionsOf({ url: careful.url });
  const jar = new Jar();
  const body = new URLSearchParams({ email, password });
  jar.take(await of.handle(jar.request('/login', 'POST', { body })));

  expect((await opened(jar, of)).user).toMatchObject({ email, role: 'user' });
});

describe('sessionCookies', () => {
  it.each([
    'http://shop.example.com',
    'http://127.0.0.1:3000',
    'https://shop.example.com/',
    'https://Shop.example.com',
    'https://shop.example.com:443',
    'shop.example.com',
  ])('throws for the origin %s', (wrong) => {
    expect(() => sessionsOf({ origin: wrong })).toThrow(TypeError);
  });

  it('throws for a name that no cookie can have', () => {
    expect(() => sessionsOf({ name: 'a b' })).toThrow(TypeError);
  });
});

describe('A login with a long token', () => {
  const tokenOf = (length: number) => {
    const claims = Buffer.from(JSON.stringify({ id: 1, iat: 1_700_000_000, exp: 4_000_000_000 }));
    const start = `e30.${claims.toString('base64url')}.`;
    return start + 'x'.repeat(length - start.length - '__Host-shop-1700000000'.length);
  };

  it.each([
    [4096, true],
    [4097, false],
  ])(
    'is refused from 4,097 bytes on, the name of the cookie included: %i bytes',
    async (length, isKept) => {
      const { url, stop } = await startLoopback((_, __, response) => {
        response.setHeader('content-type', 'application/json');
        response.end(JSON.stringify({ token: tokenOf(length) }));
      });
      const body = new URLSearchParams({ email: 'a', password: 'b' });
      const login = sessionsOf({ url }).handle(new Jar().request('/login', 'POST', { body }));

      if (isKept) expect((await login).status).toBe(200);
      else await expect(login).rejects.toThrow('have 4097 bytes, and browsers keep at most 4096');
      await stop();
    },
  );
});
