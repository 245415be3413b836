import { DeleteCommand } from '@aws-sdk/lib-dynamodb';
import type { Page } from 'playwright-core';
import { describe, expect, inject, it } from 'vitest';
import { mailsKey } from '../../../lib/options/mails/limits.ts';
import { register, uniqueEmail } from '../../support/client.ts';
import { appoint } from '../../support/examples.ts';
import { mailingServiceForThisFile, tokenIn } from '../../support/mailbox.ts';
import { markVerified, setFieldsOf, useUpMails } from '../../support/reset-tokens.ts';
import { engineClient } from '../../support/stored-items.ts';
import { verificationSettings } from '../../support/verification.ts';
import { browserForThisFile } from '../browser.ts';
import { openConsole } from '../console.ts';
import { button, title, violationsIn } from '../page.ts';

const service = await mailingServiceForThisFile({
  ...verificationSettings.on,
  SESSION_DAYS: '30',
  MAIL_LANGUAGE: 'de',
});
const { api, adminToken: token, mailbox } = service;
const browser = await browserForThisFile();
const TableName = service.environment.USERS_TABLE;

describe('The form for a new user, where mails are sent,', () => {
  it('invites by default, and the screen of the user sends the invitation again until it is used', async () => {
    const email = uniqueEmail();
    const { page, complaints } = await openConsole(browser, service, '#/users');
    const buttonsIn = async () => (await page.getByRole('listitem').allInnerTexts()).join(' ');

    await button(page, 'Create a user').click();
    await page.getByLabel('Name', { exact: true }).fill('Ada');
    await page.getByLabel('Email address').fill(email);
    expect(await page.getByLabel('Password', { exact: true }).count()).toBe(0);
    expect(await page.getByLabel('Language of the mail').inputValue()).toBe('de');
    expect(await violationsIn(page)).toEqual([]);
    await page.getByLabel('Language of the mail').selectOption('English');
    await button(page, 'Create the user').click();
    await title(page, 'Ada').waitFor();
    await page.getByText('Invited, with a link until').waitFor();
    await page.getByRole('listitem').getByText('Invitation', { exact: true }).waitFor();
    const [first] = await mailbox.mailsTo(email);
    const invited = await buttonsIn();

    const Key = mailsKey({ kind: 'reset', email });
    await engineClient(inject('engine')).send(new DeleteCommand({ TableName, Key }));
    await button(page, 'Send again').click();
    await page.getByRole('dialog').getByText('sets a first password').waitFor();
    expect(await violationsIn(page)).toEqual([]);
    await button(page, 'Mail the link').click();
    await page.getByText(`A link was mailed to ${email}.`).waitFor();
    const mail = (await mailbox.mailsTo(email, 2)).at(-1) ?? expect.unreachable();
    const json = { token: tokenIn(mail), password: 'a password of my own' };
    expect((await api('PUT', '/api/password-resets', { json })).status).toBe(204);
    await page.reload();
    await button(page, 'Make an admin').waitFor();
    await page.getByText('password, by invitation').waitFor();

    expect([first?.subject, mail.subject]).toEqual([
      'Your account at app.example.com',
      'Ihr Konto bei app.example.com',
    ]);
    expect(invited).toContain('Invitation');
    expect(invited).not.toMatch(/Make an admin|Forgotten password/);
    expect(await buttonsIn()).toContain('Forgotten password');
    expect(await page.getByText('invited', { exact: true }).count()).toBe(2);
    expect(complaints).toEqual([]);
  });

  it('offers no link that sets another password to a user who is suspended', async () => {
    const json = { name: 'Ada', email: uniqueEmail(), password: 'a password' };
    const { id } = (await api('POST', '/api/users', { token, json })).body;
    await api('PUT', `/api/users/${id}/suspension`, { token });

    const { page } = await openConsole(browser, service, `#/users/${id}`);
    await button(page, 'Lift').waitFor();

    expect(await page.getByText('No link is mailed to a user who is suspended.').count()).toBe(1);
    expect(await button(page, 'Mail a link').count()).toBe(0);
  });

  it('says until when an expired link was valid', async () => {
    const json = { name: 'Ada', email: uniqueEmail(), invite: true };
    const { id } = (await api('POST', '/api/users', { token, json })).body;
    // The link and the time of its expiry are made when the mail is sent.
    await mailbox.mailsTo(json.email);
    await setFieldsOf(service.environment, id, { invited_until: '2026-01-31T09:05:00.000Z' });

    const { page } = await openConsole(browser, service, `#/users/${id}`);

    const sentence = await page.getByText(/^Invited, with a link/).innerText();
    expect(sentence).toContain('Invited, with a link that was valid until');
  });

  it('says until when an expired link was valid also within the second in which the link has expired', async () => {
    const json = { name: 'Ada', email: uniqueEmail(), invite: true };
    const { id } = (await api('POST', '/api/users', { token, json })).body;
    await mailbox.mailsTo(json.email);
    await setFieldsOf(service.environment, id, { invited_until: '2026-01-31T09:05:00.900Z' });
    const { page } = await openConsole(browser, service, '#/users');
    // Responses contain the time in whole seconds.
    await page.route('**/api/**', async (route) => {
      const response = await route.fetch();
      const headers = { ...response.headers(), date: 'Sat, 31 Jan 2026 09:05:00 GMT' };
      await route.fulfill({ response, headers });
    });

    await page.goto(`${service.url}/console#/users/${id}`);

    const sentence = await page.getByText(/^Invited, with a link/).innerText();
    await page.unrouteAll({ behavior: 'wait' });
    expect(sentence).toContain('Invited, with a link that was valid until');
  });

  it('shows an auditor that a user is invited and suspended, as it shows an admin', async () => {
    const auditor = await appoint(api, token, await register(api));
    const json = { name: 'Ada', email: uniqueEmail(), invite: true };
    const { id } = (await api('POST', '/api/users', { token, json })).body;
    await mailbox.mailsTo(json.email);
    await api('PUT', `/api/users/${id}/suspension`, { token });

    const asked = { url: service.url, admin: auditor };
    const { page } = await openConsole(browser, asked, `#/users/${id}`);

    // A suspension makes the link void.
    await page.getByText('Invited, with a link that was valid until').waitFor();
    const states = await page.getByRole('listitem').allInnerTexts();
    expect(states.map((each) => each.split(/\s*\n\s*/))).toEqual([
      ['Invitation', 'The user has no password yet.'],
      ['Suspension', 'The user cannot sign in.'],
    ]);
  });

  it('lets the admin choose a password, and a role', async () => {
    const email = uniqueEmail();
    const { page } = await openConsole(browser, service, '#/users');

    await button(page, 'Create a user').click();
    await page.getByLabel('First password').selectOption('I choose it');
    await page.getByLabel('Name', { exact: true }).fill('Grace');
    await page.getByLabel('Email address').fill(email);
    await page.getByLabel('Password', { exact: true }).fill('a long password');
    await page.getByLabel('Role').selectOption('admin');
    await button(page, 'Create the user').click();
    await title(page, 'Grace').waitFor();

    const { body } = await api('GET', `/api/users?email=${email}`, { token });
    expect(body).toMatchObject([{ role: 'admin', email }]);
  });
});

describe('Once an address has had its mails, the console says when the next mail may be sent', () => {
  const { environment } = service;
  const said = 'Too many mails. The next may be sent at';
  /** Opens a place, does something that would send a mail, and requires the notice that no mail is sent. */
  const expectRefusal = async (
    place: string,
    failed: string,
    act: (page: Page) => Promise<void>,
  ) => {
    const { page, complaints } = await openConsole(browser, service, place);
    await act(page);
    const notice = page.getByRole('alert').filter({ hasText: `${failed}. ${said}` });
    await notice.getByText('You can try again in').waitFor();
    expect(await notice.innerText()).toMatch(
      /sent at \d{1,2}:\d\d.*\.\s+You can try again in \d+:\d\d min\.$/,
    );
    expect(await violationsIn(page)).toEqual([]);
    expect(complaints.filter((each) => !each.includes('429'))).toEqual([]);
    return page;
  };

  it('to a new user', async () => {
    const email = uniqueEmail();
    await useUpMails(environment, { kind: 'reset', email });

    const page = await expectRefusal('#/users', 'The user was not created', async (users) => {
      await button(users, 'Create a user').click();
      await users.getByLabel('Name', { exact: true }).fill('Ada');
      await users.getByLabel('Email address').fill(email);
      await button(users, 'Create the user').click();
    });

    const another = uniqueEmail();
    await page.getByLabel('Email address').fill(another);
    await button(page, 'Create the user').click();
    await page.getByText(`and a link is mailed to ${another}.`).waitFor();
  });

  it.each([
    ['whose invitation is sent again', 'Send again', { invite: true }],
    ['who forgot the password', 'Mail a link', { password: 'a password' }],
  ])('to a user %s', async (_, name, json) => {
    const email = uniqueEmail();
    const { id } = (
      await api('POST', '/api/users', { token, json: { name: 'Ada', email, ...json } })
    ).body;
    // The mail of an invitation is counted when it is sent, which must happen before the other mails.
    if ('invite' in json) await mailbox.mailsTo(email);
    await useUpMails(environment, { kind: 'reset', email });

    await expectRefusal(`#/users/${id}`, 'No link was mailed', async (page) => {
      await button(page, name).click();
      await button(page, 'Mail the link').click();
    });
  });

  it('to oneself, and then mails the link that verifies the address', async () => {
    const { email } = service.admin;
    const mails = { kind: 'verification', email } as const;
    await markVerified(environment, 1, { email_verified: false });
    await useUpMails(environment, mails);

    const page = await expectRefusal('#/account', 'No link was mailed', (account) =>
      button(account, 'Mail the link').click(),
    );
    await engineClient(inject('engine')).send(
      new DeleteCommand({ TableName, Key: mailsKey(mails) }),
    );
    await page.reload();
    await button(page, 'Mail the link').click();

    await page.getByText(`A link was mailed to ${email}.`).waitFor();
    expect((await mailbox.mailsTo(email)).at(-1)?.subject).toBe('Confirm your email address');
    await markVerified(environment, 1);
    await page.reload();
    await title(page, 'My account').waitFor();
    expect(await page.getByText('Verify the address').count()).toBe(0);
  });
});
