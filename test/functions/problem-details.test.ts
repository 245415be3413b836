import { describe, expect, it } from 'vitest';
import { serviceForThisFile } from '../support/acceptance.ts';
import { register } from '../support/client.ts';

const { api } = await serviceForThisFile();
const media = 'application/problem+json';
const ask = (method: string, path: string, options: Parameters<typeof api>[2] = {}) =>
  api(method, path, { ...options, headers: { accept: media, ...options.headers } });

describe('A client that asks for problem details', () => {
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

  it('gets successful responses in the usual form', async () => {
    const { token } = await register(api);

    const { status, headers, body } = await ask('GET', '/api/profile', { token });

    expect([status, headers.get('content-type')]).toEqual([200, 'application/json; charset=utf-8']);
    expect(Object.keys(body)).toEqual(['data']);
  });

  it('gets responses of the gateway itself in the form of the gateway', async () => {
    const { status, text } = await ask('GET', '/nowhere');

    expect([status, text]).toEqual([404, '{"message":"Not Found"}']);
  });
});
