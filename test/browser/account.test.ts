import type { Page } from 'playwright-core';
import { afterAll, afterEach, describe, expect, it } from 'vitest';
import { serviceForThisFile } from '../support/acceptance.ts';
import { logIn, register } from '../support/client.ts';
import { factorSettings } from '../support/second-factor.ts';
import { startBrowser } from './chromium.ts';
import { openConsole } from './console.ts';
import { violationsIn } from './page.ts';

const service = await serviceForThisFile(factorSettings);
const { api, url, adminToken } = service;
const browser = await startBrowser();
afterAll(() => browser.close());
afterEach(async () => {
  for (const context of browser.contexts()) await context.close();
});

const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true });
const profile = async (token: string) => (await api('GET', '/api/profile', { token })).status;

const registerAdmin = async () => {
  const user = await register(api);
  const json = { role: 'admin' };
  await api('PUT', `/api/users/${user.id}`, { token: adminToken, json });
  return user;
};

describe('Sessions in the console', () => {
  it('are shown with their user, and ended one by one or all at once', async () => {
    const user = await register(api);
    const tokens = [await logIn(api, user), await logIn(api, user)];
    const { page, complaints } = await openConsole(browser, service, `#/users/${user.id}`);
    const ends = button(page, 'End');

    await expect.poll(() => ends.count()).toBe(3);
    expect(await violationsIn(page)).toEqual([]);
    await ends.first().click();
    await expect.poll(() => ends.count()).toBe(2);
    await button(page, 'End all').click();
    await page.getByText('Nobody is signed in with this account.').waitFor();

    expect(await Promise.all([...tokens, user.token].map(profile))).toEqual([401, 401, 401]);
    expect(complaints).toEqual([]);
  });

  it('end at sign-out', async () => {
    const admin = await registerAdmin();
    const { page } = await openConsole(browser, { url, admin });
    const token = String(await page.evaluate("sessionStorage.getItem('accounts-console-token')"));
    const loggedOut = page.waitForResponse('**/api/logout');

    await button(page, 'Sign out').click();
    await page.getByText('You are signed out.').waitFor();
    await loggedOut;

    expect(await profile(token)).toBe(401);
    expect(await page.evaluate('sessionStorage.length')).toBe(0);
  });
});
