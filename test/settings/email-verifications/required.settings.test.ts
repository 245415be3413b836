import { describe, expect, it } from 'vitest';
import { entriesOf, outcome, refusal, stopClock, uniqueAgent } from '../../support/acceptance.ts';
import { type ApiAnswer, logIn, uniqueEmail } from '../../support/client.ts';
import { mailingServiceForThisFile } from '../../support/mailbox.ts';
import {
  mailedToken,
  newAccount,
  sendRegistration,
  verificationSettings,
  verify,
} from '../../support/verification.ts';

const service = await mailingServiceForThisFile(verificationSettings.required);
const uniform = await mailingServiceForThisFile({
  ...verificationSettings.required,
  ACCOUNTS: 'private',
});

const registered = [201, { message: 'User registered successfully' }];
const taken = refusal(409, 'Email already registered');

const verified = async ({ api, mailbox }: typeof service) => {
  const account = newAccount();
  await sendRegistration(api, account);
  await verify(api, await mailedToken({ mailbox }, account.email), account.password);
  return { ...account, token: await logIn(api, account) };
};

describe('With EMAIL_VERIFICATION=required', () => {
  const { api, adminToken } = service;

  it('a registration gets no token, and a user whose address is not verified cannot log in', async () => {
    const account = newAccount();
    const agent = uniqueAgent();

    const answer = await sendRegistration(api, account);
    const link = await mailedToken(service, account.email);
    const headers = { 'user-agent': agent };
    const refused = await api('POST', '/api/login', { json: account, headers });
    await verify(api, link, account.password);

    expect(outcome(answer)).toEqual(registered);
    expect(outcome(refused)).toEqual(refusal(403, 'Email is not verified'));
    expect(refused.headers.get('error-code')).toBe('EMAIL_NOT_VERIFIED');
    expect(await logIn(api, account)).toMatch(/^ey/);
    expect(await entriesOf(service, agent)).toEqual([
      expect.objectContaining({
        action: 'LOGIN',
        result: 'FAILURE',
        details: '{"reason":"email_not_verified"}',
      }),
    ]);
  });

  it('a wrong password is refused as before, and the refusal does not tell the state of the address', async () => {
    const account = newAccount();
    await sendRegistration(api, account);

    const answer = await api('POST', '/api/login', { json: { ...account, password: 'wrong' } });

    expect(outcome(answer)).toEqual(refusal(401, 'Invalid credentials'));
  });

  it('without ACCOUNTS=private, a taken address is refused, and users may create users', async () => {
    const user = await verified(service);

    expect(outcome(await sendRegistration(api, newAccount({ email: user.email })))).toEqual(taken);
    const options = { token: user.token, json: newAccount() };
    expect((await api('POST', '/api/users', options)).status).toBe(201);
    expect((await api('POST', '/api/users', { ...options, token: adminToken })).status).toBe(409);
  });
});

describe('With EMAIL_VERIFICATION=required and ACCOUNTS=private', () => {
  const { api, mailbox } = uniform;

  /** Everything that a client sees of a response, without the headers that differ between any two responses. */
  const seen = ({ status, text, headers }: ApiAnswer) => {
    const varying = ['date', 'x-request-id', 'apigw-requestid'];
    const kept = [...headers].filter(([name]) => !varying.includes(name));
    return { status, text, headers: Object.fromEntries(kept) };
  };

  it('a registration with a taken address gets the response of a free one, and changes nothing', async () => {
    const holder = await verified(uniform);
    const agent = uniqueAgent();
    const other = newAccount({ email: holder.email, password: 'another password' });

    const free = await sendRegistration(api, newAccount());
    const answer = await api('POST', '/api/auth/register', {
      json: other,
      headers: { 'user-agent': agent },
    });

    expect(seen(answer)).toEqual(seen(free));
    expect(outcome(answer)).toEqual(registered);
    expect((await api('POST', '/api/login', { json: other })).status).toBe(401);
    expect(await logIn(api, holder)).toMatch(/^ey/);
    const entries = await entriesOf(uniform, agent);
    expect(entries).toContainEqual(
      expect.objectContaining({
        action: 'CREATE',
        result: 'FAILURE',
        user_id: null,
        resource_id: null,
        details: '{"reason":"email_registered"}',
      }),
    );
  });

  it('a right password counts as a failed login and mails nothing until the address is verified', async () => {
    stopClock();
    const account = newAccount();
    await sendRegistration(api, account);
    const link = await mailedToken(uniform, account.email);
    const statuses: number[] = [];

    for (let i = 0; i < 11; i += 1) {
      statuses.push((await api('POST', '/api/login', { json: account })).status);
    }

    expect(statuses).toEqual([...Array(10).fill(401), 429]);
    expect((await verify(api, link, account.password)).status).toBe(429);
    expect(mailbox.mails.filter(({ to }) => to.includes(account.email))).toHaveLength(1);
  });

  it('the holder of the address gets a mail with a link that sets a password', async () => {
    const holder = await verified(uniform);
    await sendRegistration(api, newAccount({ email: holder.email }));

    const [, mail] = await mailbox.mailsTo(holder.email, 2);
    const token = await mailedToken(uniform, holder.email, 2);
    const json = { token, password: 'another password' };

    expect(mail?.text).toContain('This address has an account already');
    expect((await api('PUT', '/api/password-resets', { json })).status).toBe(204);
  });

  it('a second request for the same address leaves the first link usable', async () => {
    const user = await verified(uniform);
    const { id } = (await api('GET', '/api/profile', { token: user.token })).body.data;
    const email = uniqueEmail();
    const ask = () => api('PUT', `/api/users/${id}`, { token: user.token, json: { email } });
    await ask();
    const link = await mailedToken(uniform, email);

    await ask();

    expect((await verify(api, link, user.password)).status).toBe(204);
  });
});
