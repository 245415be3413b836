import { randomUUID } from 'node:crypto';
import { decodeJwt } from 'jose';
import { describe, expect, it } from 'vitest';
import { listUsers, outcome, refusal, serviceForThisFile } from '../support/acceptance.ts';
import { register, uniqueEmail } from '../support/client.ts';
import { type ExampleRequest, endpoints, sendExample } from '../support/examples.ts';
import { claimsWith, now, signToken } from '../support/tokens.ts';

const { api, adminToken, jwtSecret } = await serviceForThisFile();
const bystander = await register(api);

// Every token below is an admin's in all but its flaw: whatever lets it in lets it do anything.
const admin = claimsWith({ ...decodeJwt(adminToken), iat: now(), exp: now() + 3600 });
const sound = signToken(admin, jwtSecret);

const forged = signToken(admin, randomUUID());
const expired = signToken({ ...admin, iat: now() - 90_000, exp: now() - 3600 }, jwtSecret);

const intruder = uniqueEmail();
const subject = { account: bystander, admin: adminToken, memoryId: 0 };
const call = (example: ExampleRequest, authorization: string) =>
  sendExample(api, example, subject, {
    token: null,
    headers: { authorization },
    fields: (json) => ({ role: 'admin', ...('email' in json ? { email: intruder } : {}) }),
  });

describe.each(endpoints.filter(({ caller }) => caller !== 'anyone'))('$name', (example) => {
  it('answers 401 Invalid token to a token that another secret signed', async () => {
    const answer = await call(example, `Bearer ${forged}`);

    expect(outcome(answer)).toEqual(refusal(401, 'Invalid token'));
  });

  it('answers 401 Token has expired to a token that has expired', async () => {
    const answer = await call(example, `Bearer ${expired}`);

    expect(outcome(answer)).toEqual(refusal(401, 'Token has expired'));
  });

  it('has done nothing for either', async () => {
    const { body } = await api('GET', `/api/users/${bystander.id}`, { token: adminToken });
    const emails = (await listUsers(api, adminToken)).map(({ email }) => email);

    expect(body).toMatchObject({ name: bystander.name, role: 'user' });
    expect(emails).not.toContain(intruder);
  });
});

// What else is wrong with a header or a token stands in endpoint.test.ts and token.test.ts of lib.
describe('GET /api/profile', () => {
  it.each([
    ['No token provided', 'the scheme and a space, which the header loses', 'Bearer '],
    ['No token provided', 'a lower-case scheme', `bearer ${sound}`],
    ['Invalid token', 'a second token behind a sound one', `Bearer ${sound} ${sound}`],
    ['Invalid token', 'a sound token and non-ASCII text', `Bearer ${sound}é`],
  ])('answers 401 %s to %s', async (message, _, authorization) => {
    const answer = await api('GET', '/api/profile', { headers: { authorization } });

    expect(outcome(answer)).toEqual(refusal(401, message));
  });

  it('answers 431 or 401 to a token of 100 KB', async () => {
    const { status, body } = await api('GET', '/api/profile', { token: 'x'.repeat(100_000) });

    expect([401, 431]).toContain(status);
    expect(body).toEqual({ message: expect.any(String) });
  });
});

describe('A token', () => {
  it('is what tells the caller, whatever the stored role is', async () => {
    const user = await register(api);
    const asAdmin = signToken(claimsWith({ ...decodeJwt(user.token), role: 'admin' }), jwtSecret);

    const { status } = await api('GET', '/api/admin/audit-logs', { token: asAdmin });

    expect(status).toBe(200);
  });
});
