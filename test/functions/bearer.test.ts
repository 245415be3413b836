import { randomUUID } from 'node:crypto';
import { decodeJwt } from 'jose';
import { describe, expect, it } from 'vitest';
import { listUsers, outcome, refusal, serviceForThisFile } from '../support/acceptance.ts';
import { register, uniqueEmail } from '../support/client.ts';
import { type ExampleRequest, endpoints, sendExample } from '../support/examples.ts';
import { claimsWith, encode, now, signToken, soundHeader } from '../support/tokens.ts';

const { api, adminToken, jwtSecret } = await serviceForThisFile();
const bystander = await register(api);

// Every token below is an admin's in all but its flaw: whatever lets it in lets it do anything.
const admin = claimsWith({ ...decodeJwt(adminToken), iat: now(), exp: now() + 3600 });
const sound = signToken(admin, jwtSecret);
const [header, payload, signature] = sound.split('.') as [string, string, string];

const noToken: readonly [title: string, authorization: string | undefined][] = [
  ['no Authorization header', undefined],
  ['the scheme and a space, which the header loses', 'Bearer '],
  ['a lower-case scheme', `bearer ${sound}`],
  ['another scheme', `Basic ${sound}`],
];

const flawed = [
  ['something else than a token', 'nonsense'],
  ['a second token behind it', `${sound} ${sound}`],
  ['non-ASCII text', `${sound}é`],
  ['a token that another secret signed', signToken(admin, randomUUID())],
  ['a token without a signature', `${encode({ ...soundHeader, alg: 'none' })}.${payload}.`],
  ['an altered payload', `${header}.${encode({ ...admin, id: 2 })}.${signature}`],
  ['a role that does not exist', signToken({ ...admin, role: 'root' }, jwtSecret)],
] as const;
const expired = signToken({ ...admin, iat: now() - 90_000, exp: now() - 3600 }, jwtSecret);

const intruder = uniqueEmail();
const subject = { account: bystander, admin: adminToken, memoryId: 0 };
const call = (example: ExampleRequest, authorization: string | undefined) =>
  sendExample(api, example, subject, {
    token: null,
    headers: authorization === undefined ? {} : { authorization },
    fields: (json) => ({ role: 'admin', ...('email' in json ? { email: intruder } : {}) }),
  });

describe.each(endpoints.filter(({ caller }) => caller !== 'anyone'))('$name', (example) => {
  it.each(noToken)('answers 401 No token provided to %s', async (_, authorization) => {
    const answer = await call(example, authorization);

    expect(outcome(answer)).toEqual(refusal(401, 'No token provided'));
  });

  it.each(flawed)('answers 401 Invalid token to %s', async (_, token) => {
    const answer = await call(example, `Bearer ${token}`);

    expect(outcome(answer)).toEqual(refusal(401, 'Invalid token'));
  });

  it('answers 401 Token has expired to a token that has expired', async () => {
    const answer = await call(example, `Bearer ${expired}`);

    expect(outcome(answer)).toEqual(refusal(401, 'Token has expired'));
  });

  it('answers 431 or 401 to a token of 100 KB', async () => {
    const { status, body } = await call(example, `Bearer ${'x'.repeat(100_000)}`);

    expect([401, 431]).toContain(status);
    expect(body).toEqual({ message: expect.any(String) });
  });

  it('has done nothing for any of them', async () => {
    const { body } = await api('GET', `/api/users/${bystander.id}`, { token: adminToken });
    const emails = (await listUsers(api, adminToken)).map(({ email }) => email);

    expect(body).toMatchObject({ name: bystander.name, role: 'user' });
    expect(emails).not.toContain(intruder);
  });
});

describe('A token', () => {
  it('is what tells the caller, whatever the stored role is', async () => {
    const user = await register(api);
    const asAdmin = signToken(claimsWith({ ...decodeJwt(user.token), role: 'admin' }), jwtSecret);

    const { status } = await api('GET', '/api/admin/audit-logs', { token: asAdmin });

    expect(status).toBe(200);
  });

  it('holds nothing but its five claims', () => {
    expect(Object.keys(decodeJwt(bystander.token)).sort()).toEqual([
      'email',
      'exp',
      'iat',
      'id',
      'role',
    ]);
    expect(Buffer.from(bystander.token.split('.')[1] ?? '', 'base64url').toString()).not.toContain(
      bystander.password,
    );
  });
});
