import { describe, expect, it } from 'vitest';
import {
  listUsers,
  nextPage,
  outcome,
  refusal,
  serviceForThisFile,
} from '../support/acceptance.ts';
import { register, uniqueEmail } from '../support/client.ts';

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

  it('GET /api/users/{id} answers 403 for any other id, whether a user has it or not', async () => {
    for (const id of [other.id, 9_007_199_254_740_991, 0, 'x', `0${user.id}`]) {
      expect(outcome(await get(`/api/users/${id}`, user.token))).toEqual(refusal(403, 'Forbidden'));
    }
  });

  it('GET /api/users/{id} shows an admin every user', async () => {
    const { status, body } = await get(`/api/users/${other.id}`, adminToken);

    expect([status, body.email]).toEqual([200, other.email]);
  });

  it('POST /api/users is for admins', async () => {
    const json = { name: 'n', email: uniqueEmail(), password: 'p' };

    expect(outcome(await api('POST', '/api/users', { token: user.token, json }))).toEqual(
      refusal(403, 'Forbidden'),
    );
    expect((await api('POST', '/api/users', { token: adminToken, json })).status).toBe(201);
  });

  it('PUT /api/users/{id} answers 403 for any other id', async () => {
    for (const id of [other.id, 9_007_199_254_740_991, 0, 'x', `0${user.id}`]) {
      const answer = await api('PUT', `/api/users/${id}`, { token: user.token, body: '{' });
      expect(outcome(answer)).toEqual(refusal(403, 'Forbidden'));
    }
  });

  it('a user who was deleted is shown nobody', async () => {
    const gone = await register(api);
    await api('DELETE', `/api/users/${gone.id}`, { token: adminToken });

    expect(outcome(await get('/api/users', gone.token))).toEqual([200, []]);
    expect(outcome(await get(`/api/users/${gone.id}`, gone.token))).toEqual(
      refusal(404, 'User not found'),
    );
  });
});
