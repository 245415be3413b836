import { describe, expect, it } from 'vitest';
import { serviceForThisFile } from '../support/acceptance.ts';
import { register } from '../support/client.ts';
import { createMemoryUser } from '../support/memory-users.ts';

const { api, adminToken } = await serviceForThisFile();
const memoryUser = await createMemoryUser(api);
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

  it.each([
    ['POST', '/api/login', { email: 'a@b' }, ['#/password REQUIRED']],
    [
      'POST',
      '/api/auth/register',
      { name: 'n', password: 'p', email: 'x'.repeat(192) },
      ['#/email TOO_LONG', '#/email INVALID_FORMAT'],
    ],
    [
      'POST',
      '/api/users',
      { role: 'root' },
      ['#/role UNKNOWN_VALUE', '#/name REQUIRED', '#/email REQUIRED', '#/password REQUIRED'],
    ],
    [
      'PUT',
      '/api/users/1',
      { name: ' ', email: null, role: '' },
      ['#/name EMPTY', '#/email WRONG_TYPE', '#/role UNKNOWN_VALUE'],
    ],
    ['POST', '/api/v1/users', { name: '\ud800' }, ['#/name NOT_WELL_FORMED', '#/email REQUIRED']],
    [
      'PATCH',
      `/api/v1/users/${memoryUser.id}`,
      { name: 1, email: 'x'.repeat(192) },
      ['#/name WRONG_TYPE', '#/email TOO_LONG'],
    ],
  ])('is told by %s %s of %j: %j', async (method, path, json, expected) => {
    const { status, body } = await ask(method, path, { json, token: adminToken });

    const errors: { pointer: string; code: string }[] = body.errors;
    expect(status).toBe(400);
    expect(errors.map(({ pointer, code }) => `${pointer} ${code}`)).toEqual(expected);
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
