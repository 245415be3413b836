import { describe, expect, it } from 'vitest';
import { proxiedServiceForThisFile } from '../support/proxied-service.ts';
import { faults } from '../support/proxy.ts';
import {
  codeOf,
  factorClient,
  factorSettings,
  registerWithFactor,
} from '../support/second-factor.ts';

const { proxy, service } = await proxiedServiceForThisFile(factorSettings);
const { api } = service;
const { tryLogin, post, standing } = factorClient(api);

const kinds = ['app', 'recovery'] as const;

describe.each(kinds)('A code (%s)', (kind) => {
  const makeUser = async () => {
    const user = await registerWithFactor(api);
    const code = kind === 'app' ? codeOf(user.secret, { ahead: 1 }) : user.recoveryCodes[0];
    return { user, code };
  };

  it('is good for one of 200 logins at the same time', async () => {
    const { user, code } = await makeUser();

    const answers = await Promise.all(Array.from({ length: 200 }, () => tryLogin(user, { code })));

    const count = (wanted: number) => answers.filter(({ status }) => status === wanted).length;
    expect([count(200), count(401) + count(429)]).toEqual([1, 199]);
    expect(count(401)).toBeLessThanOrEqual(10);
  });

  it('is good for one of 60 logins, renewals of the recovery codes, and deletions of the account', async () => {
    const { user, code } = await makeUser();
    const json = { currentPassword: user.password, code };
    const requests = [
      () => tryLogin(user, { code }),
      () => post('/recovery-codes', user.token, json),
      () => api('POST', '/api/account-deletions', { token: user.token, json }),
    ];

    const answers = await Promise.all(
      Array.from({ length: 20 }, () => requests.map((send) => send())).flat(),
    );

    expect(answers.filter(({ status }) => status < 300)).toHaveLength(1);
  });

  it.each(['lose', 'truncate'] as const)(
    'lets its user in when the response to the write that uses it is lost: %s',
    async (fault) => {
      const { user, code } = await makeUser();
      proxy.impose({ fault: faults[fault], operation: 'UpdateItem', times: 1 });

      const answer = await tryLogin(user, { code });
      proxy.impose();

      expect(answer.status).toBe(200);
      expect((await tryLogin(user, { code })).status).toBe(401);
      const left = kind === 'app' ? 9 : 8;
      expect((await standing(answer.body.token)).recovery_codes_left).toBe(left);
    },
  );
});
