import { describe, expect, it } from 'vitest';
import { outcome, refusal, serviceForThisFile } from '../support/acceptance.ts';
import { logIn, register, uniqueEmail } from '../support/client.ts';
import { startTestService } from '../support/service.ts';

const service = await serviceForThisFile({ PASSWORD_MIN_LENGTH: '12' });
const { api, adminToken } = service;
const tooShort = refusal(400, 'password must be at least 12 characters');
const newUser = (password: string) => ({ name: 'n', email: uniqueEmail(), password });

describe('Where PASSWORD_MIN_LENGTH is 12,', () => {
  it.each([
    ['POST', '/api/auth/register'],
    ['POST', '/api/users'],
  ])(
    '%s %s refuses a password of 11 characters and accepts a password of 12',
    async (method, path) => {
      const send = (password: string) =>
        api(method, path, { token: adminToken, json: newUser(password) });

      expect(outcome(await send('x'.repeat(11)))).toEqual(tooShort);
      expect(outcome(await send('😀'.repeat(11)))).toEqual(tooShort);
      expect((await send('x'.repeat(12))).status).toBe(201);
      expect((await send('😀'.repeat(12))).status).toBe(201);
    },
  );

  it('PUT /api/users/{id} refuses a new password that is too short, and keeps the old password', async () => {
    const account = await register(api);

    const answer = await api('PUT', `/api/users/${account.id}`, {
      token: account.token,
      json: { password: 'x'.repeat(11) },
    });

    expect(outcome(answer)).toEqual(tooShort);
    expect(await logIn(api, account)).toBeTypeOf('string');
  });
});

describe('After PASSWORD_MIN_LENGTH was raised,', () => {
  it('a user whose password has become too short still logs in', async () => {
    const account = await register(api, { password: 'twelve chars' });

    const stricter = await startTestService({
      ...service.environment,
      PASSWORD_MIN_LENGTH: '20',
    });
    const token = await logIn(stricter.api, account).finally(stricter.stop);

    expect(token).toBeTypeOf('string');
  });
});
