import { describe, expect, it } from 'vitest';
import { outcome, serviceForThisFile } from '../../support/acceptance.ts';
import { createMemoryUser } from '../../support/memory-users.ts';

const { api } = await serviceForThisFile();
const get = (id: string | number) => api('GET', `/api/v1/users/${id}`);

describe('GET /api/v1/users/{id}', () => {
  it('answers 200 with the user', async () => {
    const created = await createMemoryUser(api);

    expect(outcome(await get(created.id))).toEqual([200, created]);
  });
});
