import { afterAll, describe, expect, it } from 'vitest';
import { outcome, refusal } from '../support/acceptance.ts';
import { logIn, register, uniqueEmail } from '../support/client.ts';
import { mailingServiceForThisFile } from '../support/mailbox.ts';
import { markVerified } from '../support/reset-tokens.ts';
import { startTestService } from '../support/service.ts';
import {
  mailedToken,
  newAccount,
  sendRegistration,
  verificationSettings,
  verify,
} from '../support/verification.ts';

const service = await mailingServiceForThisFile({
  ...verificationSettings.required,
  ACCOUNTS: 'private',
});
const { api, adminToken } = service;

const rule = 'email must be an address that mails can be sent to';
const refused = refusal(400, rule);
const unmailable = () => `jörg.${uniqueEmail()}`;

const { USERS_TABLE = '', AUDIT_TABLE = '' } = service.environment;
const before = await startTestService({ USERS_TABLE, AUDIT_TABLE });
afterAll(before.stop);

/** A user from the time before addresses were verified, whose address can never be mailed. */
const olderUser = async () => {
  const user = await register(before.api, { email: unmailable() });
  await markVerified(service.environment, user.id);
  return { ...user, token: await logIn(api, user) };
};

describe('Where addresses are verified, an address that can never be mailed', () => {
  it('is refused at registration, in problem details too, whether or not another user has it', async () => {
    const { email } = await olderUser();

    const answers = [
      await sendRegistration(api, newAccount({ email })),
      await sendRegistration(api, newAccount({ email: unmailable() })),
      await sendRegistration(api, newAccount({ email: `a,${uniqueEmail()}` })),
    ];
    const problem = await api('POST', '/api/auth/register', {
      json: newAccount({ email }),
      headers: { accept: 'application/problem+json' },
    });

    expect(answers.map(outcome)).toEqual(Array(3).fill(refused));
    expect(problem.body.errors).toEqual([
      { pointer: '#/email', code: 'INVALID_FORMAT', detail: rule },
    ]);
  });

  it('is refused for a user whom an admin creates, or whose address an admin changes', async () => {
    const user = await olderUser();
    const json = newAccount({ email: unmailable() });

    const made = await api('POST', '/api/users', { token: adminToken, json });
    const path = `/api/users/${user.id}`;
    const moved = await api('PUT', path, { token: adminToken, json: { email: unmailable() } });

    expect([made, moved].map(outcome)).toEqual([refused, refused]);
  });

  it('is refused as one’s own new address, whether or not another user has it, and is not kept', async () => {
    const [user, other] = [await olderUser(), await olderUser()];
    const put = (email: string) =>
      api('PUT', `/api/users/${user.id}`, { token: user.token, json: { name: 'New', email } });

    const answers = [
      await put(other.email),
      await put(unmailable()),
      await put(user.email.toUpperCase()),
    ];

    expect(answers.map(outcome)).toEqual(Array(3).fill(refused));
    const { data } = (await api('GET', '/api/profile', { token: user.token })).body;
    expect([data.name, data.email, data.pending_email]).toEqual([
      'Some One',
      user.email,
      undefined,
    ]);
  });

  it('is not refused if it is the present address of the user', async () => {
    const user = await olderUser();

    for (const token of [user.token, adminToken]) {
      const json = { name: 'Ada King', email: user.email };
      const answer = await api('PUT', `/api/users/${user.id}`, { token, json });

      expect([answer.status, answer.body.name, answer.body.email]).toEqual([
        200,
        'Ada King',
        user.email,
      ]);
    }
  });

  it('reveals nothing to a caller who may not change the user', async () => {
    const [user, other] = [await olderUser(), await olderUser()];
    const put = (email: string) =>
      api('PUT', `/api/users/${other.id}`, { token: user.token, json: { email } });

    const answers = [await put(other.email), await put(unmailable())];

    expect(answers.map(outcome)).toEqual(Array(2).fill(refusal(403, 'Forbidden')));
  });
});

it('Where addresses are verified, a domain beyond ASCII is mailed in punycode', async () => {
  const account = newAccount({ email: uniqueEmail().replace('example.org', 'bücher.example') });
  const mailed = account.email.replace('bücher', 'xn--bcher-kva');

  const { status } = await sendRegistration(api, account);
  const token = await mailedToken(service, mailed);

  expect(status).toBe(201);
  expect((await verify(api, token, account.password)).status).toBe(204);
  expect(await logIn(api, account)).toMatch(/^ey/);
  expect(await logIn(api, { ...account, email: mailed })).toMatch(/^ey/);
});

it('Where addresses are not verified, any address can be registered', async () => {
  expect((await register(before.api, { email: unmailable() })).id).toBeGreaterThan(0);
});
