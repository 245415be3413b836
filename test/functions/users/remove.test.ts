import { describe, expect, it } from 'vitest';
import {
  entriesOf,
  listUsers,
  outcome,
  refusal,
  serviceForThisFile,
  uniqueAgent,
} from '../../support/acceptance.ts';
import { register } from '../../support/client.ts';

const service = await serviceForThisFile();
const { api, adminToken } = service;
const remove = (id: number, headers = {}) =>
  api('DELETE', `/api/users/${id}`, { token: adminToken, headers });
const notFound = refusal(404, 'User not found');

describe('DELETE /api/users/{id}', () => {
  it('leaves nothing of the user behind, and makes the address but never the id available again', async () => {
    const { id, email, password } = await register(api);

    await remove(id);

    const get = await api('GET', `/api/users/${id}`, { token: adminToken });
    expect(outcome(get)).toEqual(notFound);
    const login = await api('POST', '/api/login', { json: { email, password } });
    expect(outcome(login)).toEqual(refusal(404, 'User is not registered'));
    expect((await listUsers(api, adminToken)).map((user) => user.id)).not.toContain(id);
    expect((await register(api, { email })).id).toBeGreaterThan(id);
  });

  it('lets only one of twenty simultaneous deletions succeed', async () => {
    const agent = uniqueAgent();
    const { id } = await register(api);

    const answers = await Promise.all(
      Array.from({ length: 20 }, () => remove(id, { 'user-agent': agent })),
    );

    expect(answers.map(({ status }) => status).sort()).toEqual([204, ...Array(19).fill(404)]);
    expect(await entriesOf(service, agent)).toHaveLength(1);
  });
});
