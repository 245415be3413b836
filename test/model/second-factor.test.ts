import { beforeEach, describe, expect, it } from 'vitest';
import { outcome, refusal } from '../support/acceptance.ts';
import { logIn } from '../support/client.ts';
import { proxiedServiceForThisFile } from '../support/proxied-service.ts';
import { faults, overtake } from '../support/proxy.ts';
import {
  type AccountWithFactor,
  codeOf,
  factorClient,
  factorSettings,
  registerWithFactor,
} from '../support/second-factor.ts';

const { proxy, service, admin } = await proxiedServiceForThisFile(factorSettings);
const { api } = service;
const { tryLogin, post, standing } = factorClient(api);

/** The proxy holds the first write back, so that the second overtakes it between read and write. */
describe('What another request overtakes after it has found a code good', () => {
  let user: AccountWithFactor;
  let code: string | undefined;
  let other: string | undefined;
  beforeEach(async () => {
    user = await registerWithFactor(api);
    [code, other] = user.recoveryCodes;
  });

  const logInWith = () => tryLogin(user, { code });
  const change = (path: string, by: string | undefined) =>
    post(path, user.token, { currentPassword: user.password, code: by });
  const requests = {
    'a renewal of the recovery codes': (by: string | undefined) => change('/recovery-codes', by),
    'a removal of the factor': (by: string | undefined) => change('/removals', by),
    'a deletion of the account': (by: string | undefined) =>
      api('POST', '/api/account-deletions', {
        token: user.token,
        json: { currentPassword: user.password, code: by },
      }),
  } as const;
  const uses = Object.keys(requests) as (keyof typeof requests)[];
  /** Lets the code be used, and no further write be made. */
  const failChange = () =>
    proxy.impose(
      { fault: faults.pass, operation: 'UpdateItem', times: 1 },
      { fault: faults.internalError, operation: 'UpdateItem' },
      { fault: faults.internalError, operation: 'TransactWriteItems' },
    );
  const invalidLogin = refusal(401, 'Invalid code');
  const invalidCode = refusal(403, 'Invalid code');

  it('a login is refused when another login has used the code', async () => {
    const [slow, fast] = await overtake(proxy, 'UpdateItem', logInWith, logInWith);

    expect([outcome(slow), fast.status]).toEqual([invalidLogin, 200]);
  });

  it('a login is refused when new recovery codes were made', async () => {
    const [login, made] = await overtake(proxy, 'UpdateItem', logInWith, () =>
      change('/recovery-codes', other),
    );

    expect([outcome(login), made.status]).toEqual([invalidLogin, 200]);
  });

  it('a login is refused when the factor was removed, and asks for no code from then on', async () => {
    const [login, removal] = await overtake(proxy, 'UpdateItem', logInWith, () =>
      change('/removals', other),
    );

    expect([outcome(login), removal.status]).toEqual([invalidLogin, 204]);
    expect((await tryLogin(user)).status).toBe(200);
  });

  it.each(uses)('%s is refused when a login has used the code', async (name) => {
    const [slow, login] = await overtake(
      proxy,
      'UpdateItem',
      () => requests[name](code),
      logInWith,
    );

    expect([outcome(slow), login.status]).toEqual([invalidCode, 200]);
    expect((await standing(user.token)).recovery_codes_left).toBe(8);
  });

  it.each(uses)('a login is refused when %s has used the code, and was refused', async (name) => {
    const [login, refused] = await overtake(proxy, 'UpdateItem', logInWith, async () => {
      failChange();
      const answer = await requests[name](code);
      proxy.impose();
      return answer;
    });

    expect([outcome(login), refused.status]).toEqual([invalidLogin, 500]);
  });

  it.each(uses)('%s uses the code up, also if the change is not written', async (name) => {
    failChange();
    const refused = await requests[name](code);
    proxy.impose();

    expect([refused.status, outcome(await logInWith())]).toEqual([500, invalidLogin]);
  });

  it('a login uses the code up, also if its session is not written', async () => {
    failChange();
    const refused = await logInWith();
    proxy.impose();

    expect([refused.status, outcome(await logInWith())]).toEqual([500, invalidLogin]);
  });

  it('a removal is refused when an admin has set another password', async () => {
    const json = { password: 'set by an admin' };
    const [removal] = await overtake(
      proxy,
      'UpdateItem',
      () => change('/removals', code),
      () => api('PUT', `/api/users/${user.id}`, { token: admin, json }),
      { after: 1 },
    );

    expect([401, 403]).toContain(removal.status);
    expect(outcome(await tryLogin({ ...user, ...json }))).toEqual(refusal(401, 'Code required'));
  });

  it('a removal by an admin is refused when the user has removed the factor', async () => {
    const { recoveryCodes, ...other } = await registerWithFactor(api);
    await api('PUT', `/api/users/${other.id}`, { token: admin, json: { role: 'admin' } });
    const token = await logIn(api, { ...other, code: recoveryCodes[0] });

    const [removal, own] = await overtake(
      proxy,
      'UpdateItem',
      () => api('DELETE', `/api/users/${user.id}/second-factor`, { token }),
      () => change('/removals', code),
    );

    expect([outcome(removal), own.status]).toEqual([refusal(404, 'Second factor not found'), 204]);
  });

  it('an enrolment is not confirmed when another one was begun', async () => {
    await change('/removals', code);
    const begin = () => post('', user.token, { currentPassword: user.password });
    const { secret } = (await begin()).body;

    const [confirmed] = await overtake(
      proxy,
      'UpdateItem',
      () => api('PUT', '/api/second-factor', { token: user.token, json: { code: codeOf(secret) } }),
      begin,
    );

    expect(outcome(confirmed)).toEqual(invalidCode);
    expect((await standing(user.token)).enabled).toBe(false);
  });
});
