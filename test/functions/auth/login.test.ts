import { randomUUID } from 'node:crypto';
import { decodeJwt, decodeProtectedHeader } from 'jose';
import { describe, expect, it } from 'vitest';
import {
  entriesOf,
  outcome,
  refusal,
  serviceForThisFile,
  uniqueAgent,
} from '../../support/acceptance.ts';
import { register, uniqueEmail } from '../../support/client.ts';

const service = await serviceForThisFile();
const { api, admin } = service;
const post = (json: unknown, headers = {}) => api('POST', '/api/login', { json, headers });

describe('POST /api/login', () => {
  it('answers 200 with a token whose claims are the stored user’s', async () => {
    const { id, email, password } = await register(api);

    const { status, body } = await post({ email, password });

    expect(status).toBe(200);
    expect(body).toEqual({ message: 'Login successful', token: expect.any(String) });
    expect(decodeProtectedHeader(body.token)).toEqual({ alg: 'HS256', typ: 'JWT' });
    const claims = decodeJwt(body.token);
    expect(claims).toEqual({
      id,
      email,
      role: 'user',
      iat: expect.any(Number),
      exp: Number(claims.iat) + 86_400,
    });
  });

  it('puts the role of an admin into the token', async () => {
    const { body } = await post(admin);

    expect(decodeJwt(body.token)).toMatchObject({ email: admin.email, role: 'admin' });
  });

  it('finds the address in any letter case and with white space around it', async () => {
    const { id, email, password } = await register(api, { email: `Ada.${uniqueEmail()}` });

    const answers = await Promise.all(
      [email.toLowerCase(), email.toUpperCase(), ` ${email}\t`].map((spelling) =>
        post({ email: spelling, password }),
      ),
    );

    for (const { status, body } of answers) {
      expect(status).toBe(200);
      expect(decodeJwt(body.token)).toMatchObject({ id, email });
    }
  });

  it('answers 404 to an address that is not registered', async () => {
    const answer = await post({ email: uniqueEmail(), password: 'p' });

    expect(outcome(answer)).toEqual(refusal(404, 'User is not registered'));
  });

  it.each([
    ['not an address', () => 'someone'],
    ['longer than any registered one', () => `${'x'.repeat(5000)}@example.org`],
    ['60 KB long', () => 'x'.repeat(60_000)],
    ['ill-formed Unicode', () => `\ud800${uniqueEmail()}`],
    ['a NUL', () => `\0${uniqueEmail()}`],
  ])('answers 404 to an email that is %s', async (_, email) => {
    const answer = await post({ email: email(), password: 'p' });

    expect(outcome(answer)).toEqual(refusal(404, 'User is not registered'));
  });

  it.each([
    ['another password', () => randomUUID()],
    ['the password with white space after it', (password: string) => `${password} `],
    ['60 KB of password', () => 'x'.repeat(60_000)],
    ['ill-formed Unicode', (password: string) => `${password}\ud800`],
  ])('answers 401 to %s', async (_, wrong) => {
    const { email, password } = await register(api);

    const answer = await post({ email, password: wrong(password) });

    expect(outcome(answer)).toEqual(refusal(401, 'Invalid credentials'));
  });

  it.each([
    ['no email', { password: 'p' }],
    ['no password', { email: 'a@b' }],
    ['an object as password', { email: 'a@b', password: { $ne: '' } }],
  ])('answers 400 Email and password are required to %s', async (_, fields) => {
    const agent = uniqueAgent();

    const answer = await post(fields, { 'user-agent': agent });

    expect(outcome(answer)).toEqual(refusal(400, 'Email and password are required'));
    expect(await entriesOf(service, agent)).toEqual([]);
  });

  it('records an unknown address without the address, which may be a mistyped password', async () => {
    const agent = uniqueAgent();

    await post({ email: 'my-password-in-the-wrong-box', password: 'p' }, { 'user-agent': agent });

    expect(await entriesOf(service, agent)).toEqual([
      expect.objectContaining({
        ...{ action: 'LOGIN', result: 'FAILURE', user_id: null, resource_id: null },
        details: '{"reason":"unknown_email"}',
      }),
    ]);
    expect(JSON.stringify(await entriesOf(service, agent))).not.toContain('wrong-box');
  });
});
