import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { outcome, refusal, serviceForThisFile } from '../support/acceptance.ts';
import { register, uniqueEmail } from '../support/client.ts';

const tooMany = refusal(429, 'Too many attempts, please try again later');

describe('With LOGIN_FAILURES_PER_ACCOUNT=2 and REGISTRATIONS_PER_ADDRESS=3', async () => {
  const { api } = await serviceForThisFile({
    LOGIN_FAILURES_PER_ACCOUNT: '2',
    REGISTRATIONS_PER_ADDRESS: '3',
  });

  it('all logins of an account wait after two failures, also with the right password', async () => {
    const account = await register(api);
    const logIn = (password: string) =>
      api('POST', '/api/login', { json: { ...account, password } });

    const wrong = [await logIn('wrong'), await logIn('wrong'), await logIn('wrong')];
    const right = await logIn(account.password);

    expect(wrong.map(({ status }) => status)).toEqual([401, 401, 429]);
    expect(outcome(right)).toEqual(tooMany);
    const wait = Number(right.headers.get('retry-after'));
    expect([wait > 0, wait <= 30]).toEqual([true, true]);
  });

  it('registrations from an address wait after three, whoever registers', async () => {
    const attempt = () =>
      api('POST', '/api/auth/register', {
        json: { name: 'n', email: uniqueEmail(), password: randomUUID() },
      });

    const answers = [await attempt(), await attempt(), await attempt(), await attempt()];

    // The first test has registered one.
    expect(answers.map(({ status }) => status)).toEqual([201, 201, 429, 429]);
  });
});
