/** The complete page at the beginning of functions/client/README.md, with the service's own pages for links. */
import { expect, it } from 'vitest';
import { mailingServiceForThisFile } from '../../support/mailbox.ts';
import { snippets } from '../../support/snippets.ts';
import { newAccount } from '../../support/verification.ts';
import { appForThisFile } from '../app.ts';
import { browserForThisFile } from '../browser.ts';
import { button, openPage } from '../page.ts';
import { bundled } from './page.ts';

const [app = ''] = snippets('html', 'functions/client/README.md');
const [, script = ''] = /<script type="module">\n(.*)<\/script>/s.exec(app) ?? [];

const files = () => ({
  '/': app.replace(script, "import './app.js';"),
  '/app.js': bundled(
    script.replace('http://localhost:3000', url).replace("'accounts-client'", "'./index.ts'"),
  ),
});
const origin = await appForThisFile(files, '');
const { url, mailbox } = await mailingServiceForThisFile({
  RESET_URL: '',
  SESSION_DAYS: '90',
  RETURN_URL: origin,
});
const browser = await browserForThisFile();

it('The script of the shortest app has 25 lines at most', () => {
  expect(script.trimEnd().split('\n').length).toBeLessThanOrEqual(25);
});

it('The shortest app shows no form before its script can answer it', async () => {
  const page = await browser.newPage();
  const held = Promise.withResolvers<void>();
  await page.route('**/app.js', async (route) => {
    await held.promise;
    await route.continue();
  });
  await page.goto(origin, { waitUntil: 'commit' });
  await page.getByText('My app').waitFor();

  expect(await button(page, 'Log in').isVisible()).toBe(false);

  held.resolve();
  await button(page, 'Log in').waitFor();
});

it('The shortest app registers a user, logs out and in, says what is wrong, and leads to a new password', async () => {
  const { name, email, password } = newAccount();
  const { page } = await openPage(browser, origin);
  const greeting = page.getByText(`Hello, ${email}.`);
  const fill = async (given: string) => {
    await page.getByLabel('Email address').fill(email);
    await page.getByLabel('Password').fill(given);
  };

  await fill(password);
  await button(page, 'Register').click();
  await page.getByText('name is required').waitFor();
  await page.getByLabel('Name').fill(name);
  await button(page, 'Register').click();
  await greeting.waitFor();
  await page.reload();
  await greeting.waitFor();
  await button(page, 'Log out').click();
  await button(page, 'Register').waitFor();

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

  expect(page.url()).toBe(`${origin}/`);
});
