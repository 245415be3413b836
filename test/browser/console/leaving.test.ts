import type { Dialog, Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { serviceForThisFile } from '../../support/acceptance.ts';
import { register } from '../../support/client.ts';
import { browserForThisFile } from '../browser.ts';
import { openConsole } from '../console.ts';
import { button, title } from '../page.ts';

const service = await serviceForThisFile({ SESSION_DAYS: '90' });
const { api, adminToken: token } = service;
const browser = await browserForThisFile();

/** Answers each question of the page. @returns the kinds and texts of the questions so far */
const answer = (page: Page, isYes: () => boolean): readonly string[] => {
  const asked: string[] = [];
  page.on('dialog', async (dialog: Dialog) => {
    asked.push(`${dialog.type()}: ${dialog.message()}`);
    await (isYes() ? dialog.accept() : dialog.dismiss());
  });
  return asked;
};

const typed = 'confirm: What you have typed is not saved. Leave it?';

const hashOf = (page: Page) => new URL(page.url()).hash;

/** Waits until the page has handled all earlier events. */
const settle = (page: Page) =>
  page.evaluate('new Promise((resolve) => setTimeout(() => requestAnimationFrame(resolve)))');

describe('A form that was changed', () => {
  it('asks before a link or Back leaves it, stays open if the user declines, and keeps the history', async () => {
    const { id } = await register(api);
    const { page } = await openConsole(browser, service, '#/users');
    let isYes = false;
    const asked = answer(page, () => isYes);
    await page.evaluate(`location.hash = '#/users/${id}'`);
    await button(page, 'Save the changes').waitFor();
    const length = await page.evaluate('history.length');
    await page.getByLabel('Name', { exact: true }).fill('Half a name');

    await page.getByRole('link', { name: 'Audit' }).click();
    await expect.poll(() => asked.length).toBe(1);
    await expect.poll(() => hashOf(page)).toBe(`#/users/${id}`);
    await settle(page);
    await page.evaluate('history.back()');
    await expect.poll(() => asked.length).toBe(2);
    await expect.poll(() => hashOf(page)).toBe(`#/users/${id}`);
    await settle(page);

    expect(asked).toEqual([typed, typed]);
    expect(await page.getByLabel('Name', { exact: true }).inputValue()).toBe('Half a name');
    isYes = true;
    await page.goBack();
    await title(page, 'Users').waitFor();
    await page.goForward();
    await button(page, 'Save the changes').waitFor();
    expect(await page.getByLabel('Name', { exact: true }).inputValue()).not.toBe('Half a name');
    expect(asked).toEqual([typed, typed, typed]);
    expect(await page.evaluate('history.length')).toBe(Number(length) + 1);
  });

  it('asks before its dialog, its session or its tab is closed', async () => {
    const { page } = await openConsole(browser, service, '#/users');
    const asked = answer(page, () => false);
    await button(page, 'Create a user').click();
    await page.getByLabel('Name', { exact: true }).fill('Half a name');

    await page.keyboard.press('Escape');
    await button(page, 'Close').click();
    expect(asked).toEqual([typed, typed]);
    await page.close({ runBeforeUnload: true });
    await expect.poll(() => asked.length).toBe(3);
    await button(page, 'Cancel').click();
    await page.getByRole('dialog').waitFor({ state: 'detached' });

    expect(asked[2]).toMatch(/^beforeunload/);
    await page.getByRole('link', { name: 'My account' }).click();
    await page.getByLabel('New password').fill('another password');
    await button(page, 'Sign out').click();
    expect(asked.slice(3)).toEqual([typed]);
  });

  it('asks nothing once it is saved or unchanged again, or if only the current password is filled in', async () => {
    const { id, name } = await register(api);
    const { page } = await openConsole(browser, service, `#/users/${id}`);
    const asked = answer(page, () => true);
    await page.getByLabel('Name', { exact: true }).fill('Ada King');
    await button(page, 'Save the changes').click();
    await page.getByText('The changes are saved.').waitFor();
    await page.getByLabel('Name', { exact: true }).fill(name);
    await page.getByLabel('Name', { exact: true }).fill('Ada King');
    await page.getByRole('link', { name: 'My account' }).click();
    await page.getByLabel('Current password').fill('a long password');
    await page.getByRole('link', { name: 'Audit' }).click();
    await page.getByLabel('Person').fill('7');
    await page.getByRole('link', { name: 'Users' }).click();
    await title(page, 'Users').waitFor();
    await button(page, 'Create a user').click();
    await page.getByLabel('Name', { exact: true }).fill('Eve');
    await page.getByLabel('Email address').fill(`eve-${id}@example.org`);
    await page.getByLabel('Password').fill('a long password');
    await page.keyboard.press('Enter');
    await title(page, 'Eve').waitFor();

    expect(asked).toEqual([]);
  });
});

describe('A bulk deletion', () => {
  it('asks before Back, Esc or the closing of the tab leaves it, and then says what was done', async () => {
    const name = `Left ${Date.now()}`;
    for (let made = 0; made < 3; made += 1) await register(api, { name });
    const { page } = await openConsole(browser, service, '#/audit');
    let isYes = false;
    const asked = answer(page, () => isYes);
    await page.evaluate(`location.hash = '#/users?q=${encodeURIComponent(name)}'`);
    await page.getByText('3 users shown.').waitFor();
    await page.getByRole('button', { name: /^Select all \d+ shown$/ }).click();
    await button(page, 'Delete').click();
    const { promise: held, resolve: goOn } = Promise.withResolvers<void>();
    await page.route('**/api/users/*', async (route) => {
      await held;
      await route.continue();
    });
    await page.getByLabel('Type 3 to confirm').fill('3');
    await page.keyboard.press('Enter');
    await button(page, 'Stop').waitFor();

    await page.evaluate('history.back()');
    await expect.poll(() => asked.length).toBe(1);
    await expect.poll(() => hashOf(page)).toContain('#/users');
    await page.keyboard.press('Escape');
    await page.close({ runBeforeUnload: true });
    await expect.poll(() => asked.length).toBe(3);
    await button(page, 'Stop').waitFor();
    isYes = true;
    await page.goBack();
    await title(page, 'Audit').waitFor();
    goOn();
    await page.getByText('1 of 3 users deleted. The others were left as they are.').waitFor();

    const under =
      'confirm: 0 of 3 users deleted so far. Stop here, and leave the others as they are?';
    expect(asked).toEqual([under, under, expect.stringMatching(/^beforeunload/), under]);
    expect((await api('GET', `/api/users?search=${name}`, { token })).body).toHaveLength(2);
  });
});

describe('A notice of success', () => {
  it('disappears when something else is done, so that it never appears beside a failure', async () => {
    const { id } = await register(api);
    const { page } = await openConsole(browser, service, `#/users/${id}`);
    await page.getByLabel('Name', { exact: true }).fill('Ada King');
    await button(page, 'Save the changes').click();
    await page.getByText('The changes are saved.').waitFor();
    await page.route(`**/api/users/${id}`, (route) =>
      route.request().method() === 'PUT' ? route.abort() : route.continue(),
    );

    await page.getByLabel('Name', { exact: true }).fill('Ada');
    await button(page, 'Save the changes').click();
    await page.getByText('The changes were not saved.').waitFor();

    expect(await page.getByText('The changes are saved.').count()).toBe(0);
  });
});
