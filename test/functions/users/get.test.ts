import { describe, expect, it } from 'vitest';
import {
  entriesOf,
  isoTimestamp,
  outcome,
  refusal,
  serviceForThisFile,
  uniqueAgent,
} from '../../support/acceptance.ts';
import { register } from '../../support/client.ts';

const service = await serviceForThisFile();
const { api, adminToken } = service;
const caller = await register(api);
const get = (id: string | number, headers = {}) =>
  api('GET', `/api/users/${id}`, { token: caller.token, headers });

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

  it('answers other users too', async () => {
    const other = await register(api);

    expect((await get(other.id)).body).toMatchObject({ id: other.id, email: other.email });
  });

  it('answers 404 to an id that nobody has', async () => {
    expect(outcome(await get(9_007_199_254_740_991))).toEqual(refusal(404, 'User not found'));
  });

  it('answers 404 once the user is deleted', async () => {
    const { id } = await register(api);
    await api('DELETE', `/api/users/${id}`, { token: adminToken });

    expect(outcome(await get(id))).toEqual(refusal(404, 'User not found'));
  });

  it('leaves no audit entry', async () => {
    const agent = uniqueAgent();

    await get(caller.id, { 'user-agent': agent });

    expect(await entriesOf(service, agent)).toEqual([]);
  });
});
