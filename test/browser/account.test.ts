import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { serviceForThisFile } from '../support/acceptance.ts';
import { logIn, register } from '../support/client.ts';
import { promote } from '../support/examples.ts';
import { mailSettings, verifyUrl } from '../support/mailbox.ts';
import { browserForThisFile } from './browser.ts';
import { openConsole, signIn } from './console.ts';
import { button, openPage, violationsIn } from './page.ts';

const service = await serviceForThisFile({
  ...mailSettings,
  SESSION_DAYS: '90',
  TOKEN_MINUTES: '5',
  TOKEN_SIGNING: 'RS256',
  EMAIL_VERIFICATION: 'on',
  VERIFY_URL: verifyUrl,
});
const { api, url, adminToken } = service;
const browser = await browserForThisFile();

const profile = async (token: string) => (await api('GET', '/api/profile', { token })).status;

/** The tokens that the tab stores. */
const tokensIn = async (page: Page) =>
  JSON.parse(String(await page.evaluate("sessionStorage.getItem('accounts-client.console')")));

const registerAdmin = async () => promote(api, adminToken, await register(api));

describe('Sessions in the console', () => {
  it('are shown with their user, and ended one by one, all at once, or by a new password', async () => {
    const user = await register(api);
    const tokens = [await logIn(api, user), await logIn(api, user)];
    const { page, complaints } = await openConsole(browser, service, `#/users/${user.id}`);
    const ends = page.getByRole('button', { name: /^End \d+, / });

    await expect.poll(() => ends.count()).toBe(3);
    const names = await ends.evaluateAll((all) => all.map((each) => each.ariaLabel));
    expect(new Set(names).size, 'each button has a name of its own').toBe(3);
    expect(await violationsIn(page)).toEqual([]);
    // Its buttons say the same, so that only screen readers need it.
    const head = page.locator('th', { hasText: /^End$/ }).locator('span');
    expect(await head.getAttribute('class')).toBe('unseen');
    await ends.first().click();
    await page.keyboard.press('Escape');
    await ends.first().click();
    expect(await ends.count()).toBe(3);
    await button(page, 'End the session').click();
    await expect.poll(() => ends.count()).toBe(2);
    await button(page, 'End all').click();
    await page.getByRole('dialog').getByRole('button', { name: 'End all' }).click();
    const nobody = page.getByText('Nobody is signed in with this account.');
    await nobody.waitFor();
    await logIn(api, user);
    await page.reload();
    await ends.waitFor();
    await button(page, 'Set a password').click();
    await page.getByLabel('New password').fill('another password');
    await button(page, 'Set the password').click();
    await nobody.waitFor();

    expect(await Promise.all([...tokens, user.token].map(profile))).toEqual([401, 401, 401]);
    expect(complaints).toEqual([]);
  });

  it('end when their user is suspended, who can sign in again once the suspension is lifted', async () => {
    const user = await register(api);
    const { page, complaints } = await openConsole(browser, service, `#/users/${user.id}`);

    await button(page, 'Suspend').click();
    expect(await violationsIn(page)).toEqual([]);
    await button(page, 'Suspend the user').click();
    await page.getByRole('heading', { level: 1 }).getByText('Suspended').waitFor();
    expect(await profile(user.token)).toBe(401);
    await page.goto(`${url}/console#/users?q=${user.email}`);
    await page.locator('tbody').getByText('Suspended', { exact: true }).waitFor();
    await page.goto(`${url}/console#/users/${user.id}`);
    await button(page, 'Lift').click();
    // Red is for what cannot be undone, or locks somebody out.
    expect(await button(page, 'Lift the suspension').getAttribute('class')).toBe('primary');
    await button(page, 'Lift the suspension').click();
    await button(page, 'Suspend').waitFor();

    await logIn(api, user);
    expect(complaints).toEqual([]);
  });

  it('end when a selection is suspended; users whose suspension failed stay selected', async () => {
    const name = `Idle ${Date.now()}`;
    const users = [await register(api, { name }), await register(api, { name })] as const;
    const place = `#/users?q=${encodeURIComponent(name)}`;
    const { page } = await openConsole(browser, service, place);
    const gone = `**/api/users/${users[1].id}/suspension`;
    await page.route(gone, (route) => route.fulfill({ status: 404, json: { title: 'Not there' } }));

    await page.getByRole('button', { name: /^Select all \d+ shown$/ }).click();
    await button(page, 'Suspend').click();
    await page.getByText('cannot sign in until you lift the suspension').waitFor();
    await button(page, 'Suspend 2 users').click();
    await page.getByText('1 of 2 users suspended.').waitFor();
    expect(await violationsIn(page)).toEqual([]);
    await page.keyboard.press('Escape');
    await page.getByText('1 user selected').waitFor();

    const rows = page.locator('tbody tr').filter({ hasText: 'Suspended' });
    expect(await rows.count()).toBe(1);
    expect(await Promise.all(users.map(({ token }) => profile(token)))).toEqual([401, 200]);
    await page.unroute(gone);
    await button(page, 'Suspend').click();
    await button(page, 'Suspend 1 user').click();
    await page.getByText('1 of 1 user suspended.').waitFor();
    expect(await profile(users[1].token)).toBe(401);
  });

  it('continue by refresh tokens, although an access token is valid for only five minutes', async () => {
    const user = await registerAdmin();
    const { page } = await openPage(browser, `${url}/console`);
    await page.clock.install();
    await signIn(page, user);
    await page.getByRole('navigation').waitFor();
    const refreshToken = async () => (await tokensIn(page)).refreshToken;
    for (const _ of [1, 2, 3]) {
      const former = await refreshToken();
      const refreshed = page.waitForResponse('**/api/refresh');
      await page.clock.fastForward('04:30');
      expect((await refreshed).status()).toBe(200);
      // The page reads the response, and only afterwards knows when to refresh again.
      await expect.poll(refreshToken).not.toBe(former);
    }
    await page.reload();
    await page.getByRole('link', { name: 'My account' }).click();
    await page.getByText('Not verified').waitFor();

    await page.clock.fastForward('01:00:00');
    await page.getByRole('link', { name: 'Users' }).click();
    await page.getByRole('cell', { name: user.email }).waitFor();
    expect(await page.getByText('Your session is over').count()).toBe(0);
  });

  it('end at sign-out', async () => {
    const admin = await registerAdmin();
    const { page } = await openConsole(browser, { url, admin });
    const { token } = await tokensIn(page);
    const loggedOut = page.waitForResponse('**/api/logout');

    await button(page, 'Sign out').click();
    await page.getByText('You are signed out.').waitFor();
    await loggedOut;

    expect(await profile(token)).toBe(401);
    expect(await page.evaluate('sessionStorage.length')).toBe(0);
  });
});

it('One’s own account says that its address is not verified, and which new address waits for its link', async () => {
  const user = await registerAdmin();
  const { page } = await openConsole(browser, { url, admin: user }, '#/account');
  await page.getByText('Not verified').waitFor();

  await page.getByLabel('Email address').fill('another@example.org');
  await page.getByLabel('Current password').first().fill(user.password);
  await button(page, 'Save the changes').click();
  await page
    .getByText('The address changes when the link mailed to another@example.org is used.')
    .waitFor();

  expect(await page.getByLabel('Email address').inputValue()).toBe(user.email);
  await page.reload();
  await page.getByText('Waits for the link mailed to another@example.org').waitFor();
  const seen = await openConsole(browser, service, `#/users/${user.id}`);
  await seen.page.getByText('Waits for the link mailed to another@example.org').waitFor();
});
