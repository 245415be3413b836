import { decodeJwt, decodeProtectedHeader } from 'jose';
import { describe, expect, it } from 'vitest';
import { isoTimestamp, outcome, refusal, serviceForThisFile } from '../../support/acceptance.ts';
import { logIn, register, uniqueEmail } from '../../support/client.ts';

const service = await serviceForThisFile();
const { api, adminToken } = service;
const post = (json: unknown) => api('POST', '/api/auth/register', { json });

describe('POST /api/auth/register', () => {
  it('stores a user with the role user, whatever the body asks for, and answers 201 with a token', async () => {
    const email = uniqueEmail();
    const asked = { role: 'admin', id: 1, created_at: 'long ago' };

    const user = { name: 'Ada', email, password: 'correct horse', ...asked };
    const { status, body } = await post(user);

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
    expect(Math.abs(Number(claims.iat) - Date.now() / 1000)).toBeLessThan(60);
    const stored = await api('GET', `/api/users/${claims.id}`, { token: adminToken });
    expect(stored.body).toMatchObject({ email, role: 'user', created_at: isoTimestamp });
  });

  it('removes the white space around name and email, and keeps the white space of the password', async () => {
    const email = uniqueEmail();

    const { token } = await register(api, {
      name: '\t Ada Lovelace ',
      email: `  ${email}\n`,
      password: ' p ',
    });

    const { body } = await api('GET', '/api/profile', { token });
    expect(body.data).toMatchObject({ name: 'Ada Lovelace', email });
    const trimmed = await api('POST', '/api/login', { json: { email, password: 'p' } });
    expect(outcome(trimmed)).toEqual(refusal(401, 'Invalid credentials'));
    expect(await logIn(api, { email, password: ' p ' })).toBeTypeOf('string');
  });

  it('answers 409 to another spelling of a taken address', async () => {
    const email = `zoë.${uniqueEmail()}`.replace('example.org', 'bücher.example');
    const { token } = await register(api, { email });

    const spellings = [email.normalize('NFD'), email.replace('bücher', 'xn--bcher-kva')];
    const answers = await Promise.all(
      spellings.map((taken) => post({ name: 'n', email: taken, password: 'p' })),
    );

    expect(answers.map(outcome)).toEqual(Array(2).fill(refusal(409, 'Email already registered')));
    expect((await api('GET', '/api/profile', { token })).body.data.email).toBe(email);
  });

  it('lets only one of fifty simultaneous registrations of an address succeed', async () => {
    const email = uniqueEmail();

    const answers = await Promise.all(
      Array.from({ length: 50 }, (_, i) =>
        post({ name: `n${i}`, email, password: `password ${i}` }),
      ),
    );

    const statuses = answers.map(({ status }) => status).sort();
    expect(statuses).toEqual([201, ...Array(49).fill(409)]);
    const winner = answers.findIndex(({ status }) => status === 201);
    expect(decodeJwt(await logIn(api, { email, password: `password ${winner}` })).id).toBe(
      decodeJwt(answers[winner]?.body.token).id,
    );
  });
});
