import { expect, it } from 'vitest';
import { serviceForThisFile } from '../../support/acceptance.ts';
import { browserForThisFile } from '../browser.ts';
import { openConsole } from '../console.ts';
import { title } from '../page.ts';

const service = await serviceForThisFile();
const browser = await browserForThisFile();

it('A link of the navigation to the screen that is shown empties its fields of typed text', async () => {
  const { page } = await openConsole(browser, service, '#/audit');
  const source = page.getByRole('search').locator('input').first();
  await source.fill('half a name');

  await page.getByRole('link', { name: 'Audit', exact: true }).click();

  expect(await source.inputValue()).toBe('');
});

it('A new screen forgets what screen readers were told of the screen before', async () => {
  const { page } = await openConsole(browser, service, '#/users');
  await page.getByText(/users? shown\.$/).waitFor();

  await page.getByRole('link', { name: 'Settings' }).click();
  await title(page, 'Settings').waitFor();

  expect(await page.getByText(/users? shown\.$/).count()).toBe(0);
});
