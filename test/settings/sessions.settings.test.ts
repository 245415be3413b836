import { decodeJwt, decodeProtectedHeader } from 'jose';
import { describe, expect, it } from 'vitest';
import { outcome, refusal } from '../support/acceptance.ts';
import { type Account, logIn, register } from '../support/client.ts';
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

  it('users change their password with the current one, which ends their other sessions', async () => {
    const user = await register(api);
    const other = await logIn(api, user);
    const json = { password: 'another one' };

    expect(outcome(await change(user, json, user.token))).toEqual(
      refusal(400, 'Current password is required'),
    );
    expect(outcome(await change(user, { ...json, currentPassword: 'x' }, user.token))).toEqual(
      refusal(403, 'Current password is wrong'),
    );
    expect((await changeOwn(user, json, user.token)).status).toBe(200);
    expect((await profile(user.token)).status).toBe(200);
    expect(outcome(await profile(other))).toEqual(invalid);
    const changed = { ...user, ...json };
    const token = await logIn(api, changed);
    // The session that went on before ends with the next change of another one.
    expect((await changeOwn(changed, { password: 'the next one' }, token)).status).toBe(200);
    expect(outcome(await profile(user.token))).toEqual(invalid);
    expect((await profile(token)).status).toBe(200);
  });

  it('a body that breaks a rule is refused for that first, and one with the current password alone', async () => {
    const user = await register(api);
    const outcomes = [
      await changeOwn(user, {}, user.token),
      await change(user, { password: 1, currentPassword: 'x' }, user.token),
    ].map(outcome);

    expect(outcomes).toEqual([
      refusal(400, 'No fields to update'),
      refusal(400, 'password must be a string'),
    ]);
  });

  it('a token of a user who was never stored is refused', async () => {
    const token = signToken(claimsWith({ id: 999_999, role: 'admin' }), jwtSecret);

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
