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
const { api } = service;
const post = (json: unknown, headers = {}) => api('POST', '/api/login', { json, headers });

describe('POST /api/login', () => {
  it('answers 200 with a token that has the claims of the stored user', async () => {
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

  it('accepts address and password in another normal form, and the domain in another spelling', async () => {
    const [email, password] = [
      `zoë.${uniqueEmail()}`.replace('example.org', 'bücher.example'),
      'ä',
    ];
    const { id } = await register(api, { email, password });

    const answer = await post({
      email: email.normalize('NFD').replace('bu\u0308cher', 'XN--BCHER-KVA'),
      password: password.normalize('NFD'),
    });

    expect(answer.status).toBe(200);
    expect(decodeJwt(answer.body.token)).toMatchObject({ id, email });
  });

  it.each([
    ['not registered', uniqueEmail],
    ['longer than any registered one', () => `${'x'.repeat(5000)}@example.org`],
    ['ill-formed Unicode', () => `\ud800${uniqueEmail()}`],
    ['a NUL', () => `\0${uniqueEmail()}`],
  ])('answers 404 to an email that is %s', async (_, email) => {
    const answer = await post({ email: email(), password: 'p' });

    expect(outcome(answer)).toEqual(refusal(404, 'User is not registered'));
  });

  it('records a login with an unknown address, but not the address: it may be a mistyped password', async () => {
    const agent = uniqueAgent();

    await post({ email: 'my-password-in-the-wrong-box', password: 'p' }, { 'user-agent': agent });

    expect(await entriesOf(service, agent)).toEqual([
      expect.objectContaining({
        action: 'LOGIN',
        result: 'FAILURE',
        user_id: null,
        resource_id: null,
        details: '{"reason":"unknown_email"}',
      }),
    ]);
    expect(JSON.stringify(await entriesOf(service, agent))).not.toContain('wrong-box');
  });
});
