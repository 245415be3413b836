import { describe, expect, it } from 'vitest';
import { outcome, refusal, serviceForThisFile } from '../../support/acceptance.ts';
import { uniqueEmail } from '../../support/client.ts';
import { createMemoryUser, unknownId } from '../../support/memory-users.ts';

const { api } = await serviceForThisFile();
const put = (id: string | number, json: unknown) => api('PUT', `/api/v1/users/${id}`, { json });
const get = async (id: number) => (await api('GET', `/api/v1/users/${id}`)).body;
const other = await createMemoryUser(api);

describe('PUT /api/v1/users/{id}', () => {
  it('replaces name and email and answers 200 with the user', async () => {
    const created = await createMemoryUser(api);
    const email = uniqueEmail();

    const answer = await put(created.id, { name: 'New', email, id: 99, createdAt: 'x' });

    expect(outcome(answer)).toEqual([200, { ...created, name: 'New', email }]);
    expect(await get(created.id)).toEqual(answer.body);
  });

  it('frees the old address and takes the new one', async () => {
    const { id, email } = await createMemoryUser(api);
    const moved = uniqueEmail();

    await put(id, { name: 'n', email: moved });

    expect((await createMemoryUser(api, { email })).email).toBe(email);
    const taken = await api('POST', '/api/v1/users', { json: { name: 'n', email: moved } });
    expect(outcome(taken)).toEqual(refusal(409, 'Email already exists'));
  });

  it('answers 400 Name and email required to an empty name and changes nothing', async () => {
    const created = await createMemoryUser(api);

    const answer = await put(created.id, { name: '', email: 'a@b' });

    expect(outcome(answer)).toEqual(refusal(400, 'Name and email required'));
    expect(await get(created.id)).toEqual(created);
  });

  it('answers 409 to the address of another user and changes nothing', async () => {
    const created = await createMemoryUser(api);

    const answer = await put(created.id, { name: 'New', email: other.email.toUpperCase() });

    expect(outcome(answer)).toEqual(refusal(409, 'Email already exists'));
    expect(await get(created.id)).toEqual(created);
  });

  it.each([
    ['a field is missing', { json: {} }],
    ['there is no body', {}],
    ['the body is not JSON', { body: '{', headers: { 'content-type': 'application/json' } }],
    ['the body is of another type', { body: 'x', headers: { 'content-type': 'text/plain' } }],
    ['another user has the address', { json: { name: 'n', email: other.email } }],
  ])('answers 404 to an unknown id also when %s', async (_, request) => {
    const answer = await api('PUT', `/api/v1/users/${unknownId}`, request);

    expect(outcome(answer)).toEqual(refusal(404, 'User not found'));
  });
});
