import { decodeJwt } from 'jose';
import { describe, expect, it } from 'vitest';
import {
  entriesOf,
  isoTimestamp,
  outcome,
  refusal,
  serviceForThisFile,
  uniqueAgent,
} from '../../support/acceptance.ts';
import { logIn, register, uniqueEmail } from '../../support/client.ts';

const service = await serviceForThisFile();
const { api, adminToken } = service;
const caller = await register(api);
const post = (token: string, json: unknown, headers = {}) =>
  api('POST', '/api/users', { token, json, headers });
const newUser = (fields = {}) => ({ name: 'n', email: uniqueEmail(), password: 'p', ...fields });

describe('POST /api/users', () => {
  it('answers 201 with the new user, which has no password', async () => {
    const fields = newUser({ name: 'Grace' });

    const { status, body } = await post(caller.token, fields);

    expect(status).toBe(201);
    expect(body).toEqual({
      id: expect.any(Number),
      name: 'Grace',
      email: fields.email,
      role: 'user',
      created_at: isoTimestamp,
    });
  });

  it('creates a user who can be read and can log in', async () => {
    const fields = newUser();

    const { body } = await post(caller.token, fields);

    const stored = await api('GET', `/api/users/${body.id}`, { token: caller.token });
    expect(outcome(stored)).toEqual([200, body]);
    expect(decodeJwt(await logIn(api, fields))).toMatchObject({ id: body.id, role: 'user' });
  });

  it.each([
    ['user', null],
    ['admin', '{"role":"admin"}'],
  ])('lets an admin create a user of role %s, whose entry says %s', async (role, details) => {
    const fields = newUser({ role });
    const agent = uniqueAgent();

    const { status, body } = await post(adminToken, fields, { 'user-agent': agent });

    expect([status, body.role]).toEqual([201, role]);
    expect(decodeJwt(await logIn(api, fields)).role).toBe(role);
    expect(await entriesOf(service, agent)).toEqual([
      expect.objectContaining({ action: 'CREATE', resource_id: String(body.id), details }),
    ]);
  });

  it.each([
    ['demoted', 'PUT', { json: { role: 'user' } }],
    ['deleted', 'DELETE', {}],
  ])('answers 403 to the token of an admin who was %s and asks for an admin', async (...row) => {
    const [, method, options] = row;
    const admin = await post(adminToken, newUser({ email: uniqueEmail(), role: 'admin' }));
    const token = await logIn(api, { email: admin.body.email, password: 'p' });
    await api(method, `/api/users/${admin.body.id}`, { token: adminToken, ...options });
    const fields = newUser({ role: 'admin' });

    const answer = await post(token, fields);

    expect(outcome(answer)).toEqual(refusal(403, 'Forbidden'));
    expect((await post(token, { ...fields, role: 'user' })).status).toBe(201);
  });

  it('answers 403 to anybody else who asks for an admin, before it looks at the fields', async () => {
    for (const fields of [newUser({ role: 'admin' }), { role: 'admin' }]) {
      expect(outcome(await post(caller.token, fields))).toEqual(refusal(403, 'Forbidden'));
    }
  });

  it('answers 409 to an address that is taken, in whatever letter case', async () => {
    const answer = await post(adminToken, newUser({ email: caller.email.toUpperCase() }));

    expect(outcome(answer)).toEqual(refusal(409, 'Email already registered'));
  });

  it('chooses id and time of creation itself', async () => {
    const { body } = await post(adminToken, newUser({ id: 7, created_at: 'long ago' }));

    expect(body).toMatchObject({ id: expect.any(Number), created_at: isoTimestamp });
    expect(body.id).toBeGreaterThan(caller.id);
  });

  it('records nothing of what it refuses', async () => {
    const headers = { 'user-agent': uniqueAgent() };

    await post(caller.token, {}, headers);
    await post(caller.token, newUser({ role: 'admin' }), headers);
    await post(caller.token, newUser({ email: caller.email }), headers);

    expect(await entriesOf(service, headers['user-agent'])).toEqual([]);
  });
});
