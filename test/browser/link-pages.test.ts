/** The service's own pages for mailed links, which apps without such pages use, as users and attackers see them. */
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { describe, expect, it, onTestFinished } from 'vitest';
import { logIn, register, uniqueEmail } from '../support/client.ts';
import { startLoopback } from '../support/loopback.ts';
import { type MailingService, mailingServiceForThisFile } from '../support/mailbox.ts';
import { setFieldsOf } from '../support/reset-tokens.ts';
import { browserForThisFile } from './browser.ts';
import { button, openPage, title, violationsIn } from './page.ts';

const returnUrl = 'http://localhost:9/#/log-in';

const bare = await mailingServiceForThisFile({
  RESET_URL: '',
  LOG_REQUESTS: 'on',
  SESSION_DAYS: '30',
});
const full = await mailingServiceForThisFile({
  RESET_URL: '',
  EMAIL_VERIFICATION: 'on',
  RETURN_URL: returnUrl,
  PRODUCT_NAME: "Ada's & Söhne",
  PASSWORD_MIN_LENGTH: '8',
  CONSOLE: 'off',
});
const browser = await browserForThisFile();

const password = 'a new long password';

/** The link in the last of a number of mails to an address. */
const mailedLink = async ({ mailbox }: MailingService, email: string, count = 1) => {
  const mail = (await mailbox.mailsTo(email, count)).at(-1);
  return /http\S+#token=\S+/.exec(mail?.text ?? '')?.[0] ?? '';
};

/** A user who has requested a new password. */
const forgetful = async () => {
  const user = await register(bare.api);
  await bare.requestToken(user.email);
  const link = await mailedLink(bare, user.email);
  return { ...user, link, token: /token=([^&]*)/.exec(link)?.[1] ?? '' };
};

const open = (link: string, locale = 'en-GB') => openPage(browser, link, { locale });

const said = (page: Page) => page.getByRole('status');

const choose = async (page: Page, first: string, second = first): Promise<void> => {
  await page.getByLabel(/^(New p|P)assword$/).fill(first);
  await page.getByLabel('once more').fill(second);
  await button(page, 'Set password').click();
};

const confirm = async (page: Page, given: string): Promise<void> => {
  await page.getByLabel('Password of your account').fill(given);
  await button(page, 'Confirm').click();
};

describe('With MAIL_FROM alone a mailed link', () => {
  it('leads to a page on which its user sets a new password', async () => {
    const { email, link } = await forgetful();

    const { page, complaints } = await open(link);
    await choose(page, password);
    await said(page).getByText('Your new password is set.').waitFor();

    expect(await logIn(bare.api, { email, password })).toMatch(/^ey/);
    expect(await page.locator('form, a').count()).toBe(0);
    expect(complaints).toEqual([]);
  });

  it('leaves its token nowhere but in the request that sets the password', async () => {
    const { email, link, token } = await forgetful();
    const { page } = await open('about:blank');
    const seen: Promise<string>[] = [];
    page.on('request', (request) => {
      seen.push(request.allHeaders().then((all) => request.url() + JSON.stringify(all)));
    });

    await page.goto(link);
    const [address, length] = [page.url(), await page.evaluate('history.length')];
    await choose(page, password);
    await said(page).getByText('is set').waitFor();
    await page.goto('about:blank');
    await page.goBack();
    await said(page).getByText('Open the link in your mail').waitFor();

    expect([address, page.url()]).toEqual(Array(2).fill(link.replace(/#.*/, '')));
    expect(length).toBe(2);
    const requests = (await Promise.all(seen)).join();
    expect(requests).toContain('/api/password-resets');
    expect(requests).not.toContain(token);
    expect(requests).not.toContain(encodeURIComponent(email));
    await expect.poll(bare.output).toContain('/account/reset');
    expect(bare.output()).not.toContain(token);
  });

  it('tells password managers whose account it is, without showing it', async () => {
    const { email, link } = await forgetful();

    const { page } = await open(link);
    const account = page.locator('form input[autocomplete=username]');

    expect([await account.inputValue(), await account.isVisible()]).toEqual([email, false]);
    expect(await page.locator('form input').first().getAttribute('autocomplete')).toBe('username');
  });

  it('works when a mail gateway has encoded its #, and is logged without its token', async () => {
    const { email, link, token } = await forgetful();

    const { page } = await open(link.replace('#', '%23'));
    const account = await page.locator('form input[autocomplete=username]').inputValue();
    await choose(page, password);
    await said(page).getByText('is set').waitFor();

    expect([page.url(), account]).toEqual([link.replace(/#.*/, ''), email]);
    expect(await logIn(bare.api, { email, password })).toMatch(/^ey/);
    await fetch(link.replace('#', '%2523'), { redirect: 'manual' });
    const lines = () => bare.output().match(/^GET \/account\/reset 302/gm) ?? [];
    await expect.poll(() => lines().length).toBe(2);
    expect(bare.output()).not.toContain(token);
  });

  it('leads to a page that says what is wrong with an input, focuses its field, and accepts a correction', async () => {
    const { link } = await forgetful();
    const { page } = await open(link);
    const focused = () => page.evaluate('document.activeElement.id');

    await choose(page, password, 'another');
    const differing = [await said(page).innerText(), await focused()];
    await choose(page, 'x'.repeat(256));
    await said(page).getByText('At most 255 characters.').waitFor();
    const tooLong = [await focused(), await page.locator('[aria-invalid=true]').count()];
    await choose(page, password);
    await said(page).getByText('is set').waitFor();

    expect(differing).toEqual(['The two passwords are not the same.', 'again']);
    expect(tooLong).toEqual(['password', 1]);
    expect(await focused()).toBe('said');
  });

  it('says when it has been used, and is replaced by a good link that is opened in the same tab', async () => {
    const { link } = await forgetful();
    const used = await open(link);
    await choose(used.page, password);
    await said(used.page).getByText('is set').waitFor();

    const { page } = await open(link);
    await choose(page, 'another password');
    await said(page).getByText('This link was used, has expired').waitFor();
    const inputs = await page.locator('input').count();
    const { email, link: good } = await forgetful();
    await page.goto(good);
    await choose(page, 'another password');
    await said(page).getByText('is set').waitFor();

    expect(inputs).toBe(0);
    expect(page.url()).not.toContain('#');
    expect(await logIn(bare.api, { email, password: 'another password' })).toMatch(/^ey/);
  });

  it('sends one request however often the button is pressed, and may send another if no response comes', async () => {
    const { link } = await forgetful();
    const { page } = await open(link);
    let requests = 0;
    const answer = Promise.withResolvers<void>();
    await page.route('**/api/password-resets', async (route) => {
      requests += 1;
      await answer.promise;
      await route.abort();
    });

    await choose(page, password);
    await button(page, 'Set password').click();
    await page.getByLabel('once more').press('Enter');
    answer.resolve();
    await said(page).getByText('The service did not respond').waitFor();
    const during = requests;
    await page.unrouteAll();
    await button(page, 'Set password').click();
    await said(page).getByText('is set').waitFor();

    expect(during).toBe(1);
  });

  it.each([
    [
      { status: 429, json: { code: 'TOO_MANY_ATTEMPTS' }, headers: { 'Retry-After': '30' } },
      '30 s',
    ],
    [{ status: 429, json: { message: 'Too Many Requests' } }, 'Try again in 10 seconds.'],
    [{ status: 500, json: { code: 'STORAGE_FAULT' } }, 'but may have done it. Try again.'],
    [{ status: 200, contentType: 'text/html', body: '<p>A proxy' }, 'but may have done it.'],
    [{ status: 502, contentType: 'text/html', body: '<p>A proxy' }, 'but may have done it.'],
  ])(
    'reports the response of the service, or of a proxy before the service: %j',
    async (response, text) => {
      const { page } = await open(`${bare.url}/account/reset#token=1.a`);
      await page.route('**/api/password-resets', (route) => route.fulfill(response));

      await choose(page, password);

      await said(page).getByText(text).waitFor();
    },
  );

  it('leads to no page that another page can frame', async () => {
    const { link } = await forgetful();
    const app = await startLoopback((_, __, response) =>
      response.setHeader('content-type', 'text/html').end(`<iframe src="${link}"></iframe>`),
    );
    onTestFinished(app.stop);
    const page = await browser.newPage();
    const refusals: string[] = [];
    page.on('console', (message) => refusals.push(message.text()));

    await page.goto(app.url);
    await expect.poll(() => refusals.join()).toContain("frame-ancestors 'none'");

    expect(await page.frames()[1]?.locator('form').count()).toBe(0);
  });
});

describe('The page of an invitation that was accepted', () => {
  const hash = `$2b$04$${'.'.repeat(53)}`;
  /** A user whom an import has created without a password, and whom an admin has invited. */
  const invited = async (service: MailingService, fields: object) => {
    const { api, adminToken: token, environment } = service;
    const json = { name: 'Ada', email: uniqueEmail(), password };
    const { id } = (await api('POST', '/api/users', { token, json })).body;
    await setFieldsOf(environment, id, { password_hash: hash, ...fields });
    await api('POST', `/api/users/${id}/invitations`, { token });
    return mailedLink(service, json.email);
  };

  it.each([
    ['an auditor to the console', bare, { auditor: true }, '/console'],
    ['any other user nowhere', bare, {}, null],
    ['every user to RETURN_URL, if that is set', full, { auditor: true }, returnUrl],
  ] as const)('leads %s', async (_, service, fields, expected) => {
    const { page } = await open(await invited(service, fields));
    const early = await page.getByRole('link').count();
    await choose(page, password);
    await said(page).getByText('Your password is set.').waitFor();

    const links = await page.getByRole('link').all();
    const targets = await Promise.all(links.map((link) => link.getAttribute('href')));
    expect([early, ...targets]).toEqual(expected ? [0, expected] : [0]);
  });
});

describe('The link that verifies an address', () => {
  it('leads to a page that asks for the password, and then links to RETURN_URL without redirecting there', async () => {
    const { email, password: own } = await register(full.api);
    const link = await mailedLink(full, email);
    const { page, complaints } = await open(link);

    await confirm(page, 'wrong');
    await said(page).getByText('This is not the password of the account.').waitFor();
    const early = await page.getByRole('link').count();
    await confirm(page, own);
    await said(page).getByText('Your email address is confirmed.').waitFor();
    const goBack = page.getByRole('link', { name: "Go to Ada's & Söhne" });

    expect(link).toMatch(/^http:\/\/localhost:\d+\/account\/verify#token=/);
    expect([early, await goBack.getAttribute('href')]).toEqual([0, returnUrl]);
    expect(page.url()).toBe(link.replace(/#.*/, ''));
    expect((await full.api('POST', '/api/login', { json: { email, password: own } })).status).toBe(
      200,
    );
    // The browser itself reports the response with the error.
    expect(complaints).toEqual([expect.stringContaining('403')]);
  });

  it('accepts a current password that breaks the rules of new passwords', async () => {
    const { email } = await register(full.api);
    const { page } = await open(await mailedLink(full, email));

    expect(await page.getByText('At least').count()).toBe(0);
  });
});

describe.each([
  ['en-GB', 'en', 'Choose a new password', 'Confirm your email address', 'Choose a password'],
  ['de-AT', 'de', 'Neues Passwort wählen', 'E-Mail-Adresse bestätigen', 'Passwort für Ihr Konto'],
  ['fr', 'en', 'Choose a new password', 'Confirm your email address', 'Choose a password'],
])('In a browser whose language is %s', (locale, language, reset, verify, invitation) => {
  it.each([
    ['reset', reset],
    ['verify', verify],
    ['invitation', invitation],
  ])('the page %s can be read and used by everybody', async (name, heading) => {
    const { page } = await open(`${full.url}/account/${name}#token=1.a`, locale);
    const look = async (state: string) => {
      for (const width of process.env.SCREENS ? [360, 1440] : []) {
        await page.setViewportSize({ width, height: 700 });
        const file = `${name}-${state}-${language}-${width}.png`;
        await page.screenshot({ path: join('.reports/screens', process.env.SCREENS ?? '', file) });
      }
      return violationsIn(page);
    };

    await title(page, heading).waitFor();
    const before = await look('form');
    for (const input of await page.getByLabel(/passwor[dt]/i).all()) await input.fill('short');
    await page.locator('button').click();
    await page.locator('#said:not(:empty)').waitFor();
    const after = await look('end');

    expect([...before, ...after]).toEqual([]);
    expect(await page.locator('html').getAttribute('lang')).toBe(language);
  });
});

it('A page of a link weighs 12 KB at most, with all that it loads', async () => {
  const page = await browser.newPage();
  const sizes: Promise<number>[] = [];
  page.on('requestfinished', (request) => {
    sizes.push(request.sizes().then((size) => size.responseBodySize + size.responseHeadersSize));
  });

  await page.goto(`${full.url}/account/reset#token=1.a`);

  await expect.poll(() => sizes.length).toBeGreaterThanOrEqual(3);
  const all = await Promise.all(sizes);
  expect(all).toHaveLength(3);
  expect(all.reduce((sum, size) => sum + size)).toBeLessThan(12 * 1024);
});
