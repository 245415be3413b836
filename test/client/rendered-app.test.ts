/** An app whose pages a server renders (functions/client/README.md, Pages that a server renders), in Chromium. */
import type { Page } from 'playwright-core';
import { describe, expect, it, onTestFinished } from 'vitest';
import { sessionCookies } from '../../functions/client/server.ts';
import { verifyToken } from '../../functions/client/verify.ts';
import { appForThisFile } from '../browser/app.ts';
import { browserForThisFile } from '../browser/browser.ts';
import { button } from '../browser/page.ts';
import { serviceForThisFile } from '../support/acceptance.ts';
import { type Account, register } from '../support/client.ts';
import { stillClockForThisFile } from '../support/still-clock.ts';
import { type RenderedApp, renderedAppForThisFile, respond } from './rendered-app.ts';

const service = await serviceForThisFile({
  SESSION_DAYS: '90',
  TOKEN_MINUTES: '5',
  TOKEN_SIGNING: 'RS256',
});
const { url } = service;
const byProfile = await renderedAppForThisFile({ url });
const byVerify = await renderedAppForThisFile({ url, name: 'verified', verify: verifyToken });
const otherOrigin = await appForThisFile(() => ({}), '');
const browser = await browserForThisFile();

/** Seconds. */
const minute = 60;

/** Sets the clock of the service and of the app forward. */
const forward = stillClockForThisFile();

const openPage = async ({ origin }: RenderedApp): Promise<Page> => {
  const page = await (await browser.newContext()).newPage();
  await page.goto(origin);
  return page;
};

/** Logs a new user in by the form of the app. */
const logInAt = async (app: RenderedApp): Promise<{ page: Page; account: Account }> => {
  const account = await register(service.api);
  const page = await openPage(app);
  await page.getByLabel('Email address').fill(account.email);
  await page.getByLabel('Password').fill(account.password);
  await button(page, 'Log in').click();
  await page.getByText(`Hello, ${account.email} (user).`).waitFor();
  return { page, account };
};

const heading = (page: Page) => page.getByRole('heading').innerText();
const cookiesOf = (page: Page) => page.context().cookies();

/** The tokens in the cookies of a browser. */
const tokensIn = async (page: Page): Promise<readonly string[]> =>
  (await cookiesOf(page))
    .flatMap(({ value }) => value.split('~'))
    .filter((each) => each.includes('.'));

describe.each([
  ['the profile', byProfile],
  ['verifyToken', byVerify],
])('An app whose server knows its users by %s', (_, app) => {
  it('logs a user in by a form, and no script can read a token', async () => {
    const { page, account } = await logInAt(app);
    const seen = await page.evaluate(`(async () => {
      const login = await fetch('/auth/login', {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: ${JSON.stringify(JSON.stringify(account))},
      });
      const refresh = await fetch('/auth/refresh', { method: 'POST' });
      const texts = [login, refresh].map(async (response) =>
        JSON.stringify([...response.headers]) + (await response.text()));
      return [document.cookie, JSON.stringify({ ...localStorage, ...sessionStorage }),
        document.documentElement.outerHTML, JSON.stringify(performance.getEntries()),
        ...(await Promise.all(texts))];
    })()`);
    const { email, id } = account;

    const tokens = await tokensIn(page);
    expect(tokens).toHaveLength(2);
    for (const token of tokens) expect(String(seen)).not.toContain(token);
    expect(seen).toMatchObject({
      0: '',
      4: expect.stringContaining(
        JSON.stringify({ data: { id, email, role: 'user' }, error: null }),
      ),
      5: expect.stringContaining(
        JSON.stringify({ data: { id, email, role: 'user' }, error: null }),
      ),
    });
    expect(String(seen)).not.toContain('eyJ');
  });

  it('keeps its cookies for 400 days, and hides them from scripts and from other sites', async () => {
    const { page } = await logInAt(app);
    const [cookie, ...others] = await cookiesOf(page);

    expect(others).toEqual([]);
    expect(cookie).toMatchObject({ httpOnly: true, sameSite: 'Lax', path: '/', secure: false });
    const days = ((cookie?.expires ?? 0) - Date.now() / 1000) / (24 * 60 * minute);
    expect(Math.round(days)).toBe(400);
  });

  it('logs out', async () => {
    const { page, account } = await logInAt(app);
    const [token = ''] = await tokensIn(page);
    await button(page, 'Log out').click();
    await page.getByLabel('Password').waitFor();

    expect((await cookiesOf(page)).map((cookie) => cookie.name)).toEqual([
      expect.stringMatching(/-out$/),
    ]);
    expect(await service.api('GET', '/api/profile', { token })).toMatchObject({ status: 401 });
    expect(await service.api('GET', '/api/profile', account)).toMatchObject({ status: 200 });
  });

  it('says what is wrong with a login', async () => {
    const page = await openPage(app);
    await page.getByLabel('Email address').fill('nobody@example.org');
    await page.getByLabel('Password').fill('wrong');
    await button(page, 'Log in').click();

    await page.getByText('User is not registered').waitFor();
    expect(await cookiesOf(page)).toEqual([]);
  });

  it('knows its user after a token has expired, although two simultaneous requests notice that', async () => {
    const { page, account } = await logInAt(app);
    const before = await tokensIn(page);
    forward(6 * minute);
    const order = (text: string) =>
      `fetch('/orders', { method: 'POST', body: '${text}' }).then((response) => response.json())`;
    const done = await page.evaluate(`Promise.all([${order('a')}, ${order('b')}])`);
    await page.reload();

    expect(done).toEqual([
      { by: account.id, ordered: 'a' },
      { by: account.id, ordered: 'b' },
    ]);
    expect(await heading(page)).toBe(`Hello, ${account.email} (user).`);
    const after = await tokensIn(page);
    expect(after).toHaveLength(2);
    expect(before).not.toContain(after[0]);
  });

  it('knows its user after a response with new tokens was lost', async () => {
    const { page, account } = await logInAt(app);
    forward(4.5 * minute);
    app.hold = async () => 'lost';
    const lost = await page.evaluate(`fetch('/').catch(() => 'lost')`);
    app.hold = async () => undefined;
    forward(3 * minute);
    await page.reload();

    expect(lost).toBe('lost');
    expect(await heading(page)).toBe(`Hello, ${account.email} (user).`);
  });

  it('knows its user after two responses with new tokens came in the wrong order, minutes apart', async () => {
    const { page, account } = await logInAt(app);
    const later = Promise.withResolvers<void>();
    const held = Promise.withResolvers<void>();
    app.hold = async (path) => {
      if (path !== '/orders') return undefined;
      held.resolve();
      return later.promise.then(() => undefined);
    };
    onTestFinished(() => {
      app.hold = async () => undefined;
    });
    forward(4.5 * minute);
    await page.evaluate(`void (window.slow = fetch('/orders', { method: 'POST', body: 'slow' }))`);
    await held.promise;
    forward(2 * minute);
    const fast = await page.evaluate(`fetch('/').then((response) => response.text())`);
    const between = await tokensIn(page);
    later.resolve();
    await page.evaluate('window.slow');
    const mixed = await tokensIn(page);
    await page.reload();

    expect(fast).toContain(account.email);
    expect(await heading(page)).toBe(`Hello, ${account.email} (user).`);
    expect(await tokensIn(page)).toEqual(between);
    expect([between.length, mixed.length]).toEqual([2, 4]);
    forward(5 * minute);
    await page.reload();
    expect(await heading(page)).toBe(`Hello, ${account.email} (user).`);
  });

  it('believes no cookie that was edited to say admin', async () => {
    const { page, account } = await logInAt(app);
    const [cookie] = await cookiesOf(page);
    const [head, payload = '', ...rest] = cookie?.value.split('.') ?? [];
    const claims = JSON.parse(Buffer.from(payload, 'base64url').toString());
    const edited = Buffer.from(JSON.stringify({ ...claims, role: 'admin' })).toString('base64url');
    const value = [head, edited, ...rest].join('.');
    await page.context().addCookies([{ ...cookie, value } as Required<typeof cookie> & object]);
    await page.reload();

    expect(await heading(page)).toBe(`Hello, ${account.email} (user).`);
    expect((await cookiesOf(page)).map((each) => each.value)).not.toContain(value);
  });

  it('refuses a form that a page of another origin submits, also a login form', async () => {
    const { page, account } = await logInAt(app);
    const { email, password } = await register(service.api);
    const send = async (path: string) => {
      await page.goto(otherOrigin);
      const fields = Object.entries({ email, password });
      await page.setContent(`<form method="post" action="${app.origin}${path}">
        ${fields.map(([name, value]) => `<input name="${name}" value="${value}">`).join('')}
        <button>Send</button></form>`);
      const [response] = await Promise.all([
        page.waitForResponse(app.origin + path),
        button(page, 'Send').click(),
      ]);
      return response.status();
    };

    const statuses = [await send('/auth/login'), await send('/auth/logout'), await send('/orders')];
    await page.goto(app.origin);

    expect(statuses).toEqual([403, 403, 403]);
    expect(await heading(page)).toBe(`Hello, ${account.email} (user).`);
  });
});

it('The cookies of an app with https have the prefix __Host-, so that no neighbouring host can set them', async () => {
  const { email, password } = await register(service.api);
  const origin = 'https://shop.example.com';
  const sessions = sessionCookies({ url, origin, name: 'shop' });
  const page = await (await browser.newContext()).newPage();
  await page.route(`${origin}/**`, async (route) => {
    const request = route.request();
    const body = request.postData();
    const headers = await request.allHeaders();
    const init = { method: request.method(), headers, ...(body && { body }) };
    const response = await respond(sessions, new Request(request.url(), init), url);
    const cookies = response.headers.getSetCookie().join('\n');
    await route.fulfill({
      status: response.status,
      headers: { ...Object.fromEntries(response.headers), 'set-cookie': cookies },
      body: await response.text(),
    });
  });
  await page.goto(origin);
  const status = await page.evaluate(`fetch('/auth/login', {
    method: 'POST',
    body: new URLSearchParams(${JSON.stringify({ email, password })}),
  }).then((response) => response.status)`);
  await page.reload();

  expect(status).toBe(200);
  expect(await heading(page)).toBe(`Hello, ${email} (user).`);
  expect(await page.evaluate('document.cookie')).toBe('');
  expect(await cookiesOf(page)).toEqual([
    expect.objectContaining({
      name: expect.stringMatching(/^__Host-shop-\d+$/),
      secure: true,
      httpOnly: true,
      sameSite: 'Lax',
      domain: 'shop.example.com',
    }),
  ]);
});

it.each([
  [4096, 1],
  [4097, 0],
])(
  'The browser keeps a cookie whose name and value have at most 4,096 bytes: at %i bytes it keeps %i cookies',
  async (bytes, kept) => {
    const page = await openPage(byProfile);
    const cookie = `x=${'y'.repeat(bytes - 1)}`;
    await page.route('**/cookie', (route) => route.fulfill({ headers: { 'set-cookie': cookie } }));
    await page.evaluate(`fetch('/cookie')`);

    expect(await cookiesOf(page)).toHaveLength(kept);
  },
);

describe('After a user has logged out elsewhere, an app', () => {
  const endSessions = async ({ id, token }: Account) => {
    const ended = await service.api('DELETE', `/api/users/${id}/sessions`, { token });
    expect(ended.status).toBe(204);
  };

  it('that asks for the profile is told at the next request', async () => {
    const { page, account } = await logInAt(byProfile);
    await endSessions(account);
    await page.reload();

    expect(await heading(page)).toBe('Log in');
    expect(await cookiesOf(page)).toEqual([]);
  });

  it('that verifies tokens is told at the next refresh', async () => {
    const { page, account } = await logInAt(byVerify);
    await endSessions(account);
    await page.reload();
    const before = await heading(page);
    forward(4.5 * minute);
    await page.reload();

    expect(before).toBe(`Hello, ${account.email} (user).`);
    expect(await heading(page)).toBe('Log in');
    expect(await cookiesOf(page)).toEqual([]);
  });

  it('that verifies tokens is told at the next call of the service', async () => {
    const { page, account } = await logInAt(byVerify);
    await endSessions(account);
    const told = await page.evaluate(`fetch('/profile').then((response) => response.json())`);

    expect(told).toEqual({ status: 401 });
    expect(await cookiesOf(page)).toEqual([]);
  });
});
