import { describe, expect, it } from 'vitest';
import { outcome, refusal, serviceForThisFile } from '../../support/acceptance.ts';
import { type Account, logIn, register } from '../../support/client.ts';
import { sessionIn } from '../../support/examples.ts';

const { api } = await serviceForThisFile({ SESSION_DAYS: '90' });

const profile = (token: string) => api('GET', '/api/profile', { token });
const end = ({ id }: Account, session: string, token: string) =>
  api('DELETE', `/api/users/${id}/sessions/${session}`, { token });
/** Logs a user in. @returns the account with the new token */
const enter = async (user: Account) => ({ ...user, token: await logIn(api, user) });

describe('DELETE /api/users/{id}/sessions/{session}', () => {
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
