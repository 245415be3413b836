import { decodeJwt } from 'jose';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { entriesOf, outcome, refusal, uniqueAgent } from '../../support/acceptance.ts';
import { type Account, register } from '../../support/client.ts';
import { sessionIn } from '../../support/examples.ts';
import { proxiedServiceForThisFile } from '../../support/proxied-service.ts';
import { faults } from '../../support/proxy.ts';
import { sessionsItem } from '../../support/users-table.ts';

const { proxy, service, admin } = await proxiedServiceForThisFile({
  SESSION_DAYS: '90',
  SESSION_IDLE_DAYS: '30',
});
const { api } = service;

const minute = 60_000;
const day = 24 * 60 * minute;
const pass = (milliseconds: number) => vi.setSystemTime(Date.now() + milliseconds);

let user: Account;
let first: string;
beforeEach(async () => {
  // The service runs in this process; its clock is stopped, and only tests move it.
  vi.useFakeTimers({ toFake: ['Date'], now: Date.now() });
  user = await register(api);
  first = user.refreshToken ?? '';
  proxy.forget();
});
afterEach(() => {
  vi.useRealTimers();
  proxy.impose();
});

const invalid = refusal(401, 'Invalid refresh token');
const refresh = (refreshToken: unknown, headers = {}) =>
  api('POST', '/api/refresh', { json: { refreshToken }, headers });
/** Refreshes a session, which must succeed. @returns the tokens */
const refreshed = async (refreshToken: string) => {
  const { status, body } = await refresh(refreshToken);
  expect(status).toBe(200);
  return body as { token: string; refreshToken: string };
};
const profile = (token: string) => api('GET', '/api/profile', { token });
const writes = () => proxy.requests.filter((request) => request.writes > 0);
const storedSessions = async () => (await sessionsItem(service, user.id)) ?? {};
const change = (json: object, token: string) =>
  api('PUT', `/api/users/${user.id}`, { token, json });

describe('POST /api/refresh', () => {
  it('exchanges the token of a registration or a login for new tokens of the same session', async () => {
    const { body: login } = await api('POST', '/api/login', { json: user });
    pass(day - minute);

    for (const [before, token] of [
      [user.token, first],
      [login.token, login.refreshToken],
    ] as const) {
      const { status, body } = await refresh(token);

      expect([status, Object.keys(body)]).toEqual([200, ['message', 'token', 'refreshToken']]);
      expect(body.message).toBe('Token refreshed');
      expect(sessionIn(body)).toBe(sessionIn({ token: before }));
      expect(Number(decodeJwt(body.token).exp) * 1000).toBeGreaterThan(Date.now() + day - minute);
      expect((await profile(body.token)).status).toBe(200);
      expect((await profile(before)).status).toBe(200);
    }
  });

  it('asks DynamoDB for one read and one write, and leaves no entry', async () => {
    await refreshed(first);

    expect(proxy.requests.map(({ operation }) => operation)).toEqual([
      'BatchGetItem',
      'UpdateItem',
    ]);
  });

  it('counts as the last use of its session in the list that the user sees', async () => {
    pass(3 * day);
    const { token } = await refreshed(first);

    const { body } = await api('GET', `/api/users/${user.id}/sessions`, { token });

    const { created_at, last_used_at, expires_at } = body.data[0];
    const since = (time: string, from: string) => Date.parse(time) - Date.parse(from);
    expect(since(last_used_at, created_at)).toBe(3 * day);
    expect(Math.abs(since(expires_at, last_used_at) - 30 * day)).toBeLessThan(1000);
  });

  it('answers 400 without a token', async () => {
    expect(outcome(await refresh(undefined))).toEqual(refusal(400, 'Refresh token is required'));
  });

  it.each([
    ['a text that is no token', () => 'x'],
    ['an access token', () => user.token],
    ['an id that nobody has', () => first.replace(/^\d+/, '999999')],
    ['an unknown session', () => first.replace(/\.[^.]+\./, `.${'A'.repeat(22)}.`)],
    ['the name of another attribute', () => first.replace(/\.[^.]+\./, '.expires_at.')],
    ['another secret', () => first.replace(/.{43}(.{22})$/, `${'A'.repeat(43)}$1`)],
    ['another tag', () => first.replace(/.{22}$/, 'A'.repeat(22))],
    [
      'the hash that the table holds',
      async () => {
        const item = await storedSessions();
        const { refresh: kept } = item[sessionIn(user)] as { refresh: { newest: string } };
        return first.replace(/.{43}(.{22})$/, `${kept.newest}$1`);
      },
    ],
  ])('answers 401 to %s, and writes nothing', async (_, made) => {
    const token = await made();

    expect(outcome(await refresh(token))).toEqual(invalid);

    expect(writes()).toEqual([]);
    expect((await refresh(first)).status).toBe(200);
  });

  it('gives a token with the present role of the user', async () => {
    await change({ role: 'admin' }, admin);

    const { token } = await refreshed(first);

    expect(decodeJwt(token).role).toBe('admin');
  });
});

describe('A session that is refreshed', () => {
  it('ends after SESSION_IDLE_DAYS without a refresh', async () => {
    pass(30 * day - minute);
    const { refreshToken } = await refreshed(first);
    pass(30 * day);

    expect(outcome(await refresh(refreshToken))).toEqual(invalid);
  });

  it('stays in the table for as long as any session of its user lasts', async () => {
    let refreshToken = first;
    for (const days of [25, 0, 25, 0, 25, 0]) {
      pass(days * day);
      // The last session that begins here outlasts the session that is refreshed.
      if (days === 0) await api('POST', '/api/login', { json: user });
      ({ refreshToken } = await refreshed(refreshToken));

      const { pk: _, expires_at, ...sessions } = await storedSessions();
      const ends = Object.values(sessions).map((session) => (session as { until: number }).until);
      expect(expires_at).toBeGreaterThanOrEqual(Math.max(...ends));
    }
  });

  it('continues although it is the longest unused session of a user with as many as possible', async () => {
    const headers = { 'user-agent': 'x'.repeat(120) };
    const logins = new Map<string, { token: string; refreshToken: string }>();
    for (let login = 0; login < 80; login += 1) {
      pass(1);
      const { body } = await api('POST', '/api/login', { json: user, headers });
      logins.set(sessionIn(body), body);
    }
    const { token } = [...logins.values()].at(-1) ?? user;
    const { body } = await api('GET', `/api/users/${user.id}/sessions`, { token });
    const oldest = logins.get(body.data.at(-1).id);

    const next = await refreshed(oldest?.refreshToken ?? '');

    expect(body.data.length).toBeLessThan(80);
    expect((await profile(next.token)).status).toBe(200);
  });

  it('ends after SESSION_DAYS, however often it is refreshed, and its last token ends too', async () => {
    let tokens = { token: user.token, refreshToken: first };
    for (const days of [25, 25, 25, 14.9]) {
      pass(days * day);
      tokens = await refreshed(tokens.refreshToken);
    }
    expect((await profile(tokens.token)).status).toBe(200);
    pass(0.2 * day);

    expect(outcome(await refresh(tokens.refreshToken))).toEqual(invalid);
    expect(outcome(await profile(tokens.token))).toEqual(refusal(401, 'Invalid token'));
  });
});

describe('A refresh token that was used', () => {
  it('ends its session if a later refresh token was used, and leaves an entry', async () => {
    await refreshed((await refreshed(first)).refreshToken);
    const { body: other } = await api('POST', '/api/login', { json: user });
    const agent = uniqueAgent();
    pass(minute + 1);

    expect(outcome(await refresh(first, { 'user-agent': agent }))).toEqual(invalid);

    expect(outcome(await profile(user.token))).toEqual(refusal(401, 'Invalid token'));
    expect((await profile(other.token)).status).toBe(200);
    const entry = {
      action: 'LOGIN',
      result: 'FAILURE',
      user_id: user.id,
      resource_id: String(user.id),
      details: '{"reason":"refresh_token_reused"}',
    };
    expect(await entriesOf(service, agent)).toEqual([expect.objectContaining(entry)]);
    expect(outcome(await refresh(first, { 'user-agent': agent }))).toEqual(invalid);
    expect(await entriesOf(service, agent)).toHaveLength(1);
  });

  it.each(
    ['BatchGetItem', 'UpdateItem'].flatMap((operation) =>
      (['lose', 'internalError'] as const).map((fault) => ({ fault, operation })),
    ),
  )('does not end its session when its client tries again ten minutes after %j', async (rule) => {
    proxy.impose({ ...rule, fault: faults[rule.fault] });
    const { status, body } = await refresh(first);
    proxy.impose();
    pass(10 * minute);

    const { token, refreshToken } = await refreshed(first);

    expect([200, 500]).toContain(status);
    expect(refreshToken).not.toBe(body.refreshToken);
    expect((await profile(token)).status).toBe(200);
    expect((await refresh(refreshToken)).status).toBe(200);
  });

  it('leaves an entry even if it is unknown whether the session has ended', async () => {
    const { refreshToken } = await refreshed(first);
    await refreshed(refreshToken);
    const agent = uniqueAgent();
    proxy.impose({ fault: faults.lose, operation: 'UpdateItem' });

    expect((await refresh(first, { 'user-agent': agent })).status).toBe(500);

    const entry = { action: 'LOGIN', result: 'FAILURE', resource_id: String(user.id) };
    const details = expect.stringContaining('"outcome":"unknown","reason":"refresh_token_reused"');
    expect(await entriesOf(service, agent)).toEqual([
      expect.objectContaining({ ...entry, details }),
    ]);
  });
});

describe('The first request with an access token that a refresh has issued', () => {
  const asked = () => proxy.requests.map(({ operation }) => operation);

  it('notes the use of the token by one write, and neither later requests nor other tokens write', async () => {
    await profile(user.token);
    expect(asked()).toEqual(['BatchGetItem']);

    const { token } = await refreshed(first);
    proxy.forget();
    for (let request = 0; request < 3; request += 1) await profile(token);
    await profile(user.token);

    expect(asked()).toEqual(['BatchGetItem', 'UpdateItem', ...Array(3).fill('BatchGetItem')]);
  });

  it.each(['reset', 'internalError', 'missingTable', 'throttle'] as const)(
    'succeeds although its write fails: %s',
    async (fault) => {
      const { token } = await refreshed(first);
      proxy.impose({ fault: faults[fault], operation: 'UpdateItem' });

      expect((await profile(token)).status).toBe(200);
    },
  );
});
