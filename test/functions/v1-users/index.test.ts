import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { isoTimestamp, outcome, refusal, serviceForThisFile } from '../../support/acceptance.ts';
import { uniqueEmail } from '../../support/client.ts';
import { createMemoryUser, type MemoryUser, unknownId } from '../../support/memory-users.ts';

const { api } = await serviceForThisFile();
type Id = string | number;
const get = (id: Id) => api('GET', `/api/v1/users/${id}`);
const post = (json: unknown) => api('POST', '/api/v1/users', { json });
const put = (id: Id, json: unknown) => api('PUT', `/api/v1/users/${id}`, { json });
const patch = (id: Id, json: unknown) => api('PATCH', `/api/v1/users/${id}`, { json });
const remove = (id: Id) => api('DELETE', `/api/v1/users/${id}`);
const stored = async (id: Id) => (await get(id)).body;
const notFound = refusal(404, 'User not found');

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
});

describe('POST /api/v1/users', () => {
  it('answers 201 with the new user, whose name and email are kept as they were given', async () => {
    const fields = { name: ' Ada ', email: ` no address ${randomUUID()} ` };

    const { status, body } = await post({ ...fields, id: 99 });

    expect(status).toBe(201);
    expect(body).toEqual({ id: expect.any(Number), ...fields, createdAt: isoTimestamp });
  });

  it('needs no token, and takes no notice of a bad one', async () => {
    const { status } = await api('POST', '/api/v1/users', {
      json: { name: 'n', email: uniqueEmail() },
      token: 'nonsense',
    });

    expect(status).toBe(201);
  });

  it('answers 409 to an address that is taken, in whatever letter case and normal form', async () => {
    const email = `zoë.${uniqueEmail()}`;
    await post({ name: 'n', email });

    const answers = [
      await post({ name: 'n', email }),
      await post({ name: 'n', email: email.toUpperCase() }),
      await post({ name: 'n', email: email.normalize('NFD') }),
    ];

    expect(answers.map(outcome)).toEqual(Array(3).fill(refusal(409, 'Email already exists')));
  });

  it('treats an address with white space around it as another one', async () => {
    const { email } = await createMemoryUser(api);

    expect((await post({ name: 'n', email: ` ${email}` })).status).toBe(201);
  });

  it('lets one of twenty simultaneous creations of an address through', async () => {
    const email = uniqueEmail();

    const answers = await Promise.all(Array.from({ length: 20 }, () => post({ name: 'n', email })));

    expect(answers.map(({ status }) => status).sort()).toEqual([201, ...Array(19).fill(409)]);
  });

  it('shares neither users nor addresses with /api/users', async () => {
    const email = uniqueEmail();
    await createMemoryUser(api, { email });

    const json = { name: 'n', email, password: 'p' };
    const { status } = await api('POST', '/api/auth/register', { json });

    expect(status).toBe(201);
  });
});

describe('PUT /api/v1/users/{id}', async () => {
  const other = await createMemoryUser(api);

  it('replaces name and email and answers 200 with the user', async () => {
    const created = await createMemoryUser(api);
    const email = uniqueEmail();

    const answer = await put(created.id, { name: 'New', email, id: 99, createdAt: 'x' });

    expect(outcome(answer)).toEqual([200, { ...created, name: 'New', email }]);
    expect(await stored(created.id)).toEqual(answer.body);
  });

  it.each([
    ['a field is missing', { json: {} }],
    ['there is no body', {}],
    ['the body is not JSON', { body: '{', headers: { 'content-type': 'application/json' } }],
    ['the body is of another type', { body: 'x', headers: { 'content-type': 'text/plain' } }],
    ['another user has the address', { json: { name: 'n', email: other.email } }],
  ])('answers 404 to an unknown id also when %s', async (_, request) => {
    const answer = await api('PUT', `/api/v1/users/${unknownId}`, request);

    expect(outcome(answer)).toEqual(notFound);
  });
});

describe('PATCH /api/v1/users/{id}', () => {
  it('answers 200 to empty fields, which supply nothing, and changes nothing', async () => {
    const created = await createMemoryUser(api);

    const answer = await patch(created.id, { name: '', email: null, id: 99, createdAt: 'x' });

    expect(outcome(answer)).toEqual([200, created]);
    expect(await stored(created.id)).toEqual(created);
  });

  it.each([{}, { name: 1 }])('answers 404 to an unknown id also with %j', async (fields) => {
    expect(outcome(await patch(unknownId, fields))).toEqual(notFound);
  });
});

describe('DELETE /api/v1/users/{id}', () => {
  it('answers 204 without a body, and 404 the second time', async () => {
    const { id } = await createMemoryUser(api);

    const [first, second] = [await remove(id), await remove(id)];

    expect([first.status, first.text]).toEqual([204, '']);
    expect(outcome(second)).toEqual(notFound);
  });
});
