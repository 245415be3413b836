import { describe, expect, it } from 'vitest';
import { outcome, refusal, serviceForThisFile } from '../../support/acceptance.ts';
import { register } from '../../support/client.ts';
import {
  codeOf,
  factorClient,
  factorSettings,
  registerWithFactor,
} from '../../support/second-factor.ts';

const service = await serviceForThisFile(factorSettings);
const { api } = service;
const { tryLogin, post, confirm, standing } = factorClient(api);

describe('An enrolment', () => {
  it('changes nothing of logins before a code has confirmed it', async () => {
    const user = await register(api);
    await post('', user.token, { currentPassword: user.password });

    expect((await tryLogin(user)).status).toBe(200);
    expect(await standing(user.token)).toEqual({ enabled: false, recovery_codes_left: 0 });
  });

  it('is void when a new one is begun', async () => {
    const user = await register(api);
    const json = { currentPassword: user.password };
    const { secret: first } = (await post('', user.token, json)).body;
    const { secret } = (await post('', user.token, json)).body;

    expect(outcome(await confirm(user.token, codeOf(first)))).toEqual(refusal(403, 'Invalid code'));
    expect((await confirm(user.token, codeOf(secret))).status).toBe(200);
  });

  it('wants the current password', async () => {
    const user = await register(api);

    expect(outcome(await post('', user.token, {}))).toEqual(
      refusal(400, 'Current password is required'),
    );
    expect(outcome(await post('', user.token, { currentPassword: 'wrong' }))).toEqual(
      refusal(403, 'Current password is wrong'),
    );
  });

  it('is refused while there is a factor', async () => {
    const user = await registerWithFactor(api);
    const enabled = refusal(409, 'Second factor already enabled');

    expect(outcome(await post('', user.token, { currentPassword: user.password }))).toEqual(
      enabled,
    );
    expect(outcome(await confirm(user.token, codeOf(user.secret)))).toEqual(enabled);
  });
});
