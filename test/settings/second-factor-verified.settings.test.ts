import { describe, expect, it } from 'vitest';
import { outcome, refusal } from '../support/acceptance.ts';
import { logIn, makeUser, register, uniqueEmail } from '../support/client.ts';
import { mailingServiceForThisFile } from '../support/mailbox.ts';
import { plantLinkToken } from '../support/reset-tokens.ts';
import { codeOf, factorClient, factorSettings } from '../support/second-factor.ts';
import { mailedToken, verificationSettings, verify } from '../support/verification.ts';

const service = await mailingServiceForThisFile({ ...factorSettings, ...verificationSettings.on });
const { api } = service;
const { post, confirm, standing } = factorClient(api);

const notVerified = refusal(403, 'Email is not verified');

describe('Where addresses are verified, a second factor', () => {
  it('is not begun before the address of the user is verified', async () => {
    const user = await register(api);
    const begin = (fields = {}) =>
      post('', user.token, { currentPassword: user.password, ...fields });

    const refused = await begin();
    const wrong = await begin({ currentPassword: 'wrong' });
    await verify(api, await mailedToken(service, user.email), user.password);

    expect(outcome(refused)).toEqual(notVerified);
    expect(refused.headers.get('error-code')).toBe('EMAIL_NOT_VERIFIED');
    expect(outcome(wrong)).toEqual(refusal(403, 'Current password is wrong'));
    expect((await begin()).status).toBe(201);
  });

  it('is not confirmed once somebody else has given the user an address that is not verified', async () => {
    const { token: maker } = await register(api);
    const made = await makeUser(api, maker);
    const token = await logIn(api, made);
    await verify(api, await mailedToken(service, made.email), made.password);
    const { secret } = (await post('', token, { currentPassword: made.password })).body;
    const json = { email: uniqueEmail() };
    const moved = await api('PUT', `/api/users/${made.id}`, { token: maker, json });

    const confirmed = await confirm(token, codeOf(secret));

    expect(moved.body).toMatchObject({ ...json, email_verified: false });
    expect(outcome(confirmed)).toEqual(notVerified);
    expect((await standing(token)).enabled).toBe(false);
  });

  it('is not removed by a used reset link, which verifies the address', async () => {
    const user = await register(api);
    await verify(api, await mailedToken(service, user.email), user.password);
    const { secret } = (await post('', user.token, { currentPassword: user.password })).body;
    await confirm(user.token, codeOf(secret));

    const token = await plantLinkToken(service.environment, user.id);
    const json = { token, password: 'a new password' };
    await api('PUT', '/api/password-resets', { json });

    const login = await api('POST', '/api/login', { json: { ...user, ...json } });
    expect(outcome(login)).toEqual(refusal(401, 'Code required'));
  });
});
