import { describe, expect, it } from 'vitest';
import { outcome, refusal, serviceForThisFile } from '../../support/acceptance.ts';
import { logIn, register } from '../../support/client.ts';

const service = await serviceForThisFile({ SESSION_DAYS: '90' });
const { api, adminToken } = service;

const revoke = (id: number, token: string) =>
  api('POST', `/api/users/${id}/revocations`, { token });
const profile = (token: string) => api('GET', '/api/profile', { token });

describe('POST /api/users/{id}/revocations', () => {
  it('ends all sessions of the user and of nobody else; those that begin later are good', async () => {
    const [user, bystander] = [await register(api), await register(api)];
    const other = await logIn(api, user);

    const { status, text } = await revoke(user.id, adminToken);

    expect([status, text]).toEqual([204, '']);
    for (const token of [user.token, other]) {
      expect(outcome(await profile(token))).toEqual(refusal(401, 'Invalid token'));
    }
    expect((await profile(bystander.token)).status).toBe(200);
    expect((await profile(await logIn(api, user))).status).toBe(200);
  });
});
