import { describe, expect, it } from 'vitest';
import { isoTimestamp, serviceForThisFile } from '../../support/acceptance.ts';
import { register } from '../../support/client.ts';

const { api } = await serviceForThisFile();
const caller = await register(api);
const get = (id: number) => api('GET', `/api/users/${id}`, { token: caller.token });

describe('GET /api/users/{id}', () => {
  it('answers the user, without a password', async () => {
    const { status, body } = await get(caller.id);

    expect(status).toBe(200);
    expect(body).toEqual({
      id: caller.id,
      name: caller.name,
      email: caller.email,
      role: 'user',
      created_at: isoTimestamp,
    });
  });
});
