import { describe, expect, it } from 'vitest';
import {
  entriesOf,
  isoTimestamp,
  listUsers,
  outcome,
  refusal,
  serviceForThisFile,
  stopClock,
  uniqueAgent,
} from '../support/acceptance.ts';
import { type Account, logIn, register } from '../support/client.ts';
import { promote } from '../support/examples.ts';
import { mailingServiceForThisFile, verifyUrl } from '../support/mailbox.ts';
import { markVerified, registerVerified } from '../support/reset-tokens.ts';
import { codeOf, enrol, factorClient } from '../support/second-factor.ts';
import { newAccount, sendRegistration, verificationSettings } from '../support/verification.ts';

const service = await mailingServiceForThisFile({
  SESSION_DAYS: '30',
  SECOND_FACTOR: 'optional',
  LOGIN_FAILURES_PER_ACCOUNT: '3',
  EMAIL_VERIFICATION: 'on',
  VERIFY_URL: verifyUrl,
});
const { api, adminToken } = service;
const { tryLogin } = factorClient(api);
const suspended = refusal(403, 'Account suspended');

const send = (method: 'PUT' | 'DELETE', id: number, token = adminToken, headers = {}) =>
  api(method, `/api/users/${id}/suspension`, { token, headers });
const suspend = async (id: number) => expect((await send('PUT', id)).status).toBe(204);
const lift = async (id: number) => expect((await send('DELETE', id)).status).toBe(204);
const suspendedUser = async (fields: Partial<Account> = {}): Promise<Account> => {
  const user = await register(api, fields);
  await suspend(user.id);
  return user;
};
const profile = (token: string) => api('GET', '/api/profile', { token });
const shownTo = (token: string, id: number) => api('GET', `/api/users/${id}`, { token });

describe('A suspension', () => {
  it('ends all sessions, refuses logins until it is lifted, and leaves an entry each time', async () => {
    const user = await register(api);
    const tokens = [user.token, await logIn(api, user)];
    const agent = uniqueAgent();
    const headers = { 'user-agent': agent };

    const put = [
      await send('PUT', user.id, adminToken, headers),
      await send('PUT', user.id, adminToken, headers),
    ];
    expect(put.map(({ status, text }) => [status, text])).toEqual([
      [204, ''],
      [204, ''],
    ]);
    for (const token of tokens) {
      expect(outcome(await profile(token))).toEqual(refusal(401, 'Invalid token'));
    }
    const { refreshToken } = user;
    expect(outcome(await api('POST', '/api/refresh', { json: { refreshToken }, headers }))).toEqual(
      refusal(401, 'Invalid refresh token'),
    );
    expect(outcome(await tryLogin(user, {}, headers))).toEqual(suspended);
    await send('DELETE', user.id, adminToken, headers);
    await send('DELETE', user.id, adminToken, headers);
    expect((await profile(await logIn(api, user))).status).toBe(200);
    for (const token of tokens) expect((await profile(token)).status).toBe(401);

    const change = { resource_id: String(user.id), resource: 'users', result: 'SUCCESS' };
    expect(await entriesOf(service, agent)).toMatchObject([
      { ...change, action: 'UPDATE', user_id: 1, details: '{"suspended":true}' },
      { action: 'LOGIN', result: 'FAILURE', user_id: user.id, details: '{"reason":"suspended"}' },
      { ...change, action: 'UPDATE', user_id: 1, details: '{"suspended":false}' },
    ]);
  });

  it('is shown to admins alone, and to nobody once it is lifted', async () => {
    const user = await register(api);
    const other = await register(api);
    const before = (await shownTo(adminToken, user.id)).body;
    const { second_factor: _, last_seen_on: __, auditor, ...toOthers } = before;

    await suspend(user.id);

    const shown = (await shownTo(adminToken, user.id)).body;
    expect(shown).toEqual({ ...before, suspended_at: isoTimestamp });
    expect((await shownTo(other.token, user.id)).body).toEqual(toOthers);
    const { suspended_at } = shown;
    expect(await listUsers(api, adminToken)).toContainEqual({ ...toOthers, auditor, suspended_at });
    expect(await listUsers(api, other.token)).toContainEqual(toOthers);
    await suspend(user.id);
    expect((await shownTo(adminToken, user.id)).body).toEqual(shown);
    await lift(user.id);
    expect((await shownTo(adminToken, user.id)).body).toEqual(before);
  });

  it.each(['PUT', 'DELETE'] as const)('%s is refused for oneself', async (method) => {
    expect(outcome(await send(method, 1))).toEqual(refusal(403, 'Forbidden'));
  });

  it('is not revealed after a wrong password, and such attempts are counted as usual', async () => {
    stopClock();
    const user = await suspendedUser();
    const statuses: number[] = [];
    for (let i = 0; i < 4; i += 1) {
      statuses.push((await tryLogin({ ...user, password: 'wrong' })).status);
    }

    expect(statuses).toEqual([401, 401, 401, 429]);
    expect((await tryLogin(user)).status).toBe(429);
  });

  it('is revealed only after the right code, where there is a second factor', async () => {
    const user = await registerVerified(service);
    const { secret } = await enrol(api, user);
    await suspend(user.id);

    expect(outcome(await tryLogin(user))).toEqual(refusal(401, 'Code required'));
    expect(outcome(await tryLogin(user, { code: 'aaaa-aaaa-aaaa-aaaa' }))).toEqual(
      refusal(401, 'Invalid code'),
    );
    expect(outcome(await tryLogin(user, { code: codeOf(secret, { ahead: 1 }) }))).toEqual(
      suspended,
    );
  });
});

describe('With ACCOUNTS=private and EMAIL_VERIFICATION=required', async () => {
  const uniform = await mailingServiceForThisFile({
    ...verificationSettings.required,
    SESSION_DAYS: '30',
    ACCOUNTS: 'private',
  });
  it('a suspension is revealed only if the address is verified: nobody else learns of an account', async () => {
    const { api, adminToken: token } = uniform;
    const account = newAccount();
    await sendRegistration(api, account);
    const [{ id }] = (await api('GET', `/api/users?email=${account.email}`, { token })).body;
    const logInTo = async ({ email }: { email: string }) =>
      outcome(await api('POST', '/api/login', { json: { ...account, email } }));

    expect((await api('PUT', `/api/users/${id}/suspension`, { token })).status).toBe(204);

    expect(await logInTo(account)).toEqual(await logInTo(newAccount()));
    await markVerified(uniform.environment, id);
    expect(await logInTo(account)).toEqual(suspended);
  });
});

describe('A suspension that is stored, with SESSION_DAYS=0,', async () => {
  const { USERS_TABLE = '', AUDIT_TABLE = '' } = service.environment;
  const without = await serviceForThisFile({ USERS_TABLE, AUDIT_TABLE });
  it('refuses logins and can be lifted by an admin who is not suspended, but no user can be suspended', async () => {
    const { api } = without;
    const [user, admin] = [
      await register(api),
      await promote(api, without.adminToken, await register(api)),
    ];
    await suspend(user.id);
    await suspend(admin.id);

    const asSuspended = (method: 'PUT' | 'DELETE', path: string, json?: object) =>
      api(method, `/api/users/${path}`, { token: admin.token, ...(json ? { json } : {}) });
    expect(outcome(await factorClient(api).tryLogin(user))).toEqual(suspended);
    expect((await api('GET', '/api/profile', { token: user.token })).status).toBe(200);
    for (const { id } of [user, admin]) {
      const lifted = await asSuspended('DELETE', `${id}/suspension`);
      expect(outcome(lifted)).toEqual(refusal(403, 'Forbidden'));
    }
    const promotion = await asSuspended('PUT', `${user.id}`, { role: 'admin' });
    expect(outcome(promotion)).toEqual(refusal(403, 'Forbidden'));
    const token = without.adminToken;
    expect((await api('PUT', `/api/users/${user.id}/suspension`, { token })).status).toBe(404);
    expect((await api('DELETE', `/api/users/${user.id}/suspension`, { token })).status).toBe(204);
    expect((await factorClient(api).tryLogin(user)).status).toBe(200);
  });
});
