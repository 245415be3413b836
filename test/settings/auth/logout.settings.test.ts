import { describe, expect, it } from 'vitest';
import { outcome, refusal, serviceForThisFile } from '../../support/acceptance.ts';
import { logIn, register } from '../../support/client.ts';
import { sessionsItem } from '../../support/users-table.ts';

const service = await serviceForThisFile({ SESSION_DAYS: '90' });
const { api } = service;

const invalid = refusal(401, 'Invalid token');
const logOut = (token: string, query = '') => api('POST', `/api/logout${query}`, { token });
const profile = (token: string) => api('GET', '/api/profile', { token });

describe('POST /api/logout', () => {
  it('ends the session of its token, and no other one of the user', async () => {
    const user = await register(api);
    const other = await logIn(api, user);

    const answer = await logOut(user.token);

    expect([answer.status, answer.text]).toEqual([204, '']);
    expect(outcome(await profile(user.token))).toEqual(invalid);
    expect(outcome(await logOut(user.token))).toEqual(invalid);
    expect((await profile(other)).status).toBe(200);
  });

  it('refuses any query parameter, and ends nothing', async () => {
    const { token } = await register(api);

    expect(outcome(await logOut(token, '?scope=all'))).toEqual(
      refusal(400, 'scope is unknown; there are no parameters'),
    );
    expect((await profile(token)).status).toBe(200);
  });

  it('leaves nothing of the session in the table', async () => {
    const { id, token } = await register(api);

    await logOut(token);

    const kept = await sessionsItem(service, id);
    expect(kept).toEqual({ pk: `sessions#${id}`, expires_at: expect.any(Number) });
  });
});
