import { decodeJwt, decodeProtectedHeader } from 'jose';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { logIn, register, uniqueEmail } from '../../client.ts';
import { startTestService, type TestService } from '../../service.ts';

describe('POST /api/auth/register', () => {
  let service: TestService;
  beforeAll(async () => {
    service = await startTestService();
  });
  afterAll(() => service.stop());

  const post = (json: unknown) => service.api('POST', '/api/auth/register', { json });

  it('stores a user of role user and answers 201 with a token of five claims', async () => {
    const email = uniqueEmail();

    const { status, body } = await post({ name: 'Ada', email, password: 'correct horse' });

    expect(status).toBe(201);
    expect(body).toEqual({
      message: 'User registered successfully',
      token: expect.stringMatching(/^[\w-]+\.[\w-]+\.[\w-]+$/),
    });
    expect(decodeProtectedHeader(body.token)).toEqual({ alg: 'HS256', typ: 'JWT' });
    const claims = decodeJwt(body.token);
    expect(claims).toEqual({
      id: expect.any(Number),
      email,
      role: 'user',
      iat: expect.any(Number),
      exp: Number(claims.iat) + 86_400,
    });
  });

  it.each([
    [{ email: 'a@b', password: 'p' }],
    [{ name: '', email: 'a@b', password: 'p' }],
    [{ name: '  ', email: 'a@b', password: 'p' }],
    [{ name: 'n', email: null, password: 'p' }],
    [{ name: 'n', email: 'a@b', password: '' }],
    [{}],
  ])('answers 400 All fields are required to %j', async (fields) => {
    const { status, body } = await post(fields);

    expect([status, body]).toEqual([400, { message: 'All fields are required' }]);
  });

  it('answers 409 to an address that is taken, in whatever letter case', async () => {
    const { email } = await register(service.api);

    const { status, body } = await post({ name: 'n', email: email.toUpperCase(), password: 'p' });

    expect([status, body]).toEqual([409, { message: 'Email already registered' }]);
  });

  it('ignores a role in the body', async () => {
    const email = uniqueEmail();

    const { body } = await post({ name: 'n', email, password: 'p', role: 'admin' });

    expect(decodeJwt(body.token).role).toBe('user');
    expect(decodeJwt(await logIn(service.api, { email, password: 'p' })).role).toBe('user');
  });
});
