import { describe, expect, it } from 'vitest';
import { cors } from '../../infra/settings.ts';
import { outcome, refusal, serviceForThisFile } from '../support/acceptance.ts';
import { type ApiAnswer, register } from '../support/client.ts';
import { endpoints, prepareSubject, sendExample } from '../support/examples.ts';

const service = await serviceForThisFile();
const { api, adminToken } = service;
const user = await register(api);

describe('An unknown route', () => {
  const others = [...new Set(endpoints.map(({ path }) => path))].flatMap((path) =>
    cors.methods
      .filter((method) => !endpoints.some(({ route }) => route === `${method} ${path}`))
      .map((method) => [method, path.replace('{id}', String(user.id))] as const),
  );

  it.each<readonly [method: string, path: string]>([
    ...others,
    ['GET', '/api'],
    ['GET', '/api/nothing'],
    ['GET', '/API/PROFILE'],
    ['GET', '/api/users/1/posts'],
    ['GET', '/api/admin'],
    ['GET', '/api/v2/users'],
    ['GET', '/profile'],
  ])('answers 404 Not Found to %s %s, token or not', async (method, path) => {
    const answers = [await api(method, path), await api(method, path, { token: adminToken })];

    expect(answers.map(outcome)).toEqual(Array(2).fill(refusal(404, 'Not Found')));
  });
});

const refusals = [
  [400, 'CREDENTIALS_REQUIRED', 'POST', '/api/login', { json: {} }],
  [400, 'PARAMETER_INVALID', 'GET', '/api/users?limit=0', { token: user.token }],
  [401, 'NO_TOKEN', 'GET', '/api/profile', {}],
  [401, 'INVALID_CREDENTIALS', 'POST', '/api/login', { json: { ...user, password: 'wrong' } }],
  [403, 'FORBIDDEN', 'GET', '/api/admin/audit-logs', { token: user.token }],
  [404, 'USER_NOT_FOUND', 'GET', '/api/users/0', { token: user.token }],
  [409, 'EMAIL_REGISTERED', 'POST', '/api/auth/register', { json: user }],
] as const;

const expectCommonHeaders = ({ status, headers }: ApiAnswer, { path = '' } = {}) => {
  const kept: Readonly<Record<string, string>> = {
    '/openapi.json': 'no-cache',
    '/docs': 'no-cache',
    '/docs/{file}': 'public, max-age=31536000, immutable',
    '/console': 'no-cache',
    '/console/{file}': 'public, max-age=31536000, immutable',
  };
  expect(headers.get('cache-control')).toBe(kept[path] ?? 'no-store');
  expect(headers.get('x-content-type-options')).toBe('nosniff');
  expect(headers.get('content-security-policy')).toContain("default-src 'none'");
  expect(headers.get('strict-transport-security')).toMatch(/^max-age=31536000/);
  expect(headers.get('referrer-policy')).toBe('no-referrer');
  expect(headers.get('x-request-id')).toMatch(/^\S{8,}$/);
  if (/^\/(docs|console)/.test(path))
    expect(headers.get('content-type')).toMatch(/^text\/\w+; charset=utf-8$/);
  else if (status === 204) expect(headers.get('content-type')).toBeNull();
  // A gateway may name the type of a body that is not there.
  else if (status !== 302)
    expect(headers.get('content-type')).toBe('application/json; charset=utf-8');
  expect(headers.has('error-code')).toBe(status >= 400);
  expect(headers.has('x-powered-by')).toBe(false);
};

describe('Every answer', () => {
  it.each(endpoints)('of status $status to $name carries the common headers', async (example) => {
    const subject = await prepareSubject(service, adminToken, example);

    const answer = await sendExample(api, example, subject);

    expect(answer.status).toBe(example.status);
    expectCommonHeaders(answer, example);
  });

  it.each(refusals)(
    'of status %i carries the code %s and the common headers, such as to %s %s',
    async (...refused) => {
      const [status, code, method, path, options] = refused;

      const answer = await api(method, path, options);

      expect([answer.status, answer.headers.get('error-code')]).toEqual([status, code]);
      expectCommonHeaders(answer);
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

  it('of status 401 contains no part of the token', async () => {
    const { text } = await api('GET', '/api/profile', { token: `${user.token}x` });

    expect(text).not.toContain(user.token.slice(0, 20));
  });
});
