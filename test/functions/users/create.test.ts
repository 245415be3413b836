import { decodeJwt } from 'jose';
import { describe, expect, it } from 'vitest';
import {
  entriesOf,
  isoTimestamp,
  outcome,
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
  it('answers 201 with the new user, who can be read and can log in', async () => {
    const fields = newUser({ name: 'Grace', id: 7, created_at: 'long ago' });

    const { status, body } = await post(caller.token, fields);

    expect(status).toBe(201);
    expect(body).toEqual({
      id: expect.any(Number),
      name: 'Grace',
      email: fields.email,
      role: 'user',
      created_at: isoTimestamp,
    });
    expect(body.id).toBeGreaterThan(caller.id);
    const stored = await api('GET', `/api/users/${body.id}`, { token: caller.token });
    expect(outcome(stored)).toEqual([200, body]);
    expect(decodeJwt(await logIn(api, fields))).toMatchObject({ id: body.id, role: 'user' });
  });

  it.each([
    ['user', null],
    ['admin', '{"role":"admin"}'],
  ])(
    'lets an admin create a user with the role %s, with the details %s in its entry',
    async (role, details) => {
      const fields = newUser({ role });
      const agent = uniqueAgent();

      const { status, body } = await post(adminToken, fields, { 'user-agent': agent });

      expect([status, body.role]).toEqual([201, role]);
      expect(decodeJwt(await logIn(api, fields)).role).toBe(role);
      expect(await entriesOf(service, agent)).toEqual([
        expect.objectContaining({ action: 'CREATE', resource_id: String(body.id), details }),
      ]);
    },
  );
});
