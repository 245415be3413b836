import { describe, expect, it } from 'vitest';
import { outcome, refusal, serviceForThisFile } from '../../support/acceptance.ts';
import { type Account, logIn, register } from '../../support/client.ts';

const { api, adminToken } = await serviceForThisFile({ SESSION_DAYS: '90' });

const invalid = refusal(401, 'Invalid token');
const profile = (token: string) => api('GET', '/api/profile', { token });
const endOthers = ({ id }: Account, token: string) =>
  api('DELETE', `/api/users/${id}/sessions`, { token });
/** Logs a user in. @returns the account with the new token */
const enter = async (user: Account) => ({ ...user, token: await logIn(api, user) });

describe('DELETE /api/users/{id}/sessions', () => {
  it('ends all sessions of another user for an admin, and of nobody else; later ones are good', async () => {
    const [user, bystander] = [await register(api), await register(api)];
    const other = await enter(user);

    const { status, text } = await endOthers(user, adminToken);

    expect([status, text]).toEqual([204, '']);
    for (const { token } of [user, other]) {
      expect(outcome(await profile(token))).toEqual(invalid);
    }
    for (const token of [adminToken, bystander.token, await logIn(api, user)]) {
      expect((await profile(token)).status).toBe(200);
    }
  });
});
