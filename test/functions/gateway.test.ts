import { describe, expect, it } from 'vitest';
import { outcome, refusal, serviceForThisFile } from '../support/acceptance.ts';
import { register, uniqueEmail } from '../support/client.ts';

const { api, adminToken } = await serviceForThisFile();
const user = await register(api);
const goner = await register(api);

describe('An unknown route', () => {
  it.each([
    ['GET', '/'],
    ['GET', '/api'],
    ['GET', '/api/nothing'],
    ['GET', '/API/PROFILE'],
    ['GET', '/api/users/1/posts'],
    ['GET', '/api/admin'],
    ['GET', '/api/v2/users'],
    ['GET', '/profile'],
    ['GET', '/api/login'],
    ['PUT', '/api/login'],
    ['GET', '/api/auth/register'],
    ['POST', '/api/profile'],
    ['DELETE', '/api/users'],
    ['PATCH', `/api/users/${user.id}`],
    ['POST', `/api/users/${user.id}`],
    ['POST', '/api/admin/audit-logs'],
    ['DELETE', '/api/admin/audit-logs'],
    ['PUT', '/api/v1/users'],
    ['POST', '/api/v1/users/1'],
  ])('answers 404 Not Found to %s %s, token or not', async (method, path) => {
    const answers = [await api(method, path), await api(method, path, { token: adminToken })];

    expect(answers.map(outcome)).toEqual(Array(2).fill(refusal(404, 'Not Found')));
  });
});

const requests = [
  [200, 'GET', '/api/profile', { token: user.token }],
  [200, 'GET', '/api/users', { token: user.token }],
  [200, 'GET', '/api/admin/audit-logs', { token: adminToken }],
  [200, 'PUT', `/api/users/${user.id}`, { token: user.token, json: { name: 'n' } }],
  [200, 'POST', '/api/login', { json: user }],
  [200, 'GET', '/api/v1/users', {}],
  [201, 'POST', '/api/auth/register', { json: { ...user, email: uniqueEmail() } }],
  [201, 'POST', '/api/v1/users', { json: { name: 'n', email: uniqueEmail() } }],
  [204, 'DELETE', `/api/users/${goner.id}`, { token: adminToken }],
  [400, 'POST', '/api/login', { json: {} }],
  [400, 'GET', '/api/users?limit=0', { token: user.token }],
  [401, 'GET', '/api/profile', {}],
  [401, 'POST', '/api/login', { json: { ...user, password: 'wrong' } }],
  [403, 'GET', '/api/admin/audit-logs', { token: user.token }],
  [404, 'GET', '/api/users/0', { token: user.token }],
  [409, 'POST', '/api/auth/register', { json: user }],
] as const;

describe('Every answer', () => {
  it.each(requests)(
    'of status %i, such as to %s %s, carries the common headers',
    async (...request) => {
      const [status, method, path, options] = request;

      const { status: answered, headers } = await api(method, path, options);

      expect(answered).toBe(status);
      expect(headers.get('cache-control')).toBe('no-store');
      expect(headers.get('x-content-type-options')).toBe('nosniff');
      expect(headers.get('content-security-policy')).toContain("default-src 'none'");
      expect(headers.get('strict-transport-security')).toMatch(/^max-age=31536000/);
      expect(headers.get('referrer-policy')).toBe('no-referrer');
      expect(headers.get('x-request-id')).toMatch(/^\S{8,}$/);
      expect(headers.get('content-type')).toBe(
        status === 204 ? null : 'application/json; charset=utf-8',
      );
      expect(headers.has('x-powered-by')).toBe(false);
    },
  );

  it('has a request id of its own, whatever the client sends', async () => {
    const headers = { 'x-request-id': 'chosen-by-the-client' };
    const answers = await Promise.all(
      Array.from({ length: 5 }, () => api('GET', '/api/v1/users', { headers })),
    );

    const ids = answers.map((answer) => answer.headers.get('x-request-id'));
    expect(new Set(ids).size).toBe(5);
    expect(ids).not.toContain('chosen-by-the-client');
  });

  it('of status 401 to a request for a protected resource has no trace of the token', async () => {
    const { text } = await api('GET', '/api/profile', { token: `${user.token}x` });

    expect(text).not.toContain(user.token.slice(0, 20));
  });
});
