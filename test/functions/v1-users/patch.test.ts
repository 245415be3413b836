import { describe, expect, it } from 'vitest';
import { outcome, refusal, serviceForThisFile } from '../../support/acceptance.ts';
import { uniqueEmail } from '../../support/client.ts';
import { createMemoryUser, unknownId } from '../../support/memory-users.ts';

const { api } = await serviceForThisFile();
const patch = (id: string | number, json: unknown) => api('PATCH', `/api/v1/users/${id}`, { json });
const get = async (id: number) => (await api('GET', `/api/v1/users/${id}`)).body;

describe('PATCH /api/v1/users/{id}', () => {
  it.each([{ name: ' ' }, { email: uniqueEmail() }, { name: 'New', email: uniqueEmail() }])(
    'changes what is supplied, such as %j, and answers 200 with the user',
    async (fields) => {
      const created = await createMemoryUser(api);

      const answer = await patch(created.id, fields);

      expect(outcome(answer)).toEqual([200, { ...created, ...fields }]);
      expect(await get(created.id)).toEqual(answer.body);
    },
  );

  it('answers 200 to empty fields, which supply nothing, and changes nothing', async () => {
    const created = await createMemoryUser(api);

    const answer = await patch(created.id, { name: '', email: null, id: 99, createdAt: 'x' });

    expect(outcome(answer)).toEqual([200, created]);
    expect(await get(created.id)).toEqual(created);
  });

  it('answers 409 to the address of another user and changes nothing', async () => {
    const [created, other] = [await createMemoryUser(api), await createMemoryUser(api)];

    const answer = await patch(created.id, { name: 'New', email: other.email });

    expect(outcome(answer)).toEqual(refusal(409, 'Email already exists'));
    expect(await get(created.id)).toEqual(created);
  });

  it.each([{}, { name: 1 }])('answers 404 to an unknown id also with %j', async (fields) => {
    expect(outcome(await patch(unknownId, fields))).toEqual(refusal(404, 'User not found'));
  });
});
