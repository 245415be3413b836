import { beforeEach, describe, expect, inject, it } from 'vitest';
import { refreshTokenReused } from '../../lib/ground/log.ts';
import { outcome, refusal } from '../support/acceptance.ts';
import { type Account, type ApiAnswer, logIn, register, uniqueEmail } from '../support/client.ts';
import { sessionIn } from '../support/examples.ts';
import { proxiedServiceForThisFile } from '../support/proxied-service.ts';
import { overtake } from '../support/proxy.ts';
import { ageSessions } from '../support/stored-items.ts';
import { sessionsItem } from '../support/users-table.ts';

const { proxy, service, admin } = await proxiedServiceForThisFile({
  SESSION_DAYS: '90',
});
const { api, environment } = service;

let user: Account;
let first: string;
beforeEach(async () => {
  user = await register(api);
  first = user.refreshToken ?? '';
});

const refresh = (refreshToken: string) => api('POST', '/api/refresh', { json: { refreshToken } });
const profile = (token: string) => api('GET', '/api/profile', { token });
const change = (changes: object, token: string) => {
  const json = { ...changes, currentPassword: user.password };
  return api('PUT', `/api/users/${user.id}`, { token, json });
};

const changeOwn = (json: object, token: string) =>
  change({ ...json, currentPassword: user.password }, token);

/** The token of another session of the user, who is an admin from then on. */
const enterOtherwise = async (): Promise<string> => {
  await change({ role: 'admin' }, admin);
  return logIn(api, user);
};

const sessions = () => `/api/users/${user.id}/sessions`;
const [update, transaction] = ['UpdateItem', 'TransactWriteItems'];

/** An event in the life of a session, and the operation that writes it. @param token of another session */
type Event = readonly [string, operation: string, act: (token: string) => Promise<ApiAnswer>];

const endings: readonly Event[] = [
  ['it is logged out', update, () => api('POST', '/api/logout', { token: user.token })],
  [
    'another one ends it',
    update,
    (token) => api('DELETE', `${sessions()}/${sessionIn(user)}`, { token }),
  ],
  ['another one ends all others', update, (token) => api('DELETE', sessions(), { token })],
  ['an admin ends all sessions', update, () => api('DELETE', sessions(), { token: admin })],
  ['another one changes the password', update, (token) => changeOwn({ password: 'new' }, token)],
  [
    'another one changes the address',
    transaction,
    (token) => changeOwn({ email: uniqueEmail() }, token),
  ],
  ['an admin sets the password', update, () => change({ password: 'new' }, admin)],
  ['its user is no admin any more', update, () => change({ role: 'user' }, admin)],
  [
    'its user is deleted',
    transaction,
    () => api('DELETE', `/api/users/${user.id}`, { token: admin }),
  ],
];

const survivals: readonly Event[] = [
  ['it changes the password', update, () => changeOwn({ password: 'new' }, user.token)],
  ['its user becomes an admin', transaction, () => change({ role: 'admin' }, admin)],
  ['its user logs in', update, () => api('POST', '/api/login', { json: user })],
];

const invalid = refusal(401, 'Invalid refresh token');

/** @param answer of a refresh */
const expectNoSession = async ({ body }: ApiAnswer) => {
  for (const token of [user.token, body.token ?? user.token]) {
    expect(outcome(await profile(token))).toEqual(refusal(401, 'Invalid token'));
  }
  for (const token of [body.refreshToken ?? first, first]) {
    expect(outcome(await refresh(token))).toEqual(invalid);
  }
  // DynamoDB never deletes an item without that attribute.
  expect((await sessionsItem(service, user.id)) ?? { expires_at: 0 }).toHaveProperty('expires_at');
};

/** The proxy holds the first write back, so that the second overtakes it between read and write. */
describe('The session of a refresh', () => {
  const held = () => refresh(first);

  it.each(endings)('is over once %s', async (_, __, end) => {
    expect((await end(await enterOtherwise())).status).toBeLessThan(300);

    await expectNoSession(await refresh(first));
  });

  it.each(endings)('is over when %s before the refresh is written', async (_, __, end) => {
    const other = await enterOtherwise();

    const [answer, { status }] = await overtake(proxy, update, held, () => end(other));

    expect(status).toBeLessThan(300);
    await expectNoSession(answer);
  });

  it.each(endings)('is over when %s by a write that it overtakes', async (_, operation, end) => {
    const other = await enterOtherwise();

    const [{ status }, answer] = await overtake(proxy, operation, () => end(other), held);

    expect([status < 300, answer.status]).toEqual([true, 200]);
    await expectNoSession(answer);
  });

  it.each(endings)('is over when %s before the reuse of a token ends it', async (_, __, end) => {
    const other = await enterOtherwise();
    const { refreshToken } = (await refresh(first)).body;
    expect((await refresh(refreshToken)).status).toBe(200);

    const [answer] = await overtake(proxy, update, held, () => end(other));

    expect(outcome(answer)).toEqual(invalid);
    await expectNoSession(answer);
  });

  it.each(survivals)('goes on when %s before the refresh is written', async (_, __, act) => {
    const [answer, { status }] = await overtake(proxy, update, held, () => act(''));
    const { token, refreshToken } = answer.body;

    expect([status, (await profile(token)).status]).toEqual([200, 200]);
    expect((await refresh(refreshToken)).status).toBe(200);
  });

  it.each(survivals)('goes on when %s by a write that it overtakes', async (_, operation, act) => {
    const [{ status }, answer] = await overtake(proxy, operation, () => act(''), held);
    const { token, refreshToken } = answer.body;

    expect([status, (await profile(token)).status]).toEqual([200, 200]);
    expect((await refresh(refreshToken)).status).toBe(200);
  });

  it('is the same for two requests with one token that overtake each other', async () => {
    const [slow, fast] = await overtake(proxy, update, held, held);

    expect([slow.status, slow.body.refreshToken]).toEqual([200, fast.body.refreshToken]);
  });

  /** Two minutes pass. */
  const wait = () =>
    ageSessions(inject('engine'), environment.USERS_TABLE ?? '', user.id, 2 * 60_000);
  /** A refresh whose response is lost, two minutes ago. */
  const lose = async () => {
    const { body } = await refresh(first);
    await wait();
    return body;
  };

  it('has one newest pair when two requests replace the one that was lost', async () => {
    const lost = await lose();

    const [slow, fast] = await overtake(proxy, update, held, held);

    expect([slow.status, slow.body.refreshToken]).toEqual([200, fast.body.refreshToken]);
    expect(outcome(await profile(lost.token))).toEqual(refusal(401, 'Invalid token'));
    expect((await profile(slow.body.token)).status).toBe(200);
  });

  it('is over when a pair was used before the one that replaces it is written', async () => {
    const lost = await lose();

    const [answer, used] = await overtake(proxy, update, held, () => profile(lost.token));

    expect(used.status).toBe(200);
    expect(outcome(answer)).toEqual(invalid);
    await expectNoSession(answer);
  });

  it('refuses a request whose pair is replaced before its use is noted', async () => {
    const lost = await lose();

    const [answer, replacing] = await overtake(proxy, update, () => profile(lost.token), held);

    expect(outcome(answer)).toEqual(refusal(401, 'Invalid token'));
    expect((await profile(replacing.body.token)).status).toBe(200);
  });

  it.each([
    ['another request notes it', (token: string, _: string) => profile(token)],
    ['its refresh token is used', (_: string, refreshToken: string) => refresh(refreshToken)],
  ])('allows a request when %s before its use is noted', async (_, act) => {
    const { token, refreshToken } = await lose();

    const answers = await overtake(
      proxy,
      update,
      () => profile(token),
      () => act(token, refreshToken),
    );

    expect(answers.map(({ status }) => status)).toEqual([200, 200]);
    expect(outcome(await refresh(first))).toEqual(invalid);
  });

  it.each(endings)('stays over when %s before a use is noted', async (_, __, end) => {
    const other = await enterOtherwise();
    const { token } = await lose();

    await overtake(
      proxy,
      update,
      () => profile(token),
      () => end(other),
    );

    expect(outcome(await profile(token))).toEqual(refusal(401, 'Invalid token'));
    await expectNoSession(await refresh(first));
  });

  it('is ended once, and logged once, by two requests with a token that was used', async () => {
    const { refreshToken } = (await refresh(first)).body;
    expect((await refresh(refreshToken)).status).toBe(200);

    const answers = await overtake(proxy, update, held, held);

    expect(answers.map(outcome)).toEqual([invalid, invalid]);
    const logged = service
      .output()
      .split('\n')
      .filter((line) => line.includes(refreshTokenReused));
    expect(logged.filter((line) => JSON.parse(line).user_id === user.id)).toHaveLength(1);
  });
});
