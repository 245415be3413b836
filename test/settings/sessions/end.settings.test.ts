import { describe, expect, it } from 'vitest';
import {
  entriesOf,
  outcome,
  refusal,
  serviceForThisFile,
  uniqueAgent,
} from '../../support/acceptance.ts';
import { type Account, logIn, register } from '../../support/client.ts';
import { sessionIn } from '../../support/examples.ts';

const service = await serviceForThisFile({ SESSIONS: 'revocable' });
const { api } = service;

const profile = (token: string) => api('GET', '/api/profile', { token });
const end = ({ id }: Account, session: string, token: string, headers = {}) =>
  api('DELETE', `/api/users/${id}/sessions/${session}`, { token, headers });
/** Logs a user in. @returns the account with the new token */
const enter = async (user: Account) => ({ ...user, token: await logIn(api, user) });

describe('DELETE /api/users/{id}/sessions/{session}', () => {
  it('ends that session and no other one, and leaves a LOGOUT entry', async () => {
    const user = await register(api);
    const other = await enter(user);
    const agent = uniqueAgent();

    const answer = await end(user, sessionIn(other), user.token, { 'user-agent': agent });

    expect([answer.status, answer.text]).toEqual([204, '']);
    expect(outcome(await profile(other.token))).toEqual(refusal(401, 'Invalid token'));
    expect((await profile(user.token)).status).toBe(200);
    expect(await entriesOf(service, agent)).toEqual([
      expect.objectContaining({
        action: 'LOGOUT',
        result: 'SUCCESS',
        user_id: user.id,
        resource_id: String(user.id),
        details: JSON.stringify({ session: sessionIn(other) }),
      }),
    ]);
  });

  it('answers 404 to a session that has ended, is another user’s, or is none', async () => {
    const [user, stranger] = [await register(api), await register(api)];
    const other = await enter(user);
    await end(user, sessionIn(other), user.token);

    for (const session of [sessionIn(other), sessionIn(stranger), 'expires_at', 'A'.repeat(22)]) {
      expect(outcome(await end(user, session, user.token))).toEqual(
        refusal(404, 'Session not found'),
      );
    }
    expect((await profile(stranger.token)).status).toBe(200);
  });
});
