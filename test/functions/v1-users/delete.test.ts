import { describe, expect, it } from 'vitest';
import { outcome, refusal, serviceForThisFile } from '../../support/acceptance.ts';
import { createMemoryUser } from '../../support/memory-users.ts';

const { api } = await serviceForThisFile();
const remove = (id: string | number) => api('DELETE', `/api/v1/users/${id}`);
const notFound = refusal(404, 'User not found');

describe('DELETE /api/v1/users/{id}', () => {
  it('answers 204 without a body, and 404 the second time', async () => {
    const { id } = await createMemoryUser(api);

    const [first, second] = [await remove(id), await remove(id)];

    expect([first.status, first.text]).toEqual([204, '']);
    expect(outcome(second)).toEqual(notFound);
  });

  it('leaves nothing to read or change, and frees the address', async () => {
    const { id, email } = await createMemoryUser(api);

    await remove(id);

    const path = `/api/v1/users/${id}`;
    const json = { name: 'n', email };
    const answers = [
      await api('GET', path),
      await api('PUT', path, { json }),
      await api('PATCH', path, { json }),
    ];
    expect(answers.map(outcome)).toEqual(Array(3).fill(notFound));
    expect((await createMemoryUser(api, { email })).id).toBeGreaterThan(id);
  });
});
