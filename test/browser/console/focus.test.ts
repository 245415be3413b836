import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { serviceForThisFile } from '../../support/acceptance.ts';
import { logIn, register } from '../../support/client.ts';
import { browserForThisFile } from '../browser.ts';
import { openConsole } from '../console.ts';
import { button } from '../page.ts';

const service = await serviceForThisFile({ SESSION_DAYS: '30' });
const { api } = service;
const browser = await browserForThisFile();

const open = (place: string) => openConsole(browser, service, place);

/** The text of the focused element; the whole page has none. */
const focused = (page: Page): Promise<string> =>
  page.evaluate("document.activeElement === document.body ? '' : document.activeElement.innerText");

describe('The focus stays in the page when the focused element is removed', () => {
  it('and goes to the title of the screen', async () => {
    const { id } = await register(api);
    const { page } = await open(`#/users?q=${id}`);
    await button(page, 'Select the one shown').click();

    await button(page, 'Select none').focus();
    await page.keyboard.press('Enter');
    await page.getByText('1 user selected').waitFor({ state: 'detached' });

    expect(await focused(page)).toBe('Users');
  });

  it('and goes to the title of its card, once the dialog about it is closed', async () => {
    const user = await register(api);
    await logIn(api, user);
    const { page } = await open(`#/users/${user.id}`);
    const sessions = page.getByRole('region', { name: 'Sessions' });

    await sessions.getByRole('row').nth(1).getByRole('button').focus();
    await page.keyboard.press('Enter');
    await page.getByRole('dialog').getByRole('button', { name: 'End the session' }).focus();
    await page.keyboard.press('Enter');
    await page.getByRole('dialog').waitFor({ state: 'detached' });

    expect(await focused(page)).toBe('Sessions');
  });

  it('and goes to the title of its dialog', async () => {
    const { id } = await register(api);
    const { page } = await open(`#/users?q=${id}`);
    await button(page, 'Select the one shown').click();
    await button(page, 'Suspend').click();

    await button(page, 'Suspend 1 user').focus();
    await page.keyboard.press('Enter');
    await page.getByText('1 of 1 user suspended.').waitFor();

    expect(await focused(page)).toBe('Suspend 1 user');
  });

  it('but leaves it where somebody is typing', async () => {
    const { id } = await register(api);
    const { page } = await open(`#/users?q=${id}`);
    await button(page, 'Select the one shown').click();
    await button(page, 'Select none').focus();

    await page.getByLabel('Find users').fill('nobody at all');
    await page.getByText('nobody at all in the name').waitFor();
    await page.keyboard.type('!');

    await page.getByText('nobody at all! in the name').waitFor();
  });
});
