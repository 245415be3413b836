import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { isoTimestamp, outcome, refusal, serviceForThisFile } from '../../support/acceptance.ts';
import { uniqueEmail } from '../../support/client.ts';
import { createMemoryUser } from '../../support/memory-users.ts';

const { api } = await serviceForThisFile();
const post = (json: unknown) => api('POST', '/api/v1/users', { json });

describe('POST /api/v1/users', () => {
  it('answers 201 with the new user, whose name and email are kept as they were given', async () => {
    const fields = { name: ' Ada ', email: ` no address ${randomUUID()} ` };

    const { status, body } = await post({ ...fields, id: 99 });

    expect(status).toBe(201);
    expect(body).toEqual({ id: expect.any(Number), ...fields, createdAt: isoTimestamp });
  });

  it('never assigns an id again', async () => {
    const gone = await createMemoryUser(api);

    await api('DELETE', `/api/v1/users/${gone.id}`);

    expect((await createMemoryUser(api)).id).toBeGreaterThan(gone.id);
  });

  it('needs no token, and takes no notice of a bad one', async () => {
    const { status } = await api('POST', '/api/v1/users', {
      json: { name: 'n', email: uniqueEmail() },
      token: 'nonsense',
    });

    expect(status).toBe(201);
  });

  it('answers 409 to an address that is taken, in whatever letter case', async () => {
    const { email } = await createMemoryUser(api);

    const answers = [
      await post({ name: 'n', email }),
      await post({ name: 'n', email: email.toUpperCase() }),
    ];

    expect(answers.map(outcome)).toEqual(Array(2).fill(refusal(409, 'Email already exists')));
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
