import { expect, it } from 'vitest';
import { serviceForThisFile } from '../../support/acceptance.ts';
import { register } from '../../support/client.ts';
import { browserForThisFile } from '../browser.ts';
import { signIn } from '../console.ts';
import { openPage, title } from '../page.ts';

const sessions = await serviceForThisFile({ SESSION_DAYS: '90' });
const browser = await browserForThisFile();

it('A page of the console that is loaded again before its user is let in signs nobody in', async () => {
  const user = await register(sessions.api);
  const { page } = await openPage(browser, `${sessions.url}/console`);
  await page.route('**/api/profile', () => undefined);
  const asked = page.waitForRequest('**/api/profile');

  await signIn(page, user);
  await asked;
  await page.reload();
  await title(page, 'Sign in').waitFor();

  expect(await page.getByRole('navigation').count()).toBe(0);
  expect(await page.evaluate('sessionStorage.length')).toBe(0);
});
