import { decodeJwt, decodeProtectedHeader } from 'jose';
import { describe, expect, it } from 'vitest';
import { readableAgent } from '../../functions/console/web/trail/agent.ts';
import {
  isoTimestamp,
  outcome,
  refusal,
  serviceForThisFile,
  uniqueAgent,
} from '../support/acceptance.ts';
import { type Account, logIn, register } from '../support/client.ts';
import { sessionIn } from '../support/examples.ts';
import { claimsWith, signToken } from '../support/tokens.ts';

const { api, adminToken, jwtSecret } = await serviceForThisFile({ SESSION_DAYS: '90' });

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

  it('a session keeps enough of a user agent to name the browser of a telephone', async () => {
    const user = await register(api);
    const agent =
      'Mozilla/5.0 (iPhone; CPU iPhone OS 17_5_1 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/17.5 Mobile/15E148 Safari/604.1';
    const headers = { 'user-agent': agent };
    const { body } = await api('POST', '/api/login', { json: user, headers });
    const { token } = body;

    const sessions = (await api('GET', `/api/users/${user.id}/sessions`, { token })).body.data;

    const own = sessions.find(({ current }: { current: boolean }) => current);
    expect(readableAgent(own.user_agent)).toBe('Safari 17 on iOS');
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

  it('the stored role decides, not that of the token', async () => {
    const user = await register(api);
    const header = decodeProtectedHeader(user.token);
    const token = signToken(claimsWith({ id: user.id, role: 'admin' }), jwtSecret, header);

    const answer = await api('GET', '/api/admin/audit-logs', { token });

    expect(outcome(answer)).toEqual(refusal(403, 'Forbidden'));
  });

  it('admins end all sessions of another user, and of nobody else; later ones are good', async () => {
    const [user, bystander] = [await register(api), await register(api)];
    const other = await logIn(api, user);

    const { status, text } = await endAll(user);

    expect([status, text]).toEqual([204, '']);
    for (const token of [user.token, other]) expect(outcome(await profile(token))).toEqual(invalid);
    for (const token of [adminToken, bystander.token, await logIn(api, user)]) {
      expect((await profile(token)).status).toBe(200);
    }
  });

  it('the list has the sessions of the user, newest first, with that of the request', async () => {
    const user = await register(api);
    const agent = uniqueAgent();
    const headers = { 'user-agent': agent };
    const { body: login } = await api('POST', '/api/login', { json: user, headers });
    const path = `/api/users/${user.id}/sessions`;

    const { status, body } = await api('GET', path, { token: user.token });

    expect(status).toBe(200);
    const shown = {
      created_at: isoTimestamp,
      last_used_at: isoTimestamp,
      expires_at: isoTimestamp,
      ip_address: expect.any(String),
      user_agent: expect.any(String),
    };
    expect(body.data).toEqual([
      { ...shown, id: sessionIn(login), user_agent: agent, current: false },
      { ...shown, id: sessionIn(user), current: true },
    ]);
    const [{ created_at, last_used_at, expires_at }] = body.data;
    expect(last_used_at).toBe(created_at);
    const idleDays = 30 * 86_400_000;
    expect(Math.abs(Date.parse(expires_at) - Date.parse(created_at) - idleDays)).toBeLessThan(1000);
    const gone = await api('DELETE', `${path}/expires_at`, { token: user.token });
    expect(outcome(gone)).toEqual(refusal(404, 'Session not found'));
  });
});
