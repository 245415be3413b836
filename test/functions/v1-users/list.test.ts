import { describe, expect, it } from 'vitest';
import { serviceForThisFile } from '../../support/acceptance.ts';
import { createMemoryUser, type MemoryUser } from '../../support/memory-users.ts';

const { api } = await serviceForThisFile();

/** What the list holds of some users, in its order. */
const listed = async (users: readonly MemoryUser[]): Promise<readonly unknown[]> => {
  const { body } = await api('GET', '/api/v1/users');
  const ids = users.map(({ id }) => id);
  return body.filter(({ id }: MemoryUser) => ids.includes(id));
};

describe('GET /api/v1/users', () => {
  it('answers 200 with an array of id, name and email, in the order of the ids', async () => {
    const users = [await createMemoryUser(api), await createMemoryUser(api)];

    const { status } = await api('GET', '/api/v1/users');

    expect(status).toBe(200);
    expect(await listed(users)).toEqual(users.map(({ id, name, email }) => ({ id, name, email })));
  });

  it('lists changed users in their place, and deleted ones no more', async () => {
    const [changed, deleted, last] = [
      await createMemoryUser(api),
      await createMemoryUser(api),
      await createMemoryUser(api),
    ];

    await api('PATCH', `/api/v1/users/${changed.id}`, { json: { name: 'New' } });
    await api('DELETE', `/api/v1/users/${deleted.id}`);

    expect(await listed([changed, deleted, last])).toEqual([
      { id: changed.id, name: 'New', email: changed.email },
      { id: last.id, name: last.name, email: last.email },
    ]);
  });
});
