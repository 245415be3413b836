import type { Page } from 'playwright-core';
import { expect, it } from 'vitest';
import { type ApiAnswer, logIn } from '../support/client.ts';
import { mailingServiceForThisFile } from '../support/mailbox.ts';
import { outlived, signToken } from '../support/tokens.ts';
import {
  mailedToken,
  type NewAccount,
  newAccount,
  sendRegistration,
  verificationSettings,
  verify,
} from '../support/verification.ts';
import { appForThisFile, browserCode } from './app.ts';
import { browserForThisFile } from './browser.ts';

const script = `
import { setPassword as verify } from './verify.js';
import { call, save } from './refresh.js';
const seen = async (response) => [response.status, JSON.parse((await response.text()) || null)];
const send = async (...request) => seen(await fetch(...request));
Object.assign(window, { verify, save, send, call: async (...request) => seen(await call(new Request(...request))) });`;

const origin = await appForThisFile(() => files, script);
const verifyUrl = `${origin}/verify`;

const service = await mailingServiceForThisFile({
  ...verificationSettings.required,
  VERIFY_URL: verifyUrl,
  SELF_DELETION: 'on',
  SESSION_DAYS: '90',
  TOKEN_MINUTES: '5',
});
const browser = await browserForThisFile();

const resets = browserCode('/api/password-resets', service.url);
const files = {
  '/verify.js': resets.replace('password-resets', 'email-verifications'),
  '/refresh.js': browserCode('/api/refresh', service.url),
};

/** Has a page call one of its functions. @returns what it returns, or the message that it throws */
const run = (page: Page, name: string, ...args: readonly unknown[]) =>
  page
    .evaluate(`${name}(${args.map((each) => JSON.stringify(each)).join(', ')})`)
    .catch((error: Error) => error.message.split('\n')[0]);

/** Has a page make a request: `send` without a token, `call` with the token of its session. */
const ask = (page: Page, how: 'send' | 'call', method: string, path: string, json?: object) => {
  const body = json && {
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify(json),
  };
  return run(page, how, service.url + path, { method, ...body }) as Promise<
    [number, ApiAnswer['body']]
  >;
};

const profile = (page: Page) => ask(page, 'call', 'GET', '/api/profile');

const enter = async (page: Page, account: NewAccount) => {
  const [, tokens] = await ask(page, 'send', 'POST', '/api/login', account);
  await run(page, 'save', tokens);
};

/** Opens the app, in which a new user logs in. */
const openApp = async () => {
  const account = newAccount();
  await sendRegistration(service.api, account);
  await verify(service.api, await mailedToken(service, account.email), account.password);
  const page = await (await browser.newContext()).newPage();
  await page.goto(origin);
  await enter(page, account);
  const [, { data }] = await profile(page);
  return { page, account, id: Number(data.id) };
};

const kept = async (page: Page) =>
  JSON.parse(await page.evaluate(`localStorage.getItem('tokens')`));

/** Lets the token expire that a page has. */
const outliveToken = async (page: Page) => {
  const { token, refreshToken } = await kept(page);
  const sign = (claims: object, header: object) => signToken(claims, service.jwtSecret, header);
  await run(page, 'save', { token: outlived(token, sign), refreshToken });
};

/** Holds requests of pages to a path back until there is a number of them. */
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
  const page = await browser.newPage();
  const account = newAccount();
  await page.goto(origin);

  const [registered] = await ask(page, 'send', 'POST', '/api/auth/register', account);
  const [early] = await ask(page, 'send', 'POST', '/api/login', account);
  const link = `${verifyUrl}#token=${await mailedToken(service, account.email)}`;
  await page.goto(link);
  // A program that scans mails opens the link too, and uses nothing up.
  await page.goto('about:blank');
  await page.goto(link);
  const address = page.url();
  const wrong = await run(page, 'verify', 'wrong');
  const verified = await run(page, 'verify', account.password);
  const [later] = await ask(page, 'send', 'POST', '/api/login', account);

  expect([registered, early, later]).toEqual([201, 403, 200]);
  expect([wrong, verified]).toEqual(['Current password is wrong', undefined]);
  expect(address).toBe(verifyUrl);
});

it('A page of another origin stays logged in past the life of a token, in two tabs that refresh at once', async () => {
  const { page, id } = await openApp();
  const tab = await page.context().newPage();
  await tab.goto(origin);
  const { refreshToken: first } = await kept(page);

  await outliveToken(page);
  await gather(page, '/api/refresh', 2);
  const both = await Promise.all([profile(page), profile(tab)]);
  const { refreshToken: second } = await kept(tab);
  await page.context().unrouteAll();
  const alone: number[] = [];
  // The other tab has not seen the refresh tokens of the two before.
  for (const one of [page, page, tab]) {
    await outliveToken(one);
    const [status] = await profile(one);
    alone.push(status);
  }

  expect(both).toMatchObject([
    [200, { data: { id } }],
    [200, { data: { id } }],
  ]);
  expect(second).not.toBe(first);
  expect(alone).toEqual([200, 200, 200]);
  expect((await kept(page)).refreshToken).not.toBe(second);
});

it('A page of another origin ends another session, changes the password and goes on, and deletes the account', async () => {
  const { page, account, id } = await openApp();
  const { api } = service;
  const statusOf = async (token: string) => (await api('GET', '/api/profile', { token })).status;
  const phone = await logIn(api, account);

  const [, { data: sessions }] = await ask(page, 'call', 'GET', `/api/users/${id}/sessions`);
  const other = sessions.find(({ current }: { current: boolean }) => !current);
  const [ended] = await ask(page, 'call', 'DELETE', `/api/users/${id}/sessions/${other.id}`);
  const phoneStatus = await statusOf(phone);
  const tablet = await logIn(api, account);
  const password = 'another long password';
  const change = { password, currentPassword: account.password };
  const [changed] = await ask(page, 'call', 'PUT', `/api/users/${id}`, change);
  const tabletStatus = await statusOf(tablet);
  await outliveToken(page);
  const [refreshed] = await profile(page);
  const deletion = { currentPassword: password };
  const [deleted] = await ask(page, 'call', 'POST', '/api/account-deletions', deletion);

  expect(sessions).toHaveLength(2);
  expect([ended, changed, refreshed, deleted]).toEqual([204, 200, 200, 204]);
  expect([phoneStatus, tabletStatus]).toEqual([401, 401]);
  expect(await profile(page)).toEqual([401, { message: 'Invalid token' }]);
  expect((await ask(page, 'send', 'POST', '/api/login', account))[0]).toBe(404);
});
