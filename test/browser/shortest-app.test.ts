/** The whole page with which functions/CLIENTS.md begins, beside the service's own pages for links. */
import { expect, it } from 'vitest';
import { mailingServiceForThisFile } from '../support/mailbox.ts';
import { snippets } from '../support/snippets.ts';
import { outlived, signToken } from '../support/tokens.ts';
import { newAccount } from '../support/verification.ts';
import { appForThisFile } from './app.ts';
import { browserForThisFile } from './browser.ts';
import { button, openPage } from './page.ts';

const [app = ''] = snippets('html');

const origin = await appForThisFile(() => ({ '/': app.replace('http://localhost:3000', url) }), '');
const { url, jwtSecret, mailbox } = await mailingServiceForThisFile({
  RESET_URL: '',
  SESSION_DAYS: '90',
  RETURN_URL: origin,
});
const browser = await browserForThisFile();

it('The shortest app is 80 lines at most', () => {
  expect(app.trimEnd().split('\n').length).toBeLessThanOrEqual(80);
});

it('The shortest app registers a user, refreshes, logs out and in, and leads to a new password', async () => {
  const { name, email, password } = newAccount();
  const { page } = await openPage(browser, origin);
  const greeting = page.getByText(`Hello, ${name}.`);
  const fill = async (given: string) => {
    await page.getByLabel('Email address').fill(email);
    await page.getByLabel('Password').fill(given);
  };
  const kept = () => page.evaluate(`JSON.parse(localStorage.getItem('tokens'))`);

  await fill(password);
  await page.getByLabel('Name').fill(name);
  await button(page, 'Register').click();
  await greeting.waitFor();
  const { token, refreshToken } = (await kept()) as Record<'token' | 'refreshToken', string>;
  const sign = (claims: object, header: object) => signToken(claims, jwtSecret, header);
  const tokens = JSON.stringify({ token: outlived(token, sign), refreshToken });
  await page.evaluate(`localStorage.setItem('tokens', ${JSON.stringify(tokens)})`);
  await page.reload();
  await greeting.waitFor();
  const refreshed = await kept();
  await button(page, 'Log out').click();
  await page.getByRole('button', { name: 'Register' }).waitFor();

  await fill('forgotten');
  await button(page, 'Log in').click();
  await page.getByText('Invalid credentials').waitFor();
  await button(page, 'I forgot my password').click();
  await page.getByText('a mail is on its way').waitFor();
  const [mail] = await mailbox.mailsTo(email);
  await page.goto(/http\S+#token=\S+/.exec(mail?.text ?? '')?.[0] ?? '');
  for (const input of await page.getByLabel('password').all()) await input.fill('a new password');
  await button(page, 'Set password').click();
  await page.getByRole('link', { name: 'Go to the app' }).click();
  await fill('a new password');
  await button(page, 'Log in').click();
  await greeting.waitFor();

  expect(refreshed).toMatchObject({ message: 'Token refreshed' });
  expect(page.url()).toBe(`${origin}/`);
});
