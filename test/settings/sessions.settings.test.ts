import { decodeJwt, decodeProtectedHeader } from 'jose';
import { describe, expect, it } from 'vitest';
import { outcome, refusal } from '../support/acceptance.ts';
import { type Account, logIn, makeUser, register, uniqueEmail } from '../support/client.ts';
import { proxiedServiceForThisFile } from '../support/proxied-service.ts';
import { faults } from '../support/proxy.ts';
import { claimsWith, now, signToken } from '../support/tokens.ts';
import { sessionsItem } from '../support/users-table.ts';

const { proxy, service } = await proxiedServiceForThisFile({ SESSION_DAYS: '90' });
const { api, adminToken, jwtSecret, environment } = service;

const invalid = refusal(401, 'Invalid token');
const profile = (token: string) => api('GET', '/api/profile', { token });
const endAll = ({ id }: Account) =>
  api('DELETE', `/api/users/${id}/sessions`, { token: adminToken });
/** A change by an admin, or by whoever has a token. */
const change = ({ id }: Pick<Account, 'id'>, json: object, token = adminToken) =>
  api('PUT', `/api/users/${id}`, { token, json });
/** A change of a user by itself. */
const changeOwn = (user: Pick<Account, 'id' | 'password'>, json: object, token: string) =>
  change(user, { ...json, currentPassword: user.password }, token);

describe('With SESSION_DAYS=90', () => {
  it('a token has the session in its protected header, and the five claims', async () => {
    const user = await register(api);
    const [one, other] = await Promise.all([logIn(api, user), logIn(api, user)]);

    expect(decodeProtectedHeader(one)).toEqual({
      alg: 'HS256',
      typ: 'JWT',
      session: expect.stringMatching(/^[\w-]{22}$/),
      pair: 0,
    });
    expect(Object.keys(decodeJwt(one)).sort()).toEqual(['email', 'exp', 'iat', 'id', 'role']);
    expect(one).not.toBe(other);
  });

  it.each([
    ['its password', () => ({ password: 'another one' })],
    ['its password by the same one', ({ password }: Account) => ({ password })],
    ['its password and its address', () => ({ password: 'another one', email: uniqueEmail() })],
    ['its address', () => ({ email: uniqueEmail() })],
  ])('a user who changes %s ends its other sessions, and goes on', async (_, changes) => {
    const user = await register(api);
    const other = await logIn(api, user);
    const json = changes(user);

    expect((await changeOwn(user, json, user.token)).status).toBe(200);

    expect((await profile(user.token)).status).toBe(200);
    expect(outcome(await profile(other))).toEqual(invalid);
    const changed = { ...user, ...json };
    const token = await logIn(api, changed);
    expect((await profile(token)).status).toBe(200);
    // The session that went on before ends with the next change of another one.
    expect((await changeOwn(changed, { password: 'the next one' }, token)).status).toBe(200);
    expect(outcome(await profile(user.token))).toEqual(invalid);
    expect((await profile(token)).status).toBe(200);
  });

  it('a password that the user’s maker changes ends the sessions of the user, and no others', async () => {
    const { token } = await register(api);
    const made = await makeUser(api, token);
    const itself = await logIn(api, made);

    expect((await change(made, { password: 'another one' }, token)).status).toBe(200);

    expect(outcome(await profile(itself))).toEqual(invalid);
    expect((await profile(token)).status).toBe(200);
    expect((await change(made, { name: 'New' }, token)).status).toBe(200);
  });

  it('a refused change ends no session', async () => {
    const [user, other] = [await register(api), await register(api)];

    const json = { password: 'another one', email: other.email };
    expect((await changeOwn(user, json, user.token)).status).toBe(409);

    expect((await profile(user.token)).status).toBe(200);
  });

  it('a token of a user who was never stored is refused', async () => {
    const token = signToken(claimsWith({ id: 999_999, role: 'admin' }), jwtSecret);

    expect(outcome(await profile(token))).toEqual(invalid);
  });

  it('admins who give up the role end their own session too', async () => {
    const user = await register(api);
    await change(user, { role: 'admin' });
    const token = await logIn(api, user);

    expect((await change(user, { role: 'user' }, token)).status).toBe(200);

    expect(outcome(await profile(token))).toEqual(invalid);
  });

  it.each([
    ['expires_at', 'another attribute of the item'],
    ['A'.repeat(22), 'nobody’s'],
    [0, 'a number'],
    [null, 'null'],
    [undefined, 'absent'],
  ])('a token whose session is %j, %s, is refused', async (session, _) => {
    const { id } = await register(api);
    const header = { alg: 'HS256', typ: 'JWT', session };

    const token = signToken(claimsWith({ id }), jwtSecret, header);

    expect(outcome(await profile(token))).toEqual(invalid);
  });

  it('users have about 50 sessions: those unused for longest end for a new one', async () => {
    const user = await register(api);
    const headers = { 'user-agent': 'é'.repeat(200) };
    const enter = async () =>
      (await api('POST', '/api/login', { json: user, headers })).body.token as string;
    const first = await enter();
    for (let i = 0; i < 110; i += 1) await enter();
    const last = await enter();

    expect(outcome(await profile(user.token))).toEqual(invalid);
    expect(outcome(await profile(first))).toEqual(invalid);
    expect((await profile(last)).status).toBe(200);
    const { pk, expires_at, ...sessions } = (await sessionsItem(service, user.id)) ?? {};
    expect(Object.keys(sessions).length).toBeGreaterThan(50);
    expect(Object.keys(sessions).length).toBeLessThan(110);
    expect(JSON.stringify(sessions).length).toBeLessThan(24_576);
    expect(Number(expires_at)).toBeGreaterThan(now());
  });

  it('ended sessions leave the item at the next login, and all of them with their user', async () => {
    const user = await register(api);
    await logIn(api, user);
    await endAll(user);
    await logIn(api, user);
    const item = () => sessionsItem(service, user.id);

    expect(Object.keys((await item()) ?? {})).toHaveLength(3);

    await api('DELETE', `/api/users/${user.id}`, { token: adminToken });
    expect(await item()).toBeUndefined();
  });

  it('the stored role decides, not that of the token', async () => {
    const user = await register(api);
    const header = decodeProtectedHeader(user.token);
    const token = signToken(claimsWith({ id: user.id, role: 'admin' }), jwtSecret, header);

    const answer = await api('GET', '/api/admin/audit-logs', { token });

    expect(outcome(answer)).toEqual(refusal(403, 'Forbidden'));
  });

  it('every protected request is its 500 while sessions cannot be read, and does nothing', async () => {
    const user = await register(api);
    const { USERS_TABLE: table = '' } = environment;

    proxy.impose({ fault: faults.missingTable, operation: 'BatchGetItem', table });
    const answer = await change(user, { name: 'New' }, user.token);
    proxy.impose();

    const body = { message: 'Error updating user', err: 'ResourceNotFoundException' };
    expect(outcome(answer)).toEqual([500, body]);
    expect((await profile(user.token)).body.data.name).toBe(user.name);
  });
});
