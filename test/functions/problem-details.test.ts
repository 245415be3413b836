import { describe, expect, it } from 'vitest';
import { serviceForThisFile } from '../support/acceptance.ts';
import { register } from '../support/client.ts';

const { api, adminToken } = await serviceForThisFile();
const media = 'application/problem+json';
const ask = (method: string, path: string, options: Parameters<typeof api>[2] = {}) =>
  api(method, path, { ...options, headers: { accept: media, ...options.headers } });

describe('A client that asks for problem details', () => {
  it('is told type, title, status and code', async () => {
    const { status, headers, body } = await ask('GET', '/api/profile');

    expect([status, headers.get('content-type')]).toEqual([401, media]);
    expect(headers.get('www-authenticate')).toBe('Bearer');
    expect(headers.get('error-code')).toBe('NO_TOKEN');
    expect(body).toEqual({
      type: '/docs#NO_TOKEN',
      title: 'No token provided',
      status: 401,
      code: 'NO_TOKEN',
    });
  });

  it('is told every fault of a body, in the order of the fields', async () => {
    const json = { name: 'x'.repeat(101), password: 7, email: '' };

    const { status, body } = await ask('POST', '/api/auth/register', { json });

    expect(status).toBe(400);
    expect(body).toEqual({
      type: '/docs#FIELDS_REQUIRED',
      title: 'All fields are required',
      status: 400,
      code: 'FIELDS_REQUIRED',
      errors: [
        { pointer: '#/name', code: 'TOO_LONG', detail: 'name must be at most 100 characters' },
        { pointer: '#/email', code: 'REQUIRED', detail: 'email is required' },
        { pointer: '#/password', code: 'WRONG_TYPE', detail: 'password must be a string' },
      ],
    });
  });

  it('is told of a parameter by the title alone', async () => {
    const { body } = await ask('GET', '/api/users?limit=0', { token: adminToken });

    expect(body).toEqual({
      type: '/docs#PARAMETER_INVALID',
      title: 'limit must be a whole number from 1 to 1000',
      status: 400,
      code: 'PARAMETER_INVALID',
    });
  });

  it('gets a success in the usual form', async () => {
    const { token } = await register(api);

    const { status, headers, body } = await ask('GET', '/api/profile', { token });

    expect([status, headers.get('content-type')]).toEqual([200, 'application/json; charset=utf-8']);
    expect(Object.keys(body)).toEqual(['data']);
  });

  it('gets what the gateway answers by itself in the gateway’s form', async () => {
    const { status, text } = await ask('GET', '/nowhere');

    expect([status, text]).toEqual([404, '{"message":"Not Found"}']);
  });
});
