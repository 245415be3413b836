import { decodeJwt, decodeProtectedHeader } from 'jose';
import { describe, expect, it } from 'vitest';
import {
  entriesOf,
  isoTimestamp,
  outcome,
  refusal,
  serviceForThisFile,
  uniqueAgent,
} from '../../support/acceptance.ts';
import { logIn, register, uniqueEmail } from '../../support/client.ts';

const service = await serviceForThisFile();
const { api, adminToken } = service;
const post = (json: unknown) => api('POST', '/api/auth/register', { json });

describe('POST /api/auth/register', () => {
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
    expect(Math.abs(Number(claims.iat) - Date.now() / 1000)).toBeLessThan(60);
  });

  it('leaves the white space around name and email out, and keeps that of the password', async () => {
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

  it('answers 409 to an address that is taken, in whatever letter case', async () => {
    const { email } = await register(api);

    const answers = await Promise.all(
      [email, email.toUpperCase(), ` ${email} `].map((taken) =>
        post({ name: 'n', email: taken, password: 'p' }),
      ),
    );

    for (const answer of answers) {
      expect(outcome(answer)).toEqual(refusal(409, 'Email already registered'));
    }
  });

  it('answers 409 to an address that is taken in another spelling of its letters and its domain', async () => {
    const email = `zoë.${uniqueEmail()}`.replace('example.org', 'bücher.example');
    const { token } = await register(api, { email });

    const spellings = [email.normalize('NFD'), email.replace('bücher', 'xn--bcher-kva')];
    const answers = await Promise.all(
      spellings.map((taken) => post({ name: 'n', email: taken, password: 'p' })),
    );

    expect(answers.map(outcome)).toEqual(Array(2).fill(refusal(409, 'Email already registered')));
    expect((await api('GET', '/api/profile', { token })).body.data.email).toBe(email);
  });

  it('leaves the account whose address is asked for again as it was', async () => {
    const account = await register(api, { name: 'First' });

    await post({ name: 'Second', email: account.email, password: 'another' });

    const { body } = await api('GET', `/api/users/${account.id}`, { token: account.token });
    expect(body).toMatchObject({ id: account.id, name: 'First' });
    expect(decodeJwt(await logIn(api, account)).id).toBe(account.id);
  });

  it('lets one of fifty simultaneous registrations of an address through', async () => {
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

  it('ignores a role and an id in the body', async () => {
    const account = { name: 'n', email: uniqueEmail(), password: 'p' };

    const { body } = await post({ ...account, role: 'admin', id: 1, created_at: 'long ago' });

    const claims = decodeJwt(body.token);
    expect(claims.role).toBe('user');
    expect(decodeJwt(await logIn(api, account)).role).toBe('user');
    const stored = await api('GET', `/api/users/${claims.id}`, { token: adminToken });
    expect(stored.body).toMatchObject({ email: account.email, created_at: isoTimestamp });
  });

  it('records nothing of a registration that it refuses', async () => {
    const agent = uniqueAgent();
    const headers = { 'user-agent': agent };
    const { email } = await register(api);

    await api('POST', '/api/auth/register', { headers, json: {} });
    await api('POST', '/api/auth/register', {
      headers,
      json: { name: 'n', email, password: 'p' },
    });

    expect(await entriesOf(service, agent)).toEqual([]);
  });
});
