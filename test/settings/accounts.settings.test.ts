import { describe, expect, it } from 'vitest';
import {
  listUsers,
  nextPage,
  outcome,
  refusal,
  serviceForThisFile,
} from '../support/acceptance.ts';
import { register } from '../support/client.ts';

const { api, adminToken } = await serviceForThisFile({ ACCOUNTS: 'private' });
const [user, other] = [await register(api), await register(api)];
const get = (path: string, token: string) => api('GET', path, { token });

describe('Where ACCOUNTS is private,', () => {
  it('GET /api/users shows users only themselves', async () => {
    const answer = await get('/api/users', user.token);

    expect(answer.status).toBe(200);
    expect(answer.body).toEqual([expect.objectContaining({ id: user.id, email: user.email })]);
    expect(nextPage(answer)).toBeUndefined();
  });

  it('GET /api/users still checks its parameters', async () => {
    expect(outcome(await get('/api/users?limit=0', user.token))).toEqual(
      refusal(400, 'limit must be a whole number from 1 to 1000'),
    );
  });

  it('GET /api/users shows an admin every user', async () => {
    const ids = (await listUsers(api, adminToken)).map(({ id }) => id);

    expect(ids).toEqual(expect.arrayContaining([user.id, other.id]));
  });

  it('GET /api/users?email= lets users find only themselves, and an admin everybody', async () => {
    const found = async (email: string, token: string) =>
      (await get(`/api/users?email=${email}`, token)).body.map(({ id }: { id: number }) => id);

    expect(await found(user.email.toUpperCase(), user.token)).toEqual([user.id]);
    expect(await found(other.email, user.token)).toEqual([]);
    expect(await found(other.email, adminToken)).toEqual([other.id]);
  });

  it('a deleted user sees no users', async () => {
    const gone = await register(api);
    await api('DELETE', `/api/users/${gone.id}`, { token: adminToken });

    expect(outcome(await get('/api/users', gone.token))).toEqual([200, []]);
    expect(outcome(await get(`/api/users/${gone.id}`, gone.token))).toEqual(
      refusal(404, 'User not found'),
    );
  });
});
