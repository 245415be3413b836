import { expect, it } from 'vitest';
import { serviceForThisFile } from '../../support/acceptance.ts';
import { browserForThisFile } from '../browser.ts';
import { openConsole } from '../console.ts';
import { button, title } from '../page.ts';

const service = await serviceForThisFile();
const browser = await browserForThisFile();

it('The console loads the code of an optional screen at its first use, and reloads the page to try again', async () => {
  const { page } = await openConsole(browser, service, '#/users');
  const code = '**/console/optional.*.js';
  const asked: string[] = [];
  page.on('request', (request) => asked.push(new URL(request.url()).pathname));
  await page.route(code, (route) => route.abort());

  await page.getByRole('link', { name: 'Settings' }).click();
  await page.getByText('The settings could not be loaded.').waitFor();
  await page.unroute(code);
  await button(page, 'Try again').click();
  await page.getByRole('table').waitFor();
  await page.getByRole('link', { name: 'Users' }).click();
  await title(page, 'Users').waitFor();
  await page.getByRole('link', { name: 'Settings' }).click();
  await page.getByRole('table').waitFor();

  expect(asked.filter((path) => path.includes('optional'))).toHaveLength(2);
});
