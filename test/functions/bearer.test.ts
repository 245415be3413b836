import { decodeJwt } from 'jose';
import { describe, expect, it } from 'vitest';
import { outcome, refusal, serviceForThisFile } from '../support/acceptance.ts';
import { register } from '../support/client.ts';
import { claimsWith, signToken } from '../support/tokens.ts';

const { api, adminToken, jwtSecret } = await serviceForThisFile();

const sound = signToken(claimsWith(decodeJwt(adminToken)), jwtSecret);

// Other faults of a header or a token are tested in endpoint.test.ts and token.test.ts of lib;
// test/support/every-endpoint.ts tries a forged and an expired token at each route.
describe('GET /api/profile', () => {
  it.each([
    ['No token provided', 'the scheme and a space that is removed from the header', 'Bearer '],
    ['Invalid token', 'a valid token followed by non-ASCII text', `Bearer ${sound}é`],
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
  it('determines the role of the caller, whatever the stored role is', async () => {
    const user = await register(api);
    const asAdmin = signToken(claimsWith({ ...decodeJwt(user.token), role: 'admin' }), jwtSecret);

    const { status } = await api('GET', '/api/admin/audit-logs', { token: asAdmin });

    expect(status).toBe(200);
  });
});
