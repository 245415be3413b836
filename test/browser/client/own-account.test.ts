/** Users change their own account in a page of another origin, under settings that require more of them. */

import { isDeepStrictEqual } from 'node:util';
import type { Page } from 'playwright-core';
import { expect, it } from 'vitest';
import { logIn } from '../../support/client.ts';
import { mailingServiceForThisFile } from '../../support/mailbox.ts';
import { outlived, signToken } from '../../support/tokens.ts';
import {
  mailedToken,
  newAccount,
  sendRegistration,
  verificationSettings,
  verify,
} from '../../support/verification.ts';
import { browserForThisFile } from '../browser.ts';
import { clientPageForThisFile, openClient } from './page.ts';

let serviceUrl = '';
const app = await clientPageForThisFile(() => serviceUrl);
const verifyUrl = `${app}/verify`;
const service = await mailingServiceForThisFile({
  ...verificationSettings.required,
  VERIFY_URL: verifyUrl,
  SELF_DELETION: 'on',
  SESSION_DAYS: '90',
  TOKEN_MINUTES: '5',
});
serviceUrl = service.url;
const browser = await browserForThisFile();

const key = `accounts-client.${serviceUrl}`;

/** The result of a script in a page. */
const run = (page: Page, script: string) => page.evaluate<unknown>(`(async () => { ${script} })()`);

/** Opens a page, in which a new user logs in. */
const openApp = async (script?: string) => {
  const account = newAccount();
  await sendRegistration(service.api, account);
  await verify(service.api, await mailedToken(service, account.email), account.password);
  const page = await openClient(await browser.newContext(), app, script);
  await run(page, `await accounts.logIn(${JSON.stringify(account)})`);
  return { page, account };
};

const kept = async (page: Page) =>
  JSON.parse(String(await page.evaluate(`localStorage.getItem('${key}')`)));

/** Replaces the access token of a page by an expired one. */
const outliveToken = async (page: Page) => {
  const tokens = await kept(page);
  const sign = (claims: object, header: object) => signToken(claims, service.jwtSecret, header);
  const text = JSON.stringify({ ...tokens, token: outlived(tokens.token, sign) });
  await page.evaluate(`localStorage.setItem('${key}', ${JSON.stringify(text)})`);
};

/** Waits until a tab sees the tokens that another tab has written. */
const seen = (tab: Page, page: Page) =>
  expect.poll(async () => isDeepStrictEqual(await kept(tab), await kept(page))).toBe(true);

/** Holds back requests of pages to a path until a number of them are waiting. */
const gather = async (page: Page, path: string, count: number) => {
  const { promise: gathered, resolve } = Promise.withResolvers<void>();
  let held = 0;
  await page.context().route(service.url + path, async (route) => {
    held += 1;
    if (held === count) resolve();
    await gathered;
    await route.continue();
  });
};

it('A page of another origin registers a user, who verifies the address by the mailed link', async () => {
  const account = newAccount();
  const context = await browser.newContext();
  const page = await openClient(context, app);

  const early = await run(
    page,
    `const registered = await accounts.register(${JSON.stringify(account)});
    const login = await accounts.logIn(${JSON.stringify(account)});
    return [registered.data.user, login.error.code];`,
  );
  const link = `${verifyUrl}#token=${await mailedToken(service, account.email)}`;
  // A mail scanner opens the link too, which must not use the link up.
  await openClient(context, link);
  const linked = await openClient(context, link);
  const later = await run(
    linked,
    `const { token } = readLink();
    const wrong = await accounts.verifyEmail({ token, password: 'wrong' });
    const right = await accounts.verifyEmail({ token, password: '${account.password}' });
    const login = await accounts.logIn(${JSON.stringify(account)});
    return [wrong.error.code, right.error, login.error];`,
  );

  expect(early).toEqual([null, 'EMAIL_NOT_VERIFIED']);
  expect(later).toEqual(['CURRENT_PASSWORD_WRONG', null, null]);
  expect(linked.url()).toBe(verifyUrl);
});

it('Two tabs without locks stay logged in past the life of a token when both refresh at once', async () => {
  const withoutLocks = `Object.defineProperty(Navigator.prototype, 'locks', { value: undefined });`;
  const { page, account } = await openApp(withoutLocks);
  const tab = await openClient(page.context(), app, withoutLocks);
  const { refreshToken: first } = await kept(page);
  const addressIn = (one: Page) =>
    run(one, 'const { data } = await accounts.getProfile(); return data?.email;');

  await outliveToken(page);
  await seen(tab, page);
  await gather(page, '/api/refresh', 2);
  const both = await Promise.all([addressIn(page), addressIn(tab)]);
  const { refreshToken: second } = await kept(tab);
  await page.context().unrouteAll();
  const alone: unknown[] = [];
  // The other tab has not seen the refresh tokens that the first tab got meanwhile.
  for (const one of [page, page, tab]) {
    await seen(one, page);
    await outliveToken(one);
    alone.push(await addressIn(one));
  }

  expect(both).toEqual(Array(2).fill(account.email));
  expect(second).not.toBe(first);
  expect(alone).toEqual(Array(3).fill(account.email));
  expect((await kept(page)).refreshToken).not.toBe(second);
});

it('A page of another origin ends a session, keeps its own after a new password, and deletes the account', async () => {
  const { page, account } = await openApp();
  const { api } = service;
  const statusOf = async (token: string) => (await api('GET', '/api/profile', { token })).status;
  const phone = await logIn(api, account);
  const password = 'another long password';

  const ended = await run(
    page,
    `const { data } = await accounts.listSessions();
    const { error } = await accounts.endSession(data.find(({ current }) => !current).id);
    return [data.length, error];`,
  );
  const phoneStatus = await statusOf(phone);
  const tablet = await logIn(api, account);
  const change = JSON.stringify({ password, currentPassword: account.password });
  const changed = await run(page, `return (await accounts.updateUser(${change})).error`);
  const tabletStatus = await statusOf(tablet);
  await outliveToken(page);
  const deleted = await run(
    page,
    `const profile = await accounts.getProfile();
    const body = { currentPassword: '${password}' };
    const { error } = await accounts.api.POST('/api/account-deletions', { body });
    return [profile.error, error, accounts.user];`,
  );
  const login = await run(
    page,
    `return (await accounts.logIn(${JSON.stringify(account)})).error.code`,
  );

  expect([ended, changed, deleted]).toEqual([[2, null], null, [null, null, null]]);
  expect([phoneStatus, tabletStatus]).toEqual([401, 401]);
  expect(login).toBe('USER_NOT_REGISTERED');
});
