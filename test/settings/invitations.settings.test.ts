import { DeleteCommand } from '@aws-sdk/lib-dynamodb';
import { describe, expect, inject, it } from 'vitest';
import { mailsKey } from '../../lib/options/mails/limits.ts';
import {
  entriesOf,
  isoTimestamp,
  listUsers,
  outcome,
  refusal,
  serviceForThisFile,
  uniqueAgent,
} from '../support/acceptance.ts';
import { logIn, register, uniqueEmail } from '../support/client.ts';
import { appoint, promote } from '../support/examples.ts';
import { mailingServiceForThisFile, tokenIn } from '../support/mailbox.ts';
import { plantInvitation, setFieldsOf, useUpMails } from '../support/reset-tokens.ts';
import { engineClient } from '../support/stored-items.ts';
import { verificationSettings } from '../support/verification.ts';

const service = await mailingServiceForThisFile({
  ...verificationSettings.on,
  SESSION_DAYS: '30',
  PASSWORD_MIN_LENGTH: '8',
});
const { api, adminToken: token, mailbox, environment } = service;
const engine = engineClient(inject('engine'));
const password = 'a password of my own';
const invalid = refusal(400, 'Invalid or expired reset token');

const create = (json: object, by = token, headers = {}) =>
  api('POST', '/api/users', { token: by, headers, json: { name: 'Ada', ...json } });
const inviteAgain = (id: number, json: object = {}, headers = {}) =>
  api('POST', `/api/users/${id}/invitations`, { token, json, headers });
const change = (id: number, json: object) => api('PUT', `/api/users/${id}`, { token, json });
const show = async (id: number) => (await api('GET', `/api/users/${id}`, { token })).body;
const use = (link: string, json: object = {}, headers = {}) =>
  api('PUT', '/api/password-resets', { json: { token: link, password, ...json }, headers });
const linkTo = async (email: string, count = 1) => {
  const mail = (await mailbox.mailsTo(email, count)).at(-1);
  return mail ? tokenIn(mail) : '';
};
const subjectsTo = (email: string) =>
  mailbox.mails.filter(({ to }) => to.includes(email)).map(({ subject }) => subject);
/** An address gets at most one mail in a minute; this lets it get another one. */
const anotherMinute = (email: string) =>
  engine.send(
    new DeleteCommand({
      TableName: environment.USERS_TABLE,
      Key: mailsKey({ kind: 'reset', email }),
    }),
  );

const useUp = (email: string) => useUpMails(environment, { kind: 'reset', email });

/** A user whom an admin has invited, and the token of the link. */
const invited = async (json: object = {}) => {
  const email = uniqueEmail();
  const { body } = await create({ email, invite: true, ...json });
  return { id: Number(body.id), email, link: await linkTo(email) };
};
/** A user whom an import has created without a password. */
const imported = async (fields: object = {}) => {
  const email = uniqueEmail();
  const { id } = (await create({ email, password })).body;
  const password_hash = `$2b$04$${'.'.repeat(53)}`;
  await setFieldsOf(environment, id, { password_hash, email_verified: false, ...fields });
  return { id, email };
};

describe('POST /api/users with an invitation', () => {
  it('creates a user whose invitation other users do not see', async () => {
    const { id } = await invited();
    const { token: ofStranger } = await register(api);

    const { body } = await api('GET', `/api/users/${id}`, { token: ofStranger });

    expect(body).toMatchObject({ id, name: 'Ada' });
    expect(body).not.toHaveProperty('invited_until');
  });

  it('creates a user without a way in; the mailed link sets a password once and verifies the address', async () => {
    const [email, agent] = [uniqueEmail(), uniqueAgent()];
    const headers = { 'user-agent': agent };
    const [before, until] = [Date.now(), 7 * 86_400_000];

    const made = await create({ email, invite: true }, token, headers);
    const { id, invited_until } = made.body;
    const login = await api('POST', '/api/login', { json: { email, password: '' } });
    const link = await linkTo(email);
    const shown = await show(id);
    const used = await use(link, {}, headers);
    const again = await use(link, { password: 'another one' });

    expect(outcome(made)).toMatchObject([
      201,
      { name: 'Ada', email, role: 'user', email_verified: false, invited_until: isoTimestamp },
    ]);
    expect(Math.abs(Date.parse(invited_until) - before - until)).toBeLessThan(60_000);
    expect(login.status).toBe(400);
    expect(shown).toMatchObject({ email_verified: false, invited_until: isoTimestamp });
    expect([used.status, used.text]).toEqual([204, '']);
    expect(outcome(again)).toEqual(invalid);
    expect((await api('POST', '/api/login', { json: { email, password } })).status).toBe(200);
    expect(await show(id)).toMatchObject({ email_verified: true });
    expect(await show(id)).not.toHaveProperty('invited_until');
    const entries = await entriesOf(service, agent);
    expect(
      entries.map(({ action, user_id, resource_id, details }) => [
        action,
        user_id === id,
        resource_id,
        details,
      ]),
    ).toEqual([
      ['CREATE', false, String(id), '{"invited":true}'],
      ['UPDATE', true, String(id), '{"fields":["password"],"by":"invitation"}'],
    ]);
    // No notice about the password is sent.
    expect(mailbox.mails.filter(({ to }) => to.includes(email))).toHaveLength(1);
  });

  it.each([
    [{}, { 'accept-language': 'de' }, 'Your account at app.example.com'],
    [{ language: 'en' }, { 'accept-language': 'de' }, 'Your account at app.example.com'],
    [{ language: 'de' }, {}, 'Ihr Konto bei app.example.com'],
  ])(
    'mails in the language of the body %o and the headers %o, with the subject %j',
    async (json, headers, subject) => {
      const email = uniqueEmail();

      await create({ email, invite: true, ...json }, token, headers);

      const [mail] = await mailbox.mailsTo(email);
      expect(mail?.subject).toBe(subject);
      // The mail contains nothing that the admin or anybody else has typed, and not the admin's address.
      expect(mail?.text).not.toMatch(/Ada|127\.0\.0\.1/);
    },
  );

  it.each([
    [{ password }, 'Send either a password or an invitation'],
    [{ password: 7 }, 'Send either a password or an invitation'],
    [{ password: 0 }, 'Send either a password or an invitation'],
    [{ role: 'admin' }, 'Nobody is invited as an admin'],
    [{ invite: 'yes' }, 'invite must be true or false'],
    [{ invite: null, password }, 'invite must be true or false'],
    [{ invite: 1, password }, 'invite must be true or false'],
    [{ invite: false }, 'All fields are required'],
    [{ language: 'fr' }, 'language must be one of en, de'],
    [{ language: null }, 'language must be one of en, de'],
    [{ name: '' }, 'All fields are required'],
    [{ email: '"a,b"@example.org' }, 'email must be an address that mails can be sent to'],
  ])('answers 400 to %o', async (json, message) => {
    const answer = await create({ email: uniqueEmail(), invite: true, ...json });

    expect(answer.status).toBe(400);
    expect(answer.body.message).toBe(message);
  });

  it('treats an empty password as no password, and `invite: false` as no invitation', async () => {
    const json = [
      { invite: true, password: '' },
      { invite: true, password: null },
    ];
    for (const each of json) {
      expect((await create({ email: uniqueEmail(), ...each })).body).toHaveProperty(
        'invited_until',
      );
    }
    const { status, body } = await create({ email: uniqueEmail(), invite: false, password });
    expect([status, body.email_verified]).toEqual([201, true]);
    expect(body).not.toHaveProperty('invited_until');
  });

  it('answers 409 to a taken address', async () => {
    const { email } = await register(api);

    const answer = await create({ email, invite: true });

    expect(outcome(answer)).toEqual(refusal(409, 'Email already registered'));
  });

  it('answers 429, before it writes anything, to an address that has had its mails', async () => {
    const [{ id }, email, agent] = [await invited(), uniqueEmail(), uniqueAgent()];
    await useUp(email);
    const headers = { 'user-agent': agent, accept: 'application/problem+json' };

    const answer = await create({ email, invite: true }, token, headers);

    const { title, status, code, retryAfter } = answer.body;
    expect([answer.status, status, title, code]).toEqual([
      429,
      429,
      'Too many mails',
      'MAILS_LIMITED',
    ]);
    expect(String(retryAfter)).toBe(answer.headers.get('retry-after'));
    expect([retryAfter > 0, retryAfter <= 3600]).toEqual([true, true]);
    expect(await entriesOf(service, agent)).toEqual([]);
    const next = await create({ email, password });
    expect([next.status, next.body.id]).toEqual([201, id + 1]);
    expect(mailbox.mails.filter(({ to }) => to.includes(email))).toEqual([]);
  });
});

describe('A user who is invited', () => {
  it('becomes neither an admin nor an auditor before the link is used', async () => {
    const { id, link } = await invited();
    const refused = refusal(409, 'Invitation not accepted');

    expect(outcome(await change(id, { role: 'admin' }))).toEqual(refused);
    expect(outcome(await change(id, { role: 'admin', password }))).toEqual(refused);
    expect(outcome(await change(id, { auditor: true }))).toEqual(refused);
    expect((await change(id, { auditor: false })).status).toBe(200);
    await use(link);

    expect((await change(id, { role: 'admin', auditor: true })).status).toBe(200);
  });

  it.each([{}, { email: uniqueEmail() }])(
    'has a verified address once an admin sets a password together with %o, and the response says so',
    async (others) => {
      const { id, link } = await invited();

      const { status, body } = await change(id, { password, ...others });

      expect([status, body.email_verified]).toEqual([200, true]);
      expect(body).not.toHaveProperty('invited_until');
      expect(await show(id)).toMatchObject({ email_verified: true });
      expect(outcome(await use(link))).toEqual(invalid);
      expect((await change(id, { role: 'admin' })).status).toBe(200);
    },
  );

  it('has no verified address if the password is set by a creator who is no longer an admin', async () => {
    const maker = await promote(api, token, await register(api));
    const email = uniqueEmail();
    const { id } = (await create({ email, invite: true }, maker.token)).body;
    await linkTo(email);
    await change(maker.id, { role: 'user' });
    const by = await logIn(api, maker);

    const { body } = await api('PUT', `/api/users/${id}`, { token: by, json: { password } });

    expect(body.email_verified).toBe(false);
  });

  it('is shown no more than any other user, and other users do not learn of the invitation', async () => {
    const { id, email } = await invited();
    const other = await register(api);
    const asked = [
      (user: { email: string }) =>
        api('POST', '/api/login', { json: { email: user.email, password: 'wrong' } }),
      (user: { email: string }) =>
        api('POST', '/api/password-resets', { json: { email: user.email } }),
      (user: { email: string }) =>
        api('POST', '/api/auth/register', { json: { name: 'A', email: user.email, password } }),
    ];

    for (const ask of asked) {
      expect(outcome(await ask({ email }))).toEqual(outcome(await ask(other)));
    }
    const { body } = await api('GET', `/api/users/${id}`, { token: other.token });
    expect(body).not.toHaveProperty('invited_until');
    const listed = await listUsers(api, other.token);
    expect(listed.filter((user) => 'invited_until' in user)).toEqual([]);
  });

  it('is shown to admins and auditors, in the list too', async () => {
    const { id } = await invited();
    const auditor = await appoint(api, token, await register(api));

    for (const reader of [token, auditor.token]) {
      const { body } = await api('GET', `/api/users/${id}`, { token: reader });
      expect(body).toHaveProperty('invited_until', isoTimestamp);
      await expect
        .poll(async () => (await listUsers(api, reader)).find((user) => user.id === id))
        .toMatchObject({ invited_until: body.invited_until });
    }
  });

  it('gets a new invitation by asking for a reset, and only the newest link works', async () => {
    const { id, email, link } = await invited();
    await anotherMinute(email);
    const agent = uniqueAgent();

    const headers = { 'user-agent': agent, 'accept-language': 'de' };
    await api('POST', '/api/password-resets', { json: { email }, headers });
    const newer = await linkTo(email, 2);

    const mails = await mailbox.mailsTo(email, 2);
    expect(mails.map(({ subject }) => subject)).toEqual([
      'Your account at app.example.com',
      'Ihr Konto bei app.example.com',
    ]);
    expect(outcome(await use(link))).toEqual(invalid);
    expect((await use(newer)).status).toBe(204);
    expect(await show(id)).toMatchObject({ email_verified: true });
    // The entry is written after the mail is sent.
    await expect
      .poll(async () => (await entriesOf(service, agent)).map(({ details }) => details))
      .toEqual(['{"fields":[],"by":"reset","requested":true}']);
  });

  it('is mailed at most five links an hour; then the admin is told, and the last link stays valid', async () => {
    const { id, email, link } = await invited();
    await useUp(email);

    expect(outcome(await inviteAgain(id))).toEqual(refusal(429, 'Too many mails'));
    await api('POST', '/api/password-resets', { json: { email } });
    await invited();

    expect(mailbox.mails.filter(({ to }) => to.includes(email))).toHaveLength(1);
    expect((await use(link)).status).toBe(204);
  });

  it('gets no notice of changes by an admin before a password is set', async () => {
    const [moved, given] = [await invited(), await invited()];

    await change(moved.id, { email: uniqueEmail() });
    await change(given.id, { password });
    await invited();

    expect([moved, given].map(({ email }) => subjectsTo(email))).toEqual([
      ['Your account at app.example.com'],
      ['Your account at app.example.com'],
    ]);
  });

  it('keeps the link when the chosen password is refused', async () => {
    const { link } = await invited();

    expect((await use(link, { password: 'short' })).status).toBe(400);

    expect((await use(link)).status).toBe(204);
  });
});

/** Events that make a link void, besides the events in ways-in.settings.test.ts. */
const voiding: Readonly<Record<string, (user: { id: number; email: string }) => Promise<unknown>>> =
  {
    'another address': ({ id }) => change(id, { email: uniqueEmail() }),
    'another address, and then the same address again': async ({ id, email }) => {
      await change(id, { email: uniqueEmail() });
      await change(id, { email });
    },
    'another spelling of the address': ({ id, email }) =>
      change(id, { email: email.toUpperCase() }),
    'a suspension that is lifted': async ({ id }) => {
      await api('PUT', `/api/users/${id}/suspension`, { token });
      await api('DELETE', `/api/users/${id}/suspension`, { token });
    },
    'another user with the address': async ({ id, email }) => {
      await api('DELETE', `/api/users/${id}`, { token });
      await anotherMinute(email);
      await create({ email, invite: true });
    },
  };

describe('The link of an invitation', () => {
  it.each(Object.entries(voiding))('is void after %s', async (_, happen) => {
    const user = await invited();

    await happen(user);

    expect(outcome(await use(user.link))).toEqual(invalid);
  });

  it.each(['another address', 'a suspension that is lifted'])(
    'is shown as expired after %s, and can be sent again',
    async (name) => {
      const { id } = await invited();
      await voiding[name]?.({ id, email: (await show(id)).email });
      const { email, email_verified, invited_until } = await show(id);
      expect(email_verified).toBe(false);
      expect(Date.parse(invited_until)).toBeLessThanOrEqual(Date.now());
      expect(outcome(await change(id, { role: 'admin' }))[0]).toBe(409);
      await anotherMinute(email);
      const before = mailbox.mails.filter(({ to }) => to.includes(email)).length;

      expect((await inviteAgain(id)).status).toBe(204);

      expect((await use(await linkTo(email, before + 1))).status).toBe(204);
    },
  );

  it('does not verify an address', async () => {
    const { link } = await invited();

    const json = { token: link, password };
    const answer = await api('PUT', '/api/email-verifications', { json });

    expect(outcome(answer)).toEqual(refusal(400, 'Invalid or expired verification token'));
  });
});

describe('POST /api/users/{id}/invitations', () => {
  it('invites a user who was imported without a password, in the language that the request names', async () => {
    const { id, email } = await imported();
    const agent = uniqueAgent();
    expect(await show(id)).not.toHaveProperty('invited_until');

    const answer = await inviteAgain(id, { language: 'de' }, { 'user-agent': agent });

    expect([answer.status, answer.text]).toEqual([204, '']);
    const link = await linkTo(email);
    expect((await mailbox.mailsTo(email)).at(-1)?.subject).toBe('Ihr Konto bei app.example.com');
    expect(await show(id)).toHaveProperty('invited_until');
    expect(outcome(await change(id, { role: 'admin' }))[0]).toBe(409);
    expect((await use(link)).status).toBe(204);
    const [entry] = await entriesOf(service, agent);
    expect(entry).toMatchObject({
      action: 'UPDATE',
      resource_id: String(id),
      result: 'SUCCESS',
      details: '{"invited":true}',
    });
  });

  it('takes a request without a body', async () => {
    const { id, email } = await invited();
    await anotherMinute(email);

    expect((await api('POST', `/api/users/${id}/invitations`, { token })).status).toBe(204);
  });

  it.each<[string, () => Promise<number>, number, string]>([
    ['has a password', async () => (await register(api)).id, 409, 'Already has a way in'],
    ['does not exist', async () => 9_007_199_254_740_991, 404, 'User not found'],
  ])('refuses to invite a user who %s, and mails nothing', async (...row) => {
    const [, make, status, message] = row;
    const id = await make();

    expect(outcome(await inviteAgain(id))).toEqual(refusal(status, message));
    await api('DELETE', `/api/users/${id}`, { token });
  });
});

describe('Where addresses are not verified', async () => {
  const unverified = await mailingServiceForThisFile({ ACCOUNTS: 'private' });
  const invite = (email: string) =>
    unverified.api('POST', '/api/users', {
      token: unverified.adminToken,
      json: { name: 'Ada', email, invite: true },
    });

  it('an invitation works too, and the user has no field email_verified', async () => {
    const email = uniqueEmail();

    const { status, body } = await invite(email);
    const json = { token: await linkTo(email), password };
    const used = await unverified.api('PUT', '/api/password-resets', { json });

    expect([status, used.status]).toEqual([201, 204]);
    expect(body).toHaveProperty('invited_until');
    expect(body).not.toHaveProperty('email_verified');
    expect(await logIn(unverified.api, { email, password })).toBeTypeOf('string');
  });

  it('the deletion of a user without a password is not mailed to the address', async () => {
    const [email, next] = [uniqueEmail(), uniqueEmail()];
    const { body } = await invite(email);
    const { api: call, adminToken: by } = unverified;

    await linkTo(email);
    await call('DELETE', `/api/users/${body.id}`, { token: by });
    await invite(next);
    await linkTo(next);

    expect(subjectsTo(email)).toEqual(['Your account at app.example.com']);
  });

  it('nobody is invited to an address that no mail can reach', async () => {
    const message = 'email must be an address that mails can be sent to';

    expect(outcome(await invite('"a,b"@example.org'))).toEqual(refusal(400, message));
  });
});

describe('Where no mails are sent, an invitation', async () => {
  const without = await serviceForThisFile();

  it('that was stored earlier keeps its user from becoming an admin until a password is set', async () => {
    const { id } = await register(without.api);
    await plantInvitation(without.environment, id);
    const put = async (json: object) =>
      outcome(await without.api('PUT', `/api/users/${id}`, { token: without.adminToken, json }));
    const refused = refusal(409, 'Invitation not accepted');

    expect(await put({ role: 'admin' })).toEqual(refused);
    expect(await put({ role: 'admin', password })).toEqual(refused);
    expect((await put({ password }))[0]).toBe(200);
    expect((await put({ role: 'admin' }))[0]).toBe(200);
  });

  it('is an unknown field, and is ignored', async () => {
    const { token: own } = await register(without.api);
    const json = { name: 'Ada', email: uniqueEmail(), password, invite: true, language: 'fr' };

    const answers = [
      await without.api('POST', '/api/users', { token: own, json }),
      await without.api('POST', '/api/users', {
        token: without.adminToken,
        json: { ...json, email: uniqueEmail(), role: 'admin' },
      }),
    ];

    expect(answers.map(({ status }) => status)).toEqual([201, 201]);
    const [user] = answers.map(({ body }) => body);
    expect(await logIn(without.api, { ...user, password })).toBeTypeOf('string');
  });

  it('has no route: the response is 404', async () => {
    const path = `/api/users/1/invitations`;
    const answer = await without.api('POST', path, { token: without.adminToken, json: {} });

    expect(answer.status).toBe(404);
  });
});
