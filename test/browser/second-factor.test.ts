import type { Page } from 'playwright-core';
import { expect, it } from 'vitest';
import { serviceForThisFile } from '../support/acceptance.ts';
import { codeOf, registerWithFactor } from '../support/second-factor.ts';
import { browserForThisFile } from './browser.ts';
import { signIn } from './console.ts';
import { button, openPage, title, violationsIn } from './page.ts';

const service = await serviceForThisFile({ SESSION_DAYS: '90', SECOND_FACTOR: 'admins' });
const { api, url, admin } = service;
const browser = await browserForThisFile();

const part = (page: Page, name: string) => page.getByRole('region', { name });
const signOut = async (page: Page) => {
  await button(page, 'Sign out').click();
  await title(page, 'Sign in').waitFor();
};
/** Enters a code, when the form asks for one, and sends the form. */
const giveCode = async (page: Page, code: string) => {
  await page.getByRole('textbox', { name: 'Code' }).fill(code);
  await page.keyboard.press('Enter');
};

it('An admin sets up a second factor, signs in with its codes, sees who has one, and removes it', async () => {
  const user = await registerWithFactor(api);
  const { page, complaints } = await openPage(browser, `${url}/console`);

  await signIn(page, admin);
  // The console leads an admin without a factor to the form that adds one.
  await title(page, 'My account').waitFor();
  const own = part(page, 'Second factor');
  await own.getByLabel('Current password').fill(admin.password);
  await page.keyboard.press('Enter');
  await page.getByRole('img', { name: 'The secret as a QR code' }).waitFor();
  const secret = (await own.locator('code').innerText()).replaceAll(' ', '');
  expect(await violationsIn(page)).toEqual([]);
  await giveCode(page, '0000000');
  await own.getByText('This code is wrong').waitFor();
  await giveCode(page, codeOf(secret));
  await own.getByText('Keep these recovery codes').waitFor();
  const codes = (await own.locator('pre').innerText()).trim().split('\n');
  expect(new Set(codes).size).toBe(10);
  const download = await own.getByRole('link', { name: 'Download' }).getAttribute('href');
  expect(decodeURIComponent(download ?? '')).toContain(codes.join('\n'));
  expect(await violationsIn(page)).toEqual([]);
  await button(page, 'I have kept them').click();
  await own.getByText('It is enabled. 10 recovery codes left.').waitFor();
  // The session in which the factor was enabled has the role of an admin, without another login.
  await page.getByRole('link', { name: 'Users' }).click();
  await button(page, 'Create a user').waitFor();
  await page.getByRole('link', { name: 'My account' }).click();
  await own.waitFor();

  await signOut(page);
  await signIn(page, admin);
  await page.getByRole('textbox', { name: 'Code' }).waitFor();
  expect(await violationsIn(page)).toEqual([]);
  await giveCode(page, codeOf(secret, { ahead: 1 }));
  await title(page, 'My account').waitFor();
  await signOut(page);
  await signIn(page, admin);
  await giveCode(page, codes[0] ?? '');
  await own.getByText('It is enabled. 9 recovery codes left.').waitFor();

  await page.goto(`${url}/console#/users/${user.id}`);
  await page.getByText('Enabled, 9 recovery codes left.').waitFor();
  await button(page, 'Remove').click();
  await page.getByText('Only an admin who has a second factor can remove').waitFor();
  await button(page.getByRole('dialog'), 'Remove').click();
  await page.getByText('signs in without a code').waitFor();
  await page.getByText('There is none.').waitFor();
  expect((await api('POST', '/api/login', { json: user })).status).toBe(200);

  await page.goto(`${url}/console#/account`);
  await button(page, 'Remove').click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Current password').fill(admin.password);
  await giveCode(page, codes[1] ?? '');
  await button(page, 'Set up an app').waitFor();
  expect(complaints.filter((each) => !/status of 40[13]/.test(each))).toEqual([]);
});
