import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Account, logIn, register } from '../support/client.ts';
import { startTestService, type TestService } from '../support/service.ts';
import { expectSoundTable } from '../support/users-table.ts';
import { times } from './at-once.ts';

/** Times that each race is run: one run may go well by chance. */
const rounds = Array.from({ length: 5 }, (_, round) => round + 1);

describe('Sessions that end while others begin', () => {
  let service: TestService;
  let admin: string;
  beforeAll(async () => {
    service = await startTestService({
      SESSION_DAYS: '90',
      SELF_DELETION: 'on',
      LOGIN_FAILURES_PER_ACCOUNT: '0',
      LOGIN_FAILURES_PER_ADDRESS: '0',
    });
    admin = await logIn(service.api, service.admin);
  });
  afterAll(() => service.stop());

  const profile = async (token: string) =>
    (await service.api('GET', '/api/profile', { token })).status;
  const enter = async ({ email }: Account, password: string) => {
    const json = { email, password };
    const { body } = await service.api('POST', '/api/login', { json });
    return body.token as string | undefined;
  };
  const change = ({ id, password }: Account, token: string, fresh: string) =>
    service.api('PUT', `/api/users/${id}`, {
      token,
      json: { password: fresh, currentPassword: password },
    });
  const tokensIn = (all: readonly (string | undefined)[]) =>
    all.filter((token) => token !== undefined);

  it.each(rounds)('of several changes with one session one is made, round %i', async () => {
    const user = await register(service.api);

    const answers = await times(5, (i) => change(user, user.token, `password ${i}`));

    const statuses = answers.map(({ status }) => status);
    expect(statuses.filter((status) => status === 200)).toHaveLength(1);
    expect(statuses.filter((status) => status === 403)).toHaveLength(4);
    const made = statuses.indexOf(200);
    expect(await enter(user, `password ${made}`)).toBeDefined();
  });

  it.each(rounds)('what began before all sessions ended is over, round %i', async () => {
    const user = await register(service.api);
    const before = await times(3, () => logIn(service.api, user));
    const [leaving = '', ...staying] = before;
    const path = `/api/users/${user.id}/sessions`;

    const [, , during] = await Promise.all([
      service.api('POST', '/api/logout', { token: leaving }),
      service.api('DELETE', path, { token: admin }),
      times(5, () => enter(user, user.password)),
      ...staying.map(profile),
    ]);
    const after = await enter(user, user.password);

    expect(await Promise.all(before.map(profile))).toEqual([401, 401, 401]);
    const statuses = await Promise.all(tokensIn(during).map(profile));
    expect(statuses.filter((status) => status !== 200 && status !== 401)).toEqual([]);
    expect(await profile(after ?? '')).toBe(200);
    await expectSoundTable(service);
  });

  const leave = ({ password }: Pick<Account, 'password'>, token: string) =>
    service.api('POST', '/api/account-deletions', { token, json: { currentPassword: password } });

  it.each(rounds)('users delete themselves once, unless a change is first, round %i', async () => {
    const user = await register(service.api);

    const [changed, ...left] = await Promise.all([
      change(user, user.token, 'another one'),
      ...(await times(3, async () => user.token)).map((token) => leave(user, token)),
    ]);

    const statuses = [changed, ...left].map(({ status }) => status);
    expect(statuses.filter((status) => status < 300)).toHaveLength(1);
    // Who was authenticated before the deletion finds no user to change.
    const refused = statuses.filter((status) => status >= 300);
    const allowed = statuses.includes(204) ? [401, 404] : [403];
    expect(refused.filter((status) => !allowed.includes(status))).toEqual([]);
    await expectSoundTable(service);
  });

  it.each(rounds)('of two last admins who delete themselves one stays, round %i', async () => {
    const setRole = (id: number, role: string, token: string) =>
      service.api('PUT', `/api/users/${id}`, { token, json: { role } });
    const makeAdmin = async () => {
      const user = await register(service.api);
      await setRole(user.id, 'admin', admin);
      return { ...user, token: await logIn(service.api, user) };
    };
    const [one, other] = [await makeAdmin(), await makeAdmin()];
    expect((await setRole(1, 'user', one.token)).status).toBe(200);

    const left = await Promise.all([one, other].map((each) => leave(each, each.token)));

    const statuses = left.map(({ status }) => status);
    expect(statuses.toSorted()).toEqual([204, 409]);
    const last = statuses[0] === 409 ? one : other;
    expect((await setRole(1, 'admin', last.token)).status).toBe(200);
    admin = await logIn(service.api, service.admin);
    expect((await leave(last, last.token)).status).toBe(204);
  });

  it.each(rounds)(
    'a deleted user has no session, whoever logs in meanwhile, round %i',
    async () => {
      const user = await register(service.api);

      const [logins] = await Promise.all([
        times(5, () => enter(user, user.password)),
        service.api('DELETE', `/api/users/${user.id}`, { token: admin }),
      ]);

      const all = [user.token, ...tokensIn(logins)];
      expect(new Set(await Promise.all(all.map(profile)))).toEqual(new Set([401]));
    },
  );

  it.each(rounds)(
    'a suspended user has no session, whatever is done meanwhile, round %i',
    async () => {
      const user = await register(service.api);
      const path = `/api/users/${user.id}`;
      const json = { refreshToken: user.refreshToken };

      const [logins, refreshed, suspended] = await Promise.all([
        times(5, () => enter(user, user.password)),
        service.api('POST', '/api/refresh', { json }),
        service.api('PUT', `${path}/suspension`, { token: admin }),
        change(user, user.token, user.password),
        service.api('PUT', path, { token: admin, json: { role: 'admin' } }),
      ]);

      expect(suspended.status).toBe(204);
      const all = [user.token, refreshed.body.token, ...tokensIn(logins)];
      expect(await enter(user, user.password)).toBeUndefined();
      await service.api('DELETE', `${path}/suspension`, { token: admin });
      expect(new Set(await Promise.all(tokensIn(all).map(profile)))).toEqual(new Set([401]));
      await service.api('DELETE', path, { token: admin });
    },
  );
});
