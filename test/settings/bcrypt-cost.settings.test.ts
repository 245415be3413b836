import { describe, expect, it } from 'vitest';
import { handler as login } from '../../functions/auth/login.ts';
import { handler as registration } from '../../functions/auth/register.ts';
import { handler as creation } from '../../functions/users/create.ts';
import { handler as update } from '../../functions/users/update.ts';
import { listUsers, serviceForThisFile } from '../support/acceptance.ts';
import { register, uniqueEmail } from '../support/client.ts';
import { invoke, stubSettings } from './invoke.ts';

const service = await serviceForThisFile();
const { api, adminToken } = service;
const account = await register(api);
stubSettings(service, { BCRYPT_COST: '99' });

const headers = { authorization: `Bearer ${adminToken}` };
const hashingFault = [500, { message: 'Error hashing password', hashErr: 'ConfigError' }];
const newUser = () => ({ name: 'n', email: uniqueEmail(), password: 'p' });
const entries = async () =>
  (await api('GET', '/api/admin/audit-logs', { token: adminToken })).body.data;

describe('Where BCRYPT_COST is out of range,', () => {
  it.each([
    ['POST /api/auth/register', registration, newUser(), {}],
    ['POST /api/users', creation, newUser(), {}],
    [
      'PUT /api/users/{id}',
      update,
      { name: 'New', password: 'new' },
      { pathParameters: { id: String(account.id) } },
    ],
  ])(
    '%s responds with 500 and hashErr, stores nothing and leaves no entry',
    async (_, handler, json, target) => {
      const before = [await listUsers(api, adminToken), await entries()];

      const answer = await invoke(handler, { json, headers, ...target });

      expect(answer).toEqual(hashingFault);
      expect([await listUsers(api, adminToken), await entries()]).toEqual(before);
    },
  );

  it('users still log in, because that needs no new hash', async () => {
    expect(await invoke(login, { json: account })).toEqual([
      200,
      { message: 'Login successful', token: expect.any(String) },
    ]);
  });
});
