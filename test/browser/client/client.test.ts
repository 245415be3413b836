/** The client of apps in Chromium: its tabs, its storage, and the events that pages handle. */
import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { serviceForThisFile } from '../../support/acceptance.ts';
import { register } from '../../support/client.ts';
import { outlived, signToken } from '../../support/tokens.ts';
import { newAccount } from '../../support/verification.ts';
import { browserForThisFile } from '../browser.ts';
import { clientPageForThisFile, openClient } from './page.ts';

const sessions = await serviceForThisFile({ SESSION_DAYS: '90', SELF_DELETION: 'on' });
const plain = await serviceForThisFile();
const app = await clientPageForThisFile(() => sessions.url);
const plainApp = await clientPageForThisFile(() => plain.url);
const browser = await browserForThisFile();

const key = `accounts-client.${sessions.url}`;

/** The result of a script in a page. */
const run = (page: Page, script: string) => page.evaluate<unknown>(script);

const reasonsIn = (page: Page) => run(page, 'reasons');

/** Waits until a page has received a number of reasons. @returns the reasons */
const told = async (page: Page, count: number) => {
  await page.waitForFunction(`reasons.length >= ${count}`);
  return reasonsIn(page);
};

const account = () => JSON.stringify(newAccount());

/** The tokens of a new user; the access token has expired. */
const expiredTokens = async () => {
  const { token, refreshToken, id } = await register(sessions.api);
  const sign = (claims: object, header: object) => signToken(claims, sessions.jwtSecret, header);
  return { id, tokens: { token: outlived(token, sign), refreshToken } };
};

/** Runs in the page before its scripts: puts these texts into the storage. */
const storing = (texts: Readonly<Record<string, unknown>>, storage = 'localStorage') =>
  Object.entries(texts)
    .map(
      ([name, value]) => `${storage}.setItem('${name}', ${JSON.stringify(JSON.stringify(value))});`,
    )
    .join('\n');

/** Puts texts into the storage of a context, once. */
const contextWith = async (texts: Readonly<Record<string, unknown>>) => {
  const context = await browser.newContext();
  const page = await context.newPage();
  await page.route('**/*', (route) => route.fulfill({ body: '', contentType: 'text/html' }));
  await page.goto(app);
  await page.evaluate(storing(texts));
  await page.close();
  return context;
};

it.each([
  ['the default settings', plainApp],
  ['sessions', app],
])(
  'A page of another origin registers a user, calls the service and logs out, with %s',
  async (_, origin) => {
    const page = await openClient(browser, origin);

    const lived = await run(
      page,
      `(async () => {
      const account = ${account()};
      const registered = await accounts.register(account);
      const response = await accounts.fetch('${origin === app ? sessions.url : plain.url}/api/profile');
      const profile = (await response.json()).data;
      const out = await accounts.logOut();
      const wrong = await accounts.logIn({ ...account, password: 'wrong' });
      const again = await accounts.logIn(account);
      return [registered.data.user.email === account.email, profile.name, out.error, wrong.error.code, again.error];
    })()`,
    );

    expect(lived).toEqual([true, 'Ada', null, 'INVALID_CREDENTIALS', null]);
    expect(await reasonsIn(page)).toEqual(['read', 'loggedIn', 'loggedOut', 'loggedIn']);
  },
);

describe('A tab', () => {
  it('learns at once of logins and logouts in another tab', async () => {
    const context = await browser.newContext();
    const [one, two] = [await openClient(context, app), await openClient(context, app)];

    await run(one, `accounts.register(${account()})`);
    const first = await told(two, 2);
    await run(two, 'accounts.logOut()');

    expect(first).toEqual(['read', 'loggedIn']);
    expect(await told(one, 3)).toEqual(['read', 'loggedIn', 'loggedOut']);
    expect(await run(one, 'accounts.user')).toBeNull();
  });

  it('knows who is signed in as soon as its script runs', async () => {
    const context = await browser.newContext();
    await run(await openClient(context, app), `accounts.register(${account()})`);
    const page = await openClient(context, app);

    expect(await run(page, `createClient({ url: '${sessions.url}' }).user.role`)).toBe('user');
  });

  it('learns that the session has ended, and so do the other tabs', async () => {
    const { id, tokens } = await expiredTokens();
    const context = await contextWith({ [key]: tokens });
    const [one, two] = [await openClient(context, app), await openClient(context, app)];
    await sessions.api('DELETE', `/api/users/${id}/sessions`, { token: sessions.adminToken });

    await run(one, 'accounts.getProfile()');

    expect(await told(one, 2)).toEqual(['read', 'ended']);
    expect(await told(two, 2)).toEqual(['read', 'ended']);
    expect(await run(one, `localStorage.getItem('${key}')`)).toBeNull();
  });

  it('learns that its session has ended when it becomes visible again', async () => {
    const { id, tokens } = await expiredTokens();
    const page = await openClient(await contextWith({ [key]: tokens }), app);
    await sessions.api('DELETE', `/api/users/${id}/sessions`, { token: sessions.adminToken });

    await run(page, `void document.dispatchEvent(new Event('visibilitychange'))`);

    expect(await told(page, 2)).toEqual(['read', 'ended']);
  });

  it('keeps the session of a service without refresh tokens for itself', async () => {
    const context = await browser.newContext();
    const [one, two] = [await openClient(context, plainApp), await openClient(context, plainApp)];

    await run(one, `accounts.register(${account()})`);
    await one.reload();
    await one.waitForFunction('window.accounts');

    expect(await run(one, 'accounts.user.role')).toBe('user');
    expect(await run(two, 'accounts.ready.then(() => accounts.user)')).toBeNull();
    expect(await run(one, 'localStorage.length')).toBe(0);
  });
});

it('Tokens that an app has stored by the code of CLIENTS.md are taken over once', async () => {
  const { token, refreshToken, email } = await register(sessions.api);
  const context = await contextWith({
    tokens: { message: 'Login successful', token, refreshToken },
  });

  const pages = [await openClient(context, app), await openClient(context, app)];

  for (const page of pages) expect(await run(page, 'accounts.user.email')).toBe(email);
  expect(await run(pages[0] as Page, 'Object.keys(localStorage)')).toEqual([key]);
});

it('Tokens that another library has stored are left alone', async () => {
  const context = await contextWith({ tokens: { token: 'of another library' } });

  const page = await openClient(context, app);

  expect(await run(page, '[accounts.user, Object.keys(localStorage)]')).toEqual([null, ['tokens']]);
});

it('Two apps of one origin that have different names have separate users', async () => {
  const context = await browser.newContext();
  const one = await openClient(context, `${app}/?name=one`);
  const two = await openClient(context, `${app}/?name=two`);

  await run(one, `accounts.register(${account()})`);
  await two.reload();
  await two.waitForFunction('window.accounts');

  expect(await run(two, 'accounts.user')).toBeNull();
  expect(await run(one, 'Object.keys(localStorage)')).toEqual(['accounts-client.one']);
});

it.each([
  [
    'throws',
    `Object.defineProperty(window, 'localStorage', { get() { throw new DOMException('no', 'SecurityError'); } });`,
  ],
  [
    'is full',
    `Storage.prototype.setItem = () => { throw new DOMException('full', 'QuotaExceededError'); };`,
  ],
])('A page whose storage %s has a session until it is loaded again', async (_, script) => {
  const page = await openClient(browser, app, script);

  const outcome = await run(
    page,
    `accounts.register(${account()}).then(() => accounts.getProfile()).then(({ data }) => data.name)`,
  );

  expect(outcome).toBe('Ada');
  await page.reload();
  await page.waitForFunction('window.accounts');
  expect(await run(page, 'accounts.user')).toBeNull();
});

it.each([-24, 24])(
  'A clock that is %i hours wrong neither ends a session nor hides its end',
  async (hours) => {
    const context = await browser.newContext();
    await context.clock.install({ time: Date.now() + hours * 3_600_000 });
    const page = await openClient(context, app);

    await run(page, `accounts.register(${account()})`);
    const early = await run(page, 'accounts.getToken()');
    await context.clock.fastForward('23:59:30');
    const late = await run(page, 'accounts.getToken()');
    const sent = await run(page, 'sent');

    expect(sent).toEqual(['/api/auth/register', '/api/refresh']);
    expect(late).not.toBe(early);
  },
);

it('The token of a mailed link is taken out of the address bar', async () => {
  const page = await openClient(browser, `${app}/reset?a=b#token=x.y-z_&email=ada%40example.org`);

  const link = await run(page, 'readLink()');

  expect(link).toEqual({ token: 'x.y-z_', email: 'ada@example.org' });
  expect(page.url()).toBe(`${app}/reset?a=b`);
  expect(await run(page, 'readLink()')).toBeNull();
});

it('A request carries the token only if it goes to the origin of the page or of the service', async () => {
  const page = await openClient(browser, app);
  await run(page, `accounts.register(${account()})`);
  const given: (string | undefined)[] = [];
  const note = (pattern: string) =>
    page.route(pattern, (route) => {
      given.push(route.request().headers().authorization?.slice(0, 6));
      const headers = { 'access-control-allow-origin': '*', 'access-control-allow-headers': '*' };
      return route.fulfill({ headers, body: '' });
    });
  await note('**/orders');
  await note('https://*.example.com/**');

  await run(
    page,
    `(async () => {
      for (const url of ['/orders', 'orders', new URL('/orders', location), new Request('/orders')]) await accounts.fetch(url);
      for (const url of ['https://evil.example.com/orders', '//evil.example.com/orders', '/\\\\\\\\evil.example.com/orders'])
        await accounts.fetch(url).catch(() => undefined);
    })()`,
  );

  expect(given.slice(0, 4)).toEqual(Array(4).fill('Bearer'));
  expect(given.slice(4).filter(Boolean)).toEqual([]);
});
