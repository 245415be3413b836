import { describe, expect, it } from 'vitest';
import { outcome, refusal, serviceForThisFile } from '../../support/acceptance.ts';
import { badIds } from '../../support/ids.ts';
import { createMemoryUser, unknownId } from './users.ts';

const { api } = await serviceForThisFile();
const get = (id: string | number) => api('GET', `/api/v1/users/${id}`);

describe('GET /api/v1/users/{id}', () => {
  it('answers 200 with the user', async () => {
    const created = await createMemoryUser(api);

    expect(outcome(await get(created.id))).toEqual([200, created]);
  });

  it.each([unknownId, ...badIds])('answers 404 to id %s', async (id) => {
    expect(outcome(await get(id))).toEqual(refusal(404, 'User not found'));
  });
});
