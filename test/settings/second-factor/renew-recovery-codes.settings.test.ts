import { describe, expect, it } from 'vitest';
import { outcome, refusal, serviceForThisFile } from '../../support/acceptance.ts';
import {
  type AccountWithFactor,
  codeOf,
  factorClient,
  factorSettings,
  registerWithFactor,
} from '../../support/second-factor.ts';

const service = await serviceForThisFile(factorSettings);
const { api } = service;
const { tryLogin, post, standing } = factorClient(api);

const invalidCode = refusal(401, 'Invalid code');

describe('A request for new recovery codes', () => {
  const ask = (user: AccountWithFactor, fields: object) =>
    post('/recovery-codes', user.token, { currentPassword: user.password, ...fields });

  it('takes the password and a code, which is used up', async () => {
    const user = await registerWithFactor(api);
    const code = codeOf(user.secret, { ahead: 1 });

    expect((await ask(user, { code })).status).toBe(200);
    expect(outcome(await tryLogin(user, { code }))).toEqual(invalidCode);
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

it('New recovery codes void the earlier ones', async () => {
  const user = await registerWithFactor(api);
  const [code, old] = user.recoveryCodes;
  const { recoveryCodes } = (
    await post('/recovery-codes', user.token, { currentPassword: user.password, code })
  ).body;

  expect(outcome(await tryLogin(user, { code: old }))).toEqual(invalidCode);
  expect((await tryLogin(user, { code: recoveryCodes[0] })).status).toBe(200);
});
