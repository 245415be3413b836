import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { isoTimestamp, outcome, refusal, serviceForThisFile } from '../../support/acceptance.ts';
import { uniqueEmail } from '../../support/client.ts';
import { createMemoryUser, unknownId } from '../../support/memory-users.ts';

const { api } = await serviceForThisFile();
const post = (json: unknown) => api('POST', '/api/v1/users', { json });
const notFound = refusal(404, 'User not found');

// test/properties/in-memory-users.test.ts compares all six operations with a model; these tests check exact responses.
describe('POST /api/v1/users', () => {
  it('answers 201 with the new user, and keeps name and email as they were given', async () => {
    const fields = { name: ' Ada ', email: ` no address ${randomUUID()} ` };

    const { status, body } = await post({ ...fields, id: 99 });

    expect(status).toBe(201);
    expect(body).toEqual({ id: expect.any(Number), ...fields, createdAt: isoTimestamp });
  });

  it('needs no token, and ignores a bad one', async () => {
    const { status } = await api('POST', '/api/v1/users', {
      json: { name: 'n', email: uniqueEmail() },
      token: 'nonsense',
    });

    expect(status).toBe(201);
  });

  it('answers 409 to a taken address in any letter case and normal form, but not with white space', async () => {
    const email = `zoë.${uniqueEmail()}`;
    await post({ name: 'n', email });

    const answers = [
      await post({ name: 'n', email: email.toUpperCase() }),
      await post({ name: 'n', email: email.normalize('NFD') }),
      await post({ name: 'n', email: ` ${email}` }),
    ];

    const taken = refusal(409, 'Email already exists');
    expect(answers.map(outcome)).toEqual([taken, taken, [201, expect.anything()]]);
  });

  it('lets only one of twenty simultaneous requests create a user of an address', async () => {
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

  it.each([
    ['a field is missing', { json: {} }],
    ['there is no body', {}],
    ['the body is not JSON', { body: '{', headers: { 'content-type': 'application/json' } }],
    ['the body is of another type', { body: 'x', headers: { 'content-type': 'text/plain' } }],
    ['another user has the address', { json: { name: 'n', email: other.email } }],
  ])('answers 404 to an unknown id even if %s', async (_, request) => {
    const answer = await api('PUT', `/api/v1/users/${unknownId}`, request);

    expect(outcome(answer)).toEqual(notFound);
  });
});

describe('PATCH /api/v1/users/{id}', () => {
  it.each([{}, { name: 1 }])('answers 404 to an unknown id even with %j', async (fields) => {
    const answer = await api('PATCH', `/api/v1/users/${unknownId}`, { json: fields });

    expect(outcome(answer)).toEqual(notFound);
  });
});
