/** When the client replaces its tokens, what ends a session, and to whom it sends a token. */
import { decodeJwt, decodeProtectedHeader } from 'jose';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import {
  type ClientOptions,
  createClient,
  type TokenStorage,
  type Tokens,
} from '../../functions/client/index.ts';
import { exclusiveBy } from '../../functions/client/lock.ts';
import { serviceForThisFile } from '../support/acceptance.ts';
import { register } from '../support/client.ts';
import { startLoopback } from '../support/loopback.ts';
import { now, outlived, signToken } from '../support/tokens.ts';

const sessions = await serviceForThisFile({ SESSION_DAYS: '90' });
const plain = await serviceForThisFile();

/** A token as the service would have issued it with other times, in seconds from now. */
const withTimes = (token: string, { issued = -3600, ends = 3600 }, { jwtSecret } = sessions) => {
  const times = { iat: now() + issued, exp: now() + ends };
  return signToken({ ...decodeJwt(token), ...times }, jwtSecret, decodeProtectedHeader(token));
};

const expired = (token: string, { jwtSecret } = sessions) =>
  outlived(token, (claims, header) => signToken(claims, jwtSecret, header));

const keyOf = ({ url }: { readonly url: string }) => `accounts-client.${url}`;
const key = keyOf(sessions);

/** A storage in memory, whose texts a test sees. */
const storageWith = (tokens?: Tokens & { ahead?: number }, service = sessions) => {
  const kept = new Map(tokens ? [[keyOf(service), JSON.stringify(tokens)]] : []);
  const storage: TokenStorage = {
    get: (name) => kept.get(name),
    set: (name, value) => kept.set(name, value),
    remove: (name) => kept.delete(name),
  };
  return { kept, storage };
};

/** A client that notes the paths of its requests, and what its listeners are told. */
const observed = (options: Partial<ClientOptions>) => {
  const sent: string[] = [];
  const told: string[] = [];
  const accounts = createClient({
    url: sessions.url,
    ...options,
    fetch: (input, init) => {
      sent.push(new URL(String((input as Request).url ?? input)).pathname);
      return (options.fetch ?? fetch)(input, init);
    },
  });
  accounts.onChange((_, reason) => told.push(reason));
  return { accounts, sent, told };
};

/** A client of a user who has a session, whose token a test makes of the true one. */
const withSession = async (
  change: (token: string) => string,
  options: Partial<ClientOptions> = {},
  ahead = 0,
) => {
  const { token, refreshToken, id } = await register(sessions.api);
  const { kept, storage } = storageWith({ token: change(token), refreshToken, ahead });
  return { id, token, refreshToken, kept, storage, ...observed({ storage, ...options }) };
};

/** Milliseconds by which a client believes that the clock of the service is behind, so that no token seems to end. */
const behind = -1e12;

it('A token is sent to no other service whose client uses the same storage', async () => {
  const { storage } = await withSession((token) => token);
  const other = observed({ url: plain.url, storage });

  await other.accounts.ready;

  expect([other.accounts.user, await other.accounts.getToken()]).toEqual([null, null]);
});

describe('A token is replaced', () => {
  it('a little before its end, so that no request is refused', async () => {
    const { accounts, sent, told } = await withSession((token) => withTimes(token, { ends: 50 }));

    expect((await accounts.getProfile()).error).toBeNull();
    expect(sent).toEqual(['/api/refresh', '/api/profile']);
    expect(told).toEqual(['read']);
  });

  it('once after a refusal, however many calls are refused', async () => {
    const { accounts, sent } = await withSession(expired, {}, behind);

    const calls = Array.from({ length: 9 }, () => accounts.getProfile());

    expect((await Promise.all(calls)).map(({ error }) => error)).toEqual(Array(9).fill(null));
    expect(sent.filter((path) => path === '/api/refresh')).toHaveLength(1);
  });

  it('after it was refused as altered', async () => {
    const { accounts, sent, told } = await withSession((token) => `${token}x`);

    expect((await accounts.getProfile()).error).toBeNull();
    expect(sent).toEqual(['/api/profile', '/api/refresh', '/api/profile']);
    expect(told).toEqual(['read']);
  });

  it('once for all simultaneous calls, also where no response comes', async () => {
    const { accounts, sent } = await withSession(expired, {
      fetch: () => Promise.reject(new TypeError('Failed to fetch')),
    });

    const calls = Array.from({ length: 9 }, () => accounts.getProfile());

    const codes = (await Promise.all(calls)).map(({ error }) => error?.code);
    expect(codes).toEqual(Array(9).fill('NO_RESPONSE'));
    expect(sent).toEqual(['/api/refresh']);
  });

  it('once for all clients of a storage, because they wait for each other', async () => {
    const { accounts, storage, kept } = await withSession(expired);
    const second = createClient({ url: sessions.url, storage });

    const tokens = await Promise.all([accounts.getToken(), second.getToken()]);

    expect(tokens[0]).toBe(tokens[1]);
    expect(JSON.parse(kept.get(key) ?? '').token).toBe(tokens[0]);
  });

  it('only for operations that need a token', async () => {
    const { accounts, sent } = await withSession(expired);

    await accounts.logIn({ email: 'e', password: 'p' });
    await accounts.api.POST('/api/login/passkey-options');
    await accounts.requestPasswordReset({ email: 'e' });

    expect(sent).toEqual(['/api/login', '/api/login/passkey-options', '/api/password-resets']);
  });

  it('before it is given to another library', async () => {
    const { accounts, token } = await withSession(expired);

    const fresh = await accounts.getToken();

    expect(fresh).not.toBe(token);
    expect(decodeJwt(fresh ?? '').exp).toBeGreaterThan(now());
  });

  it('and stored, also asynchronously, before the new token is used', async () => {
    const order: string[] = [];
    const { storage } = storageWith();
    const slow: TokenStorage = {
      get: async (name) => storage.get(name),
      set: async (name, value) => {
        await new Promise(setImmediate);
        order.push('stored');
        storage.set(name, value);
      },
      remove: async (name) => storage.remove(name),
    };
    const { token, refreshToken } = await register(sessions.api);
    await slow.set(key, JSON.stringify({ token: expired(token), refreshToken }));
    const { accounts, told } = observed({
      storage: slow,
      fetch: (...request) => {
        order.push(String(request[0]).split('/').at(-1) ?? '');
        return fetch(...request);
      },
    });

    expect(accounts.user).toBeUndefined();
    await accounts.ready;
    await accounts.getProfile();

    expect(order).toEqual(['stored', 'refresh', 'stored', 'profile']);
    expect(told).toEqual(['read']);
  });
});

describe('A session', () => {
  it('ends with the 401 of a refresh', async () => {
    const { accounts, id, kept, told } = await withSession(expired);
    await sessions.api('DELETE', `/api/users/${id}/sessions`, { token: sessions.adminToken });

    const { error } = await accounts.getProfile();

    expect(error?.code).toBe('NO_TOKEN');
    expect([accounts.user, kept.size, told]).toEqual([null, 0, ['read', 'ended']]);
    expect(await accounts.getToken()).toBeNull();
  });

  it('goes on after the response of a refresh was lost', async () => {
    let isLost = true;
    const { accounts, told, kept } = await withSession(expired, {
      fetch: async (...request) => {
        const response = await fetch(...request);
        if (!isLost || !String(request[0]).endsWith('/refresh')) return response;
        throw new TypeError('Failed to fetch');
      },
    });
    const before = kept.get(key);

    const lost = await accounts.getProfile();
    const rejected = accounts.fetch(`${sessions.url}/api/profile`);
    await expect(rejected).rejects.toThrow(TypeError);
    const none = await accounts.getToken();
    const after = kept.get(key);
    isLost = false;
    const found = await accounts.getProfile();

    expect([lost.error?.code, lost.error?.isTemporary, none]).toEqual(['NO_RESPONSE', true, null]);
    expect(after).toBe(before);
    expect([found.error, told]).toEqual([null, ['read']]);
  });

  it('goes on after the gateway has throttled a refresh', async () => {
    let isThrottled = true;
    const { accounts, told, kept } = await withSession(expired, {
      fetch: (input, init) =>
        isThrottled && String(input).endsWith('/refresh')
          ? Promise.resolve(new Response('', { status: 429 }))
          : fetch(input, init),
    });
    const before = kept.get(key);

    const throttled = await accounts.getProfile();
    const after = kept.get(key);
    isThrottled = false;
    const found = await accounts.getProfile();

    expect(throttled.error).toMatchObject({ isTemporary: true });
    expect(after).toBe(before);
    expect([found.error, told]).toEqual([null, ['read']]);
  });

  it('goes on with a token that is still valid while the service does not refresh', async () => {
    const { accounts, sent } = await withSession((token) => withTimes(token, { ends: 50 }), {
      fetch: (input, init) =>
        String(input).endsWith('/refresh')
          ? Promise.resolve(new Response('', { status: 503 }))
          : fetch(input, init),
    });

    expect((await accounts.getProfile()).error).toBeNull();
    expect(sent).toEqual(['/api/refresh', '/api/profile']);
  });

  it('is not ended by a refused login', async () => {
    const { accounts, told } = await withSession((token) => token);

    const { error } = await accounts.logIn({ ...sessions.admin, password: 'wrong' });

    expect([error?.status, told]).toEqual([401, ['read']]);
    expect((await accounts.getProfile()).error).toBeNull();
  });

  it('is not kept when the user logs out while it is refreshed', async () => {
    const { accounts, kept, told } = await withSession(expired, {
      fetch: async (...request) => {
        const response = await fetch(...request);
        if (String(request[0]).endsWith('/refresh')) kept.delete(key);
        return response;
      },
    });

    await accounts.getProfile();

    expect([kept.size, accounts.user, told]).toEqual([0, null, ['read', 'loggedOut']]);
  });

  it('of a service that has no sessions ends when its token has expired', async () => {
    const { token } = await register(plain.api);
    const { storage, kept } = storageWith({ token: expired(token, plain) }, plain);
    const { accounts, told } = observed({ url: plain.url, storage });

    const before = await accounts.getToken();
    const { error } = await accounts.getProfile();

    expect([before, error?.code, kept.size]).toEqual([null, 'TOKEN_EXPIRED', 0]);
    expect(told).toEqual(['read', 'ended']);
  });

  it('of a service that has no sessions ends when its token is refused as altered', async () => {
    const { token } = await register(plain.api);
    const { storage, kept } = storageWith({ token: `${token}x` }, plain);
    const { accounts, told } = observed({ url: plain.url, storage });

    const { error } = await accounts.getProfile();

    expect([error?.code, kept.size, told]).toEqual(['TOKEN_INVALID', 0, ['read', 'ended']]);
  });

  it('ends with its token once the service has no sessions any more', async () => {
    const { token } = await register(plain.api);
    const refreshToken = 'of-before';
    const { storage } = storageWith({ token: expired(token, plain), refreshToken }, plain);
    const { accounts, told } = observed({ url: plain.url, storage });

    await accounts.getProfile();

    expect([accounts.user, told]).toEqual([null, ['read', 'ended']]);
  });

  it('is forgotten at a logout without a network, and is otherwise ended at the service', async () => {
    const online = await withSession(expired);
    const offline = await withSession((token) => token, {
      fetch: () => Promise.reject(new TypeError('Failed to fetch')),
    });

    const outcomes = [await online.accounts.logOut(), await offline.accounts.logOut()];

    expect(outcomes.map(({ error }) => error?.code)).toEqual([undefined, 'NO_RESPONSE']);
    expect([offline.kept.size, offline.told]).toEqual([0, ['read', 'loggedOut']]);
    const json = { refreshToken: online.refreshToken };
    expect((await sessions.api('POST', '/api/refresh', { json })).status).toBe(401);
  });

  it('that begins while an asynchronous storage is read is not lost', async () => {
    const { storage } = storageWith();
    const { promise: read, resolve } = Promise.withResolvers<void>();
    const get: TokenStorage['get'] = async (name) => {
      const found = storage.get(name);
      await read;
      return found;
    };
    const { accounts, told } = observed({ storage: { ...storage, get } });

    await accounts.setSession(await register(sessions.api));
    resolve();
    await accounts.ready;

    expect([accounts.user?.role, told]).toEqual(['user', ['loggedIn']]);
  });

  it('is ended at the service by a logout whose token had expired unnoticed', async () => {
    const { accounts, refreshToken } = await withSession(expired, {}, behind);

    await accounts.logOut();

    const json = { refreshToken };
    expect((await sessions.api('POST', '/api/refresh', { json })).status).toBe(401);
  });

  it('can be set when its access token is about to expire, and is then refreshed', async () => {
    const { token, refreshToken } = await register(sessions.api);
    const { accounts, sent } = observed({});

    await accounts.setSession({ token: withTimes(token, { ends: 50 }), refreshToken });

    expect(decodeJwt((await accounts.getToken()) ?? '').exp).toBeGreaterThan(now() + 60);
    expect(sent).toEqual(['/api/refresh']);
  });

  it('can be set from tokens that were issued elsewhere', async () => {
    const { token, refreshToken, email } = await register(sessions.api);
    const { accounts, told } = observed({});

    await accounts.ready;
    const user = await accounts.setSession({ token, refreshToken });

    expect(user).toEqual({ id: expect.any(Number), email, role: 'user' });
    expect(told).toEqual(['read', 'loggedIn']);
    expect(await accounts.getToken()).toBe(token);
  });
});

describe('A listener', () => {
  it('may use the client, because no lock is held any more', async () => {
    const { accounts, id } = await withSession(expired);
    await sessions.api('DELETE', `/api/users/${id}/sessions`, { token: sessions.adminToken });
    const heard = Promise.withResolvers<unknown>();

    accounts.subscribe(() => heard.resolve(accounts.logIn(sessions.admin)));
    await accounts.getProfile();

    expect(await heard.promise).toMatchObject({ error: null });
  });

  it('that throws does not prevent calls of other listeners, and its error is reported', async () => {
    const { token } = await register(plain.api);
    const { accounts } = observed({ storage: storageWith().storage });
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    onTestFinished(() => void vi.useRealTimers());
    const told = vi.fn();
    accounts.subscribe(() => {
      throw new Error('of a listener');
    });
    const end = accounts.subscribe(told);

    await accounts.setSession({ token });
    end();

    expect(told).toHaveBeenCalledTimes(1);
    expect(() => vi.runAllTimers()).toThrow('of a listener');
  });
});

describe('A request of the app', () => {
  /** Another API, which notes the tokens that it gets, and refuses or not. */
  const otherApi = async (status: number) => {
    const given: string[] = [];
    const { url, stop } = await startLoopback(({ headers }, body, response) => {
      given.push(headers.authorization ?? 'none');
      response.writeHead(status).end(body);
    });
    onTestFinished(stop);
    return { url, given };
  };

  it.each([
    ['with the token to an API of a named origin', (url: string) => url, true],
    [
      'with the token to an API whose origin is named with a path',
      (url: string) => `${url}/`,
      true,
    ],
    ['without the token to an API of another origin', () => 'https://api.example.com', false],
  ])('is sent %s', async (_, sendTo, isSent) => {
    const { url, given } = await otherApi(200);
    const { accounts, token } = await withSession((same) => same, { sendTo: [sendTo(url)] });

    await accounts.fetch(`${url}/orders`);
    await accounts.fetch(new URL(`${url}/orders`));
    await accounts.fetch(new Request(`${url}/orders`, { method: 'POST', body: 'x' }));

    expect(given).toEqual(Array(3).fill(isSent ? `Bearer ${token}` : 'none'));
  });

  it('keeps its own authorization header', async () => {
    const { url, given } = await otherApi(200);
    const { accounts } = await withSession((same) => same, { sendTo: [url] });

    await accounts.fetch(url, { headers: { authorization: 'Basic x' } });

    expect(given).toEqual(['Basic x']);
  });

  it.each([
    [3600, 'older than a minute', 2],
    [30, 'younger', 1],
  ])(
    'that another API refuses, with a token that is %i s old (%s), is sent %i times',
    async (age, _, times) => {
      // Its age must not grow while the machine stands still.
      vi.useFakeTimers({ toFake: ['Date'], now: Date.now() });
      onTestFinished(() => void vi.useRealTimers());
      const { url, given } = await otherApi(401);
      const old = (token: string) => withTimes(token, { issued: -age });
      const { accounts, told } = await withSession(old, { sendTo: [url] });

      const responses = [await accounts.fetch(url), await accounts.fetch(url)];

      expect(responses.map(({ status }) => status)).toEqual([401, 401]);
      // The second request has a new token already, or one that is too young to be replaced.
      expect(given).toHaveLength(times + 1);
      expect(new Set(given).size).toBe(times);
      expect(told).toEqual(['read']);
    },
  );

  it('is not sent again if its body is a stream, but is sent again with any other body', async () => {
    const { url, given } = await otherApi(401);
    const old = (token: string) => withTimes(token, {});
    const { accounts } = await withSession(old, { sendTo: [url] });
    const second = await withSession(old, { sendTo: [url] });
    const body = new Blob(['x']).stream();

    const streamed = { method: 'POST', body, duplex: 'half' } as RequestInit;
    await accounts.fetch(url, streamed);
    const once = given.length;
    await second.accounts.fetch(new Request(url, { method: 'POST', body: 'text' }));

    expect([once, given.length]).toEqual([1, 3]);
  });

  it('rejects as fetch does', async () => {
    const { accounts } = await withSession((token) => token);

    await expect(accounts.fetch('/orders')).rejects.toThrow(TypeError);
  });
});

describe('The end of a token', () => {
  const day = 24 * 60 * 60;

  it.each([
    [-day, 3600, []],
    [day, 3600, []],
    [-day, 50, ['/api/refresh']],
    [day, 50, ['/api/refresh']],
  ])(
    'is measured from the time of issue, for clocks that differ by %i s and a token that lives %i s',
    async (difference, life, refreshes) => {
      const { token, refreshToken } = await register(sessions.api);
      const times = { issued: difference, ends: difference + life };
      const answered = { message: 'm', token: withTimes(token, times), refreshToken };
      const json = { 'content-type': 'application/json' };
      const { url, stop } = await startLoopback((_, __, response) =>
        response.writeHead(200, json).end(JSON.stringify(answered)),
      );
      onTestFinished(stop);
      const { storage } = storageWith();
      const { accounts } = observed({ url, storage });
      await accounts.logIn({ email: 'e', password: 'p' });

      // Also by a client that reads the tokens later.
      const { accounts: later, sent } = observed({ url, storage });

      expect(await later.getToken()).toBe(answered.token);
      expect(sent).toEqual(refreshes);
    },
  );
});

describe('A lock', () => {
  const stopTimers = () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    onTestFinished(() => void vi.useRealTimers());
  };

  it('that is never released keeps others waiting for 15 s', async () => {
    const { promise: released, resolve } = Promise.withResolvers<void>();
    void navigator.locks.request('held', () => released);
    onTestFinished(() => resolve());
    stopTimers();
    const work = vi.fn(async () => 'done');

    const outcome = exclusiveBy('held')(work);
    await vi.advanceTimersByTimeAsync(14_999);
    const early = work.mock.calls.length;
    await vi.advanceTimersByTimeAsync(1);

    expect([early, await outcome]).toEqual([0, 'done']);
  });

  it('that cannot be acquired prevents no work, and an error of the work is thrown', async () => {
    const request = () => Promise.reject(new DOMException('denied', 'SecurityError'));
    vi.stubGlobal('navigator', { locks: { request } });
    onTestFinished(() => void vi.unstubAllGlobals());

    expect(await exclusiveBy('denied')(async () => 'done')).toBe('done');
    const failing = exclusiveBy('denied')(() => Promise.reject(new Error('own')));
    await expect(failing).rejects.toThrow('own');
  });

  it('is released by a refresh that gets no response within 10 s', async () => {
    const { accounts } = await withSession(expired, { fetch: () => new Promise(() => undefined) });
    vi.stubGlobal('navigator', {});
    onTestFinished(() => void vi.unstubAllGlobals());
    stopTimers();

    const call = accounts.getProfile();
    await vi.advanceTimersByTimeAsync(10_000);

    expect((await call).error).toMatchObject({ code: 'NO_RESPONSE', isTemporary: true });
  });
});

describe('A storage', () => {
  it('that throws does not stop the client; the client then works in memory', async () => {
    const fail = () => {
      throw new Error('SecurityError');
    };
    const { accounts } = observed({ storage: { get: fail, set: fail, remove: fail } });
    const { email, password } = await register(sessions.api);

    await accounts.logIn({ email, password });
    const profile = await accounts.getProfile();
    const out = await accounts.logOut();

    expect([profile.error, out.error, accounts.user]).toEqual([null, null, null]);
  });

  it('that is full does not keep a refresh token that was used', async () => {
    let isFull = false;
    const { kept, storage } = storageWith();
    const small: TokenStorage = {
      ...storage,
      set: (name, value) => {
        if (isFull) throw new DOMException('full', 'QuotaExceededError');
        kept.set(name, value);
      },
    };
    const { token, refreshToken } = await register(sessions.api);
    small.set(key, JSON.stringify({ token: expired(token), refreshToken }));
    const { accounts, told } = observed({ storage: small });

    isFull = true;
    const profiles = [await accounts.getProfile(), await accounts.getProfile()];

    expect(profiles.map(({ error }) => error)).toEqual([null, null]);
    expect([kept.size, told]).toEqual([0, ['read']]);
  });

  it('has the tokens of each client under the name of the client', async () => {
    const { kept, storage } = storageWith();
    const [first, second] = ['one', 'two'].map((name) => observed({ storage, name }));
    const { email, password } = await register(sessions.api);

    await first?.accounts.logIn({ email, password });

    expect([...kept.keys()]).toEqual(['accounts-client.one']);
    expect([first?.accounts.user?.email, second?.accounts.user]).toEqual([email, null]);
  });
});
