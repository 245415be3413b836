import { describe, expect, it } from 'vitest';
import { outcome, refusal, serviceForThisFile } from '../../support/acceptance.ts';
import { logIn, register } from '../../support/client.ts';

const { api } = await serviceForThisFile({ SESSION_DAYS: '90' });
const invalid = refusal(401, 'Invalid token');
const profile = (token: string) => api('GET', '/api/profile', { token });

describe('POST /api/logout', () => {
  it('ends only the session of its token, and takes no parameter', async () => {
    const user = await register(api);
    const other = await logIn(api, user);
    const logOut = (query = '') => api('POST', `/api/logout${query}`, { token: user.token });

    expect(outcome(await logOut('?scope=all'))).toEqual(
      refusal(400, 'scope is unknown; there are no parameters'),
    );
    const { status, text } = await logOut();

    expect([status, text]).toEqual([204, '']);
    expect(outcome(await profile(user.token))).toEqual(invalid);
    expect(outcome(await logOut())).toEqual(invalid);
    expect((await profile(other)).status).toBe(200);
  });
});
