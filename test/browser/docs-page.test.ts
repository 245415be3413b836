import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { serviceForThisFile } from '../support/acceptance.ts';
import { browserForThisFile } from './browser.ts';
import { type OpenPage, openPage, violationsIn } from './page.ts';

const { url, admin } = await serviceForThisFile();
const browser = await browserForThisFile();

const open = async (path: string): Promise<OpenPage> => {
  const opened = await openPage(browser, url + path);
  await opened.page.locator('#operations-Accounts-logIn').waitFor();
  return opened;
};

/** Sends the request of an expanded operation. @returns the response as the page shows it */
const execute = async (page: Page, operation: string, body?: object): Promise<string> => {
  const section = page.locator(`#operations-${operation}`);
  await section.locator('.opblock-summary-control').click();
  await section.getByRole('button', { name: 'Try it out' }).click();
  if (body) await section.locator('textarea').fill(JSON.stringify(body));
  await section.getByRole('button', { name: 'Execute' }).click();
  return section.locator('.live-responses-table .response .response-col_description').innerText();
};

describe('The page of the document', () => {
  it('sends a request with the token of a login, and asks no other server for anything', async () => {
    const { page, complaints } = await open('/docs');

    const loggedIn = await execute(page, 'Accounts-logIn', admin);
    const [, token = ''] = /"token": "([^"]+)"/.exec(loggedIn) ?? [];
    await page.getByRole('button', { name: 'Authorize' }).first().click();
    await page.getByLabel('auth-bearer-value').fill(token);
    await page.getByRole('button', { name: 'Apply credentials' }).click();
    await page.getByRole('button', { name: 'Close' }).click();
    const profile = await execute(page, 'Accounts-getProfile');

    expect(profile).toContain(`"email": "${admin.email}"`);
    expect(complaints).toEqual([]);
  });

  it('has no violations of accessibility except for the colours of Swagger UI', async () => {
    const { page } = await open('/docs');
    await page.locator('#operations-Users-listUsers .opblock-summary-control').click();
    await page.locator('.responses-table').waitFor();
    await page
      .locator('#operations-Users-listUsers')
      .getByRole('button', { name: 'Try it out' })
      .click();

    const violations = await violationsIn(page);

    // The colours of JSON and of parameters are defined by Swagger UI itself.
    expect(violations.filter((each) => !each.includes('color-contrast'))).toEqual([]);
  });

  it('scrolls to the error code that the type of problem details names', async () => {
    const { page } = await open('/docs#EMAIL_REGISTERED');

    await page.waitForFunction(`(() => {
      const { top, bottom } = document.getElementById('EMAIL_REGISTERED').getBoundingClientRect();
      return top >= 0 && bottom <= innerHeight;
    })()`);
    expect(await page.locator('tr:target').innerText()).toContain('409');
  });
});
