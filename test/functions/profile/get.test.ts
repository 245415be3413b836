import { describe, expect, it } from 'vitest';
import { outcome, refusal, serviceForThisFile } from '../../support/acceptance.ts';
import { register } from '../../support/client.ts';

const service = await serviceForThisFile();
const { api, adminToken } = service;
const get = (token: string) => api('GET', '/api/profile', { token });

describe('GET /api/profile', () => {
  it('answers id, name, email and role of the caller, and nothing else', async () => {
    const { id, name, email, token } = await register(api);

    const { status, body } = await get(token);

    expect(status).toBe(200);
    expect(body).toEqual({ data: { id, name, email, role: 'user' } });
  });

  it('answers the values that are stored now, not the values for which the token was issued', async () => {
    const { id, token } = await register(api);
    await api('PUT', `/api/users/${id}`, {
      token: adminToken,
      json: { name: 'New', role: 'admin' },
    });

    const { body } = await get(token);

    expect(body.data).toMatchObject({ name: 'New', role: 'admin' });
  });

  it('answers 404 once the user is deleted', async () => {
    const { id, token } = await register(api);
    await api('DELETE', `/api/users/${id}`, { token: adminToken });

    expect(outcome(await get(token))).toEqual(refusal(404, 'User not found'));
  });
});
