import { DeleteCommand } from '@aws-sdk/lib-dynamodb';
import type { Page } from 'playwright-core';
import { describe, expect, inject, it } from 'vitest';
import { mailsKey } from '../../../lib/options/mails/limits.ts';
import { serviceForThisFile } from '../../support/acceptance.ts';
import { type Account, logIn, makeUser, register, uniqueEmail } from '../../support/client.ts';
import { appoint, promote } from '../../support/examples.ts';
import { identityServiceForThisFile, newPerson, startIssuer } from '../../support/issuer.ts';
import { tokenIn } from '../../support/mailbox.ts';
import { passkeySettings } from '../../support/passkeys.ts';
import {
  plantLinkToken,
  plantPasskey,
  registerVerified,
  useUpMails,
} from '../../support/reset-tokens.ts';
import { enrol } from '../../support/second-factor.ts';
import { engineClient } from '../../support/stored-items.ts';
import { mailedToken, verificationSettings, verify } from '../../support/verification.ts';
import { browserForThisFile } from '../browser.ts';
import { openConsole, signIn } from '../console.ts';
import { button, openPage, violationsIn } from '../page.ts';

const service = await identityServiceForThisFile(await startIssuer(), {
  ...verificationSettings.on,
  ...passkeySettings,
  SECOND_FACTOR: 'optional',
});
const plain = await serviceForThisFile();
const { api, url, admin, adminToken: token, mailbox } = service;
const browser = await browserForThisFile();

const { recoveryCodes } = await enrol(api, { ...admin, token });
const codes = [...recoveryCodes];

const other = await promote(api, token, await registerVerified(service));

/** Opens the console at the page of a user, as an admin who has no second factor. */
const openUser = async (id: number) => {
  const opened = await openConsole(browser, { url, admin: other }, `#/users/${id}`);
  await button(opened.page, 'Open Lost mailbox').waitFor();
  return opened;
};

/** The same, as the admin, who has a second factor and may remove that of others. */
const openUserWithFactor = async (id: number) => {
  const opened = await openPage(browser, `${url}/console#/users/${id}`);
  const { page } = opened;
  await signIn(page, admin);
  await page.getByRole('textbox', { name: 'Code' }).fill(codes.pop() ?? '');
  await page.keyboard.press('Enter');
  await button(page, 'Open Lost mailbox').waitFor();
  return { page, complaints: () => opened.complaints.filter((each) => !each.includes('401')) };
};

const userOf = async (id: number) => (await api('GET', `/api/users/${id}`, { token })).body;

/** A user who has an identity, a passkey and a second factor. */
const registerWithAll = async (): Promise<Account> => {
  const user = await registerVerified(service);
  await service.link(user.token, newPerson(), { currentPassword: user.password });
  await plantPasskey(service.environment, user.id);
  await enrol(api, user);
  return user;
};

const dialogOf = (page: Page) => page.getByRole('dialog');

/** The steps that the dialog shows, each with its title, its sentence and its state. */
const stepsIn = async (page: Page) =>
  (await dialogOf(page).getByRole('listitem').allInnerTexts()).map((each) =>
    each.split(/\s*\n\s*/),
  );

/** Confirms that the present address, or another one, is right, and begins. */
const begin = async (page: Page, email?: string) => {
  await button(page, 'Open Somebody else is in').click();
  if (email) await dialogOf(page).getByLabel('Email address').fill(email);
  await dialogOf(page).getByRole('checkbox').check();
  await button(page, 'Begin').click();
};

/** Changes the address of a user as somebody who knows the password and reads the mails at the new address. */
const moveTo = async (email: string, { id, token, password }: Account) => {
  const json = { email, currentPassword: password };
  expect((await api('PUT', `/api/users/${id}`, { token, json })).status).toBe(200);
  const link = await mailedToken(service, email);
  expect((await verify(api, link, password)).status).toBe(204);
  expect(await userOf(id)).toMatchObject({ email });
};

/** Does something once, just before the console sends the random password of a user. */
const beforePassword = (page: Page, id: number, act: () => Promise<unknown>) => {
  let isDone = false;
  return page.route(`**/api/users/${id}`, async (route) => {
    if (!isDone && route.request().postDataJSON()?.password) {
      isDone = true;
      await act();
    }
    await route.continue();
  });
};

const setPassword = async (email: string) => {
  const mail = (await mailbox.mailsTo(email)).at(-1) ?? expect.unreachable();
  const json = { token: tokenIn(mail), password: 'a password of my own' };
  expect((await api('PUT', '/api/password-resets', { json })).status).toBe(204);
  return json.password;
};

describe('The dialog for an account that somebody else is in', () => {
  it('locks everybody out in six steps, and mails a reset link to the address that was confirmed', async () => {
    const user = await registerWithAll();
    const email = uniqueEmail();
    const { page, complaints } = await openUserWithFactor(user.id);
    const sent: string[] = [];
    page.on('request', (request) => {
      const { password } = JSON.parse(request.postData() ?? '{}');
      if (password) sent.push(password);
    });

    await button(page, 'Open Somebody else is in').click();
    await button(page, 'Begin').waitFor();
    expect(await stepsIn(page)).toEqual([
      ['1. Suspend the user', expect.any(String)],
      ['2. Confirm or replace the address', expect.any(String)],
      ['3. Set a random password', 'Nobody sees it. All passkeys and identities are removed.'],
      ['4. Remove the second factor', expect.any(String)],
      ['5. Lift the suspension', expect.any(String)],
      ['6. Mail a reset link', expect.any(String)],
    ]);
    expect(await violationsIn(page)).toEqual([]);
    await button(page, 'Begin').click();
    // Nothing begins before the address is confirmed.
    expect(await userOf(user.id)).not.toHaveProperty('suspended_at');
    await button(page, 'Cancel').click();
    await begin(page, email);
    await page.getByText('All steps are done. Look at what happened').waitFor();

    expect((await stepsIn(page)).map(([, ...done]) => done)).toEqual([
      ['The user is suspended, and signed out everywhere.', 'Done'],
      [`It is ${email}.`, 'Done'],
      ['Nobody knows it. All passkeys and identities are removed.', 'Done'],
      ['It is removed.', 'Done'],
      ['The user is no longer suspended.', 'Done'],
      [`A link was mailed to ${email}.`, 'Done'],
    ]);
    expect(await violationsIn(page)).toEqual([]);
    const after = await userOf(user.id);
    expect(after).toMatchObject({ email, email_verified: true, identities: [], passkeys: [] });
    expect(after).toMatchObject({ second_factor: { enabled: false } });
    expect(after).not.toHaveProperty('suspended_at');
    expect((await api('GET', '/api/profile', { token: user.token })).status).toBe(401);
    const json = { email, password: user.password };
    expect((await api('POST', '/api/login', { json })).status).toBe(401);
    // The random password is sent once, and kept nowhere.
    expect(sent).toEqual([expect.stringMatching(/^[\w+/]{255}$/)]);
    const kept = await page.evaluate(
      'document.documentElement.outerHTML + JSON.stringify([sessionStorage, localStorage])',
    );
    expect(kept).not.toContain(sent[0]);
    await logIn(api, { email, password: await setPassword(email) });
    expect(complaints()).toEqual([]);
  });

  it('gives back the address that the admin confirms where a stranger changes it meanwhile', async () => {
    const user = await registerVerified(service);
    const stranger = uniqueEmail();
    const { page } = await openUser(user.id);

    await button(page, 'Open Somebody else is in').click();
    await dialogOf(page).getByRole('checkbox').check();
    await moveTo(stranger, user);
    await button(page, 'Begin').click();
    await page.getByText('All steps are done.').waitFor();

    expect(await userOf(user.id)).toMatchObject({ email: user.email, email_verified: true });
    await logIn(api, { email: user.email, password: await setPassword(user.email) });
  });

  it('names the address that the user has when it opens', async () => {
    const user = await registerVerified(service);
    const stranger = uniqueEmail();
    const { page } = await openUser(user.id);
    await moveTo(stranger, user);

    await button(page, 'Open Somebody else is in').click();
    await dialogOf(page).getByText(`(${stranger})`).waitFor();

    expect(await dialogOf(page).getByLabel('Email address').inputValue()).toBe(stranger);
  });

  it('lifts no suspension where the user’s maker has changed the address between the steps, and begins again', async () => {
    const maker = await registerVerified(service);
    const user = await makeUser(api, maker.token);
    const json = { email: uniqueEmail() };
    const { page } = await openUser(user.id);
    await beforePassword(page, user.id, () =>
      api('PUT', `/api/users/${user.id}`, { token: maker.token, json }),
    );

    await begin(page);
    const why = `Somebody has changed the address to ${json.email}.`;
    await page.getByRole('alert').getByText(`Step 5 has failed. ${why}`).waitFor();
    await page.getByText('4 of 6 steps done. The user stays suspended. Go on,').waitFor();
    expect(await userOf(user.id)).toMatchObject({ ...json, suspended_at: expect.any(String) });
    await button(page, 'Go on').click();
    await page.getByText('All steps are done.').waitFor();

    const after = await userOf(user.id);
    expect(after.email).toBe(user.email);
    expect(after).not.toHaveProperty('suspended_at');
    const change = { token: maker.token, json };
    expect((await api('PUT', `/api/users/${user.id}`, change)).status).toBe(403);
  });

  it('lifts no suspension while another address waits for its link', async () => {
    const user = await registerVerified(service);
    const link = { kind: 'address', email: uniqueEmail() } as const;
    const { page } = await openUser(user.id);
    await beforePassword(page, user.id, () => plantLinkToken(service.environment, user.id, link));

    await begin(page);
    const why = `Another address, ${link.email}, waits for its link.`;
    await page.getByRole('alert').getByText(`Step 5 has failed. ${why}`).waitFor();

    expect(await userOf(user.id)).toHaveProperty('suspended_at');
  });

  it('suspends the user again where another admin has lifted the suspension between the steps', async () => {
    const user = await registerVerified(service);
    const suspension = `/api/users/${user.id}/suspension`;
    const { page } = await openUser(user.id);
    const sent: string[] = [];
    page.on('request', (request) => {
      if (request.url().endsWith(suspension)) sent.push(request.method());
    });
    await beforePassword(page, user.id, () => api('DELETE', suspension, { token }));

    await begin(page);
    const why = 'Somebody has lifted the suspension.';
    await page.getByRole('alert').getByText(`Step 5 has failed. ${why}`).waitFor();
    await page.getByText('4 of 6 steps done. The user is no longer suspended. Go on,').waitFor();
    await button(page, 'Go on').click();
    await page.getByText('All steps are done.').waitFor();

    expect(sent).toEqual(['PUT', 'PUT', 'DELETE']);
  });

  it('does not say that the user stays suspended where it cannot know', async () => {
    const user = await registerVerified(service);
    const { page } = await openUser(user.id);
    let isCut = false;
    await page.route(`**/api/users/${user.id}`, (route) => {
      isCut ||= route.request().method() === 'PUT';
      return isCut ? route.abort() : route.continue();
    });

    await begin(page, uniqueEmail());
    const unknown = 'Whether the user is still suspended is not known.';
    await page.getByText(`1 of 6 steps done. ${unknown} Go on,`).waitFor();
  });

  it('lifts no suspension from before, and says what is left to do by hand', async () => {
    const user = await registerVerified(service);
    const { page } = await openUser(user.id);

    await button(page, 'Open Somebody else is in').click();
    await dialogOf(page).getByRole('checkbox').check();
    await api('PUT', `/api/users/${user.id}/suspension`, { token });
    await button(page, 'Begin').click();
    await page.getByText('The user was suspended before, and stays suspended.').waitFor();
    await page.getByText('Mail a reset link once you have lifted the suspension.').waitFor();

    expect(await stepsIn(page)).toHaveLength(4);
    expect(await userOf(user.id)).toHaveProperty('suspended_at');
  });

  it('says when the link may be mailed where another admin has just had one mailed', async () => {
    const user = await registerVerified(service);
    const { page } = await openUser(user.id);
    await useUpMails(service.environment, { kind: 'reset', email: user.email });

    await begin(page);
    const when = /^No link was mailed\. Too many mails\. The next may be sent at \d/;
    await page.getByRole('alert').getByText(when).waitFor();
    await page.getByText('5 of 6 steps done. Go on, or do by hand what is left.').waitFor();

    expect((await stepsIn(page)).at(-1)).toEqual([
      '6. Mail a reset link',
      expect.stringMatching(/^Too many mails\. The next may be sent at \d/),
      'Waits',
    ]);
    expect(await userOf(user.id)).not.toHaveProperty('suspended_at');
  });

  it('leaves the user suspended where the address belongs to another, and goes on with a free one', async () => {
    const user = await registerVerified(service);
    const holder = await register(api);
    const email = uniqueEmail();
    const { page } = await openUser(user.id);

    await begin(page, holder.email);
    await page.getByRole('alert').getByText('Step 2 has failed.').waitFor();
    await page.getByText('1 of 6 steps done. The user stays suspended. Go on,').waitFor();
    expect((await stepsIn(page)).map(([, , state]) => state)).toEqual([
      'Done',
      'Failed',
      undefined,
      undefined,
      undefined,
      undefined,
    ]);
    expect(await page.evaluate('document.activeElement.name')).toBe('email');
    expect(await violationsIn(page)).toEqual([]);
    expect(await userOf(user.id)).toHaveProperty('suspended_at');
    await dialogOf(page).getByLabel('Email address').fill(email);
    await button(page, 'Go on').click();
    await page.getByText('All steps are done.').waitFor();

    const after = await userOf(user.id);
    expect(after.email).toBe(email);
    expect(after).not.toHaveProperty('suspended_at');
  });

  it('leaves the user suspended where the admin may not remove the factor, and says so when it is left', async () => {
    const user = await registerWithAll();
    const { page } = await openUser(user.id);
    const asked: string[] = [];
    page.on('dialog', (dialog) => {
      asked.push(dialog.message());
      void dialog.accept();
    });

    await begin(page);
    await page.getByRole('alert').getByText('Second factor required.').waitFor();
    await page.getByText('3 of 6 steps done. The user stays suspended. Go on,').waitFor();
    await page.keyboard.press('Escape');
    await dialogOf(page).waitFor({ state: 'detached' });
    await page.getByText('3 of 6 steps done. The user stays suspended.').waitFor();

    expect(asked).toEqual(['3 steps of 6 done. Leave the others as they are?']);
    await page.getByText('The user cannot sign in.').waitFor();
    expect(await userOf(user.id)).toMatchObject({
      suspended_at: expect.any(String),
      second_factor: { enabled: true },
      passkeys: [],
    });
  });

  it('begins no further step once it is left, and says how many are done', async () => {
    const user = await registerVerified(service);
    const email = uniqueEmail();
    const { page } = await openUser(user.id);
    const { promise: held, resolve: goOn } = Promise.withResolvers<void>();
    const { promise: begun, resolve: begins } = Promise.withResolvers<void>();
    await page.route(`**/api/users/${user.id}`, async (route) => {
      if (route.request().method() === 'PUT') {
        begins();
        await held;
      }
      await route.continue();
    });
    page.on('dialog', (dialog) => void dialog.accept());

    await begin(page, email);
    await page.getByText('Step 2 of 6: Confirm or replace the address…').waitFor();
    await begun;
    await page.keyboard.press('Escape');
    await dialogOf(page).waitFor({ state: 'detached' });
    goOn();
    await page.getByText('2 of 6 steps done. The user stays suspended.').waitFor();
    await page.getByText('The user cannot sign in.').waitFor();

    expect(await userOf(user.id)).toMatchObject({ email, suspended_at: expect.any(String) });
    await api('DELETE', `/api/users/${user.id}/suspension`, { token });
    await logIn(api, { ...user, email });
  });

  it('has only the steps whose options are on, and says what is left to do by hand', async () => {
    const user = await register(plain.api);
    const { page } = await openConsole(browser, plain, `#/users/${user.id}`);

    await button(page, 'Open Lost mailbox').waitFor();
    expect(await button(page, 'Open Lost phone').count()).toBe(0);
    await begin(page);
    await page.getByText('Nobody knows the password: set one, and hand it over.').waitFor();

    expect(await stepsIn(page)).toEqual([
      ['1. Confirm or replace the address', `It stays ${user.email}.`, 'Done'],
      ['2. Set a random password', 'Nobody knows it.', 'Done'],
    ]);
    expect((await plain.api('POST', '/api/login', { json: user })).status).toBe(401);
  });
});

describe('The dialog for a lost phone', () => {
  it('removes the factor and ends the sessions, by keyboard alone', async () => {
    const user = await registerWithAll();
    const { page, complaints } = await openUserWithFactor(user.id);
    const focused = () =>
      page.evaluate(
        'document.activeElement.getAttribute("aria-label") ?? document.activeElement.textContent',
      );
    const tabTo = async (name: string) => {
      for (let tabs = 0; tabs < 60 && (await focused()) !== name; tabs += 1)
        await page.keyboard.press('Tab');
      expect(await focused()).toBe(name);
      await page.keyboard.press('Enter');
    };

    await tabTo('Open Lost phone');
    await button(page, 'Begin').waitFor();
    expect(await violationsIn(page)).toEqual([]);
    await tabTo('Begin');
    await page.getByText('All steps are done.').waitFor();
    expect(await focused()).toBe('Close');
    await page.keyboard.press('Enter');
    await dialogOf(page).waitFor({ state: 'detached' });

    await page.getByText('Nobody is signed in with this account.').waitFor();
    expect(await userOf(user.id)).toMatchObject({
      passkeys: [],
      second_factor: { enabled: false },
    });
    expect((await api('GET', '/api/profile', { token: user.token })).status).toBe(401);
    await logIn(api, user);
    expect(complaints()).toEqual([]);
  });

  it('ends the sessions also of a user who has no factor', async () => {
    const user = await register(api);
    const { page } = await openUser(user.id);

    await button(page, 'Open Lost phone').click();
    await button(page, 'Begin').click();
    await page.getByText('All steps are done.').waitFor();

    expect((await stepsIn(page)).map(([, text]) => text)).toEqual([
      'There was none.',
      'They are ended.',
    ]);
    expect((await api('GET', '/api/profile', { token: user.token })).status).toBe(401);
  });

  it('does nothing where the user is gone, and says so', async () => {
    const user = await register(api);
    const { page } = await openUser(user.id);

    await button(page, 'Open Lost phone').click();
    await button(page, 'Begin').waitFor();
    await api('DELETE', `/api/users/${user.id}`, { token });
    await button(page, 'Begin').click();

    await page.getByRole('alert').getByText('Step 1 has failed. User not found.').waitFor();
  });
});

describe('The dialog for a lost mailbox', () => {
  it('gives another address, ends the sessions, and mails a reset link as soon as one may be sent', async () => {
    const user = await registerVerified(service);
    const email = uniqueEmail();
    const mails = { kind: 'reset', email } as const;
    await useUpMails(service.environment, mails);
    const { page } = await openUser(user.id);

    await button(page, 'Open Lost mailbox').click();
    await page.getByLabel('New email address').fill(user.email);
    await button(page, 'Begin').click();
    await page.getByText('This is the present address.').waitFor();
    await page.getByLabel('New email address').fill(email);
    await button(page, 'Go on').click();
    await page.getByRole('alert').getByText('No link was mailed. Too many mails.').waitFor();
    await page.getByText('2 of 3 steps done. Go on, or do by hand what is left.').waitFor();
    const Key = mailsKey(mails);
    const TableName = service.environment.USERS_TABLE;
    await engineClient(inject('engine')).send(new DeleteCommand({ TableName, Key }));

    expect(await userOf(user.id)).toMatchObject({ email, email_verified: true });
    expect((await api('GET', '/api/profile', { token: user.token })).status).toBe(401);
    await button(page, 'Go on').click();
    await page.getByText('All steps are done.').waitFor();
    await logIn(api, { email, password: await setPassword(email) });
  });

  it('gives back an address that a stranger has changed meanwhile', async () => {
    const user = await registerVerified(service);
    const { page } = await openUser(user.id);

    await button(page, 'Open Lost mailbox').click();
    await page.getByLabel('New email address').fill(user.email);
    await moveTo(uniqueEmail(), user);
    await button(page, 'Begin').click();
    await page.getByText('All steps are done.').waitFor();

    expect(await userOf(user.id)).toMatchObject({ email: user.email });
  });

  it('mails nothing to a user who is suspended, and says so', async () => {
    const user = await registerVerified(service);
    await api('PUT', `/api/users/${user.id}/suspension`, { token });
    const { page } = await openUser(user.id);

    await button(page, 'Open Lost mailbox').click();
    await button(page, 'Begin').waitFor();
    expect(await stepsIn(page)).toHaveLength(2);
    await page.getByLabel('New email address').fill(uniqueEmail());
    await button(page, 'Begin').click();

    await page.getByText('Mail a reset link once you have lifted the suspension.').waitFor();
  });

  it('is the only one for a user who has no password yet', async () => {
    const json = { name: 'Ada', email: uniqueEmail(), invite: true };
    const { id } = (await api('POST', '/api/users', { token, json })).body;
    const { page } = await openUser(id);

    expect(await page.getByRole('button', { name: /^Open / }).count()).toBe(1);
  });
});

it('An auditor, and an admin on the page of the admin, are offered no help', async () => {
  const auditor = await appoint(api, token, await registerVerified(service));
  const user = await makeUser(api, token);
  const { page } = await openConsole(browser, { url, admin: auditor }, `#/users/${user.id}`);
  const own = await openConsole(browser, plain, '#/users/1');

  await page.getByText('There is none.').waitFor();
  await button(own.page, 'Delete').waitFor();
  expect(await page.getByText('How to help').count()).toBe(0);
  expect(await own.page.getByText('How to help').count()).toBe(0);
});
