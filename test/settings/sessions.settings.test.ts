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
import { logIn, register } from '../support/client.ts';
import { sessionIn } from '../support/examples.ts';
import { claimsWith, signToken } from '../support/tokens.ts';

const { api, jwtSecret } = await serviceForThisFile({ SESSION_DAYS: '90' });

describe('With SESSION_DAYS=90', () => {
  it('a token names the session in its protected header, and has the five claims', async () => {
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

  it('the stored role decides, not the role in the token', async () => {
    const user = await register(api);
    const header = decodeProtectedHeader(user.token);
    const token = signToken(claimsWith({ id: user.id, role: 'admin' }), jwtSecret, header);

    const answer = await api('GET', '/api/admin/audit-logs', { token });

    expect(outcome(answer)).toEqual(refusal(403, 'Forbidden'));
  });

  it('the list has all sessions of the user, newest first, with the session of the request', async () => {
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
