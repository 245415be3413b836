import type { APIGatewayProxyEventV2 } from 'aws-lambda';
import { afterAll, describe, expect, it, vi } from 'vitest';
import type { Handler } from '../../lib/endpoint.ts';
import { listUsers, serviceForThisFile } from '../acceptance.ts';
import { register, uniqueEmail } from '../client.ts';
import { gatewayEvent } from '../event.ts';

// A service refuses to start with it. A function in AWS finds out when it needs it: so these tests
// call functions on the tables of a service that has a sound one.
const { api, adminToken, environment } = await serviceForThisFile();
const account = await register(api);
vi.spyOn(console, 'error').mockReturnValue();
const credentials = { AWS_ACCESS_KEY_ID: 'test', AWS_SECRET_ACCESS_KEY: 'test' };
const settings = { ...environment, AWS_REGION: 'us-east-1', ...credentials, BCRYPT_COST: '99' };
for (const [name, value] of Object.entries(settings)) vi.stubEnv(name, value);
afterAll(() => {
  vi.unstubAllEnvs();
  vi.restoreAllMocks();
});

const { handler: registration } = await import('../../functions/auth/register.ts');
const { handler: creation } = await import('../../functions/users/create.ts');
const { handler: update } = await import('../../functions/users/update.ts');
const { handler: login } = await import('../../functions/auth/login.ts');

type Target = Partial<Pick<APIGatewayProxyEventV2, 'pathParameters'>>;

const send = async (handler: Handler, json: object, target: Target = {}) => {
  const headers = { 'content-type': 'application/json', authorization: `Bearer ${adminToken}` };
  const event = { ...gatewayEvent({ headers, body: JSON.stringify(json) }), ...target };
  const { statusCode, body } = await handler(event, {});
  return [statusCode, JSON.parse(body ?? '')];
};

const hashingFault = [500, { message: 'Error hashing password', hashErr: 'ConfigError' }];
const newUser = () => ({ name: 'n', email: uniqueEmail(), password: 'p' });
const entries = async () =>
  (await api('GET', '/api/admin/audit-logs', { token: adminToken })).body.data;

describe('With a BCRYPT_COST that is out of range', () => {
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
    '%s answers 500 with hashErr, stores nothing and leaves no entry',
    async (_, handler, json, target) => {
      const before = [await listUsers(api, adminToken), await entries()];

      const answer = await send(handler, json, target);

      expect(answer).toEqual(hashingFault);
      expect([await listUsers(api, adminToken), await entries()]).toEqual(before);
    },
  );

  it('still lets users log in, whose hash it need not make', async () => {
    expect(await send(login, account)).toEqual([
      200,
      { message: 'Login successful', token: expect.any(String) },
    ]);
  });

  it.each([
    [401, 'Invalid credentials', account.email],
    [404, 'User is not registered', uniqueEmail()],
  ])('still refuses others with %i %s', async (status, message, email) => {
    expect(await send(login, { email, password: 'wrong' })).toEqual([status, { message }]);
  });
});
