import { describe, expect, it } from 'vitest';
import { cors } from '../../infra/cors.ts';
import { outcome, refusal, serviceForThisFile } from '../support/acceptance.ts';
import { register } from '../support/client.ts';
import { endpoints } from '../support/examples.ts';

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
  ])('answers 404 Not Found to %s %s, with and without a token', async (method, path) => {
    const answers = [await api(method, path), await api(method, path, { token: adminToken })];

    expect(answers.map(outcome)).toEqual(Array(2).fill(refusal(404, 'Not Found')));
  });
});

describe('Every response', () => {
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
