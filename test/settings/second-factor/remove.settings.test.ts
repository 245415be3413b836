import { describe, expect, it } from 'vitest';
import { outcome, refusal, serviceForThisFile } from '../../support/acceptance.ts';
import { logIn } from '../../support/client.ts';
import {
  type AccountWithFactor,
  enrol,
  factorClient,
  factorSettings,
  registerWithFactor,
} from '../../support/second-factor.ts';

const service = await serviceForThisFile(factorSettings);
const { api } = service;
const { tryLogin, post, standing } = factorClient(api);

const codeRequired = refusal(401, 'Code required');

describe('A request for a removal', () => {
  const ask = (user: AccountWithFactor, fields: object) =>
    post('/removals', user.token, { currentPassword: user.password, ...fields });

  it('takes the password and a code, which is used up', async () => {
    const user = await registerWithFactor(api);
    const [code] = user.recoveryCodes;

    expect((await ask(user, { code })).status).toBe(204);
    expect((await tryLogin(user)).status).toBe(200);
  });

  it.each([
    ['a wrong password', { currentPassword: 'wrong' }, 403, 'Current password is wrong'],
    ['a wrong code', { code: '000000' }, 403, 'Invalid code'],
    ['no code', { code: undefined }, 400, 'Code is required'],
  ])('refuses %s, and changes nothing', async (_name, fields, refused, message) => {
    const user = await registerWithFactor(api);
    const [code] = user.recoveryCodes;

    expect(outcome(await ask(user, { code, ...fields }))).toEqual(refusal(refused, message));
    expect(await standing(user.token)).toEqual({ enabled: true, recovery_codes_left: 9 });
  });
});

it('A factor that was removed is asked for no more, and another one can be enrolled', async () => {
  const user = await registerWithFactor(api);
  const [code] = user.recoveryCodes;
  await post('/removals', user.token, { currentPassword: user.password, code });

  const token = await logIn(api, user);
  const { recoveryCodes } = await enrol(api, { ...user, token });
  expect(outcome(await tryLogin(user))).toEqual(codeRequired);
  expect((await tryLogin(user, { code: recoveryCodes[0] })).status).toBe(200);
});

it('The deletion of an account with a second factor wants a code', async () => {
  const user = await registerWithFactor(api);
  const leave = (fields: object) =>
    api('POST', '/api/account-deletions', {
      token: user.token,
      json: { currentPassword: user.password, ...fields },
    });

  expect(outcome(await leave({}))).toEqual(refusal(400, 'Code is required'));
  expect(outcome(await leave({ code: '000000' }))).toEqual(refusal(403, 'Invalid code'));
  expect((await leave({ code: user.recoveryCodes[0] })).status).toBe(204);
});
