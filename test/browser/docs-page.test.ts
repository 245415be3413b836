import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { AxeResults } from 'axe-core';
import type { BrowserContextOptions, Page } from 'playwright-core';
import { afterAll, afterEach, describe, expect, it } from 'vitest';
import { operations } from '../../lib/contract/operations.ts';
import { serviceForThisFile } from '../support/acceptance.ts';
import { mailSettings } from '../support/mailbox.ts';
import { startBrowser } from './chromium.ts';

/** With every operation that there is. */
const { url } = await serviceForThisFile({ SESSIONS: 'revocable', ...mailSettings });
const browser = await startBrowser();
afterAll(() => browser.close());
afterEach(async () => {
  for (const context of browser.contexts()) await context.close();
});

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core'), 'utf8');

interface OpenPage {
  readonly page: Page;
  /** What the browser reported, and requests to other origins. */
  readonly complaints: readonly string[];
}

const open = async (options: BrowserContextOptions = {}): Promise<OpenPage> => {
  const context = await browser.newContext(options);
  // For what hangs, not for what is slow.
  context.setDefaultTimeout(150_000);
  const page = await context.newPage();
  const complaints: string[] = [];
  page.on('console', (message) => complaints.push(message.text()));
  page.on('pageerror', (error) => complaints.push(error.message));
  page.on('request', (request) => {
    if (!request.url().startsWith(`${url}/`)) complaints.push(request.url());
  });
  await page.addInitScript(`addEventListener('securitypolicyviolation', (event) =>
    console.error('forbidden:', event.violatedDirective, event.blockedURI));`);
  await page.goto(`${url}/docs`);
  return { page, complaints };
};

/** What is read in the page: text that is not shown does not count. */
const shownText = (page: Page): Promise<string> => page.locator('body').innerText();

const unfoldAll = (page: Page): Promise<unknown> =>
  page.evaluate(`document.querySelectorAll('details').forEach((one) => { one.open = true; })`);

const looks = [
  ['in the light', { colorScheme: 'light', viewport: { width: 1200, height: 800 } }],
  ['in the dark', { colorScheme: 'dark', viewport: { width: 1200, height: 800 } }],
  ['on a phone', { colorScheme: 'light', viewport: { width: 360, height: 740 } }],
] as const;

describe.each(looks)('The docs page %s', (_, options) => {
  it('has no fault of accessibility that axe can find', async () => {
    const { page } = await open(options);
    await unfoldAll(page);
    await page.evaluate(axe);

    const { violations, passes } = (await page.evaluate(
      `axe.run({ resultTypes: ['violations'] })`,
    )) as AxeResults;

    expect(violations.map(({ id, nodes }) => [id, nodes.map(({ html }) => html)])).toEqual([]);
    expect(passes.map(({ id }) => id)).toContain('color-contrast');
  });

  it('is shown with its style, without a report of the browser or a request elsewhere', async () => {
    const { page, complaints } = await open(options);

    expect(complaints).toEqual([]);
    const scheme = 'getComputedStyle(document.body).backgroundColor';
    expect(await page.evaluate(scheme)).toBe(
      options.colorScheme === 'dark' ? 'rgb(21, 24, 28)' : 'rgb(255, 255, 255)',
    );
  });

  it('fits into the window, and so does every example and table in it', async () => {
    const { page } = await open(options);
    await unfoldAll(page);

    const wide = await page.evaluate(`[...document.querySelectorAll('html, pre, table, td, th')]
      .filter((one) => one.scrollWidth > one.clientWidth || one.scrollWidth > innerWidth)
      .map((one) => one.outerHTML.slice(0, 200))`);

    expect(wide).toEqual([]);
  });
});

describe('The policy of the docs page', () => {
  it.each([
    [
      'a script',
      `document.body.append(Object.assign(document.createElement('script'), { text: '1' }))`,
    ],
    ['another style', `document.body.setAttribute('style', 'color: red')`],
    ['an image', `new Image().src = '/openapi.json'`],
  ])('forbids %s, which the browser reports', async (_, intrusion) => {
    const { page } = await open();
    const report = page.waitForEvent('console', (message) =>
      message.text().startsWith('forbidden:'),
    );

    await page.evaluate(`void (${intrusion})`);

    expect((await report).text()).toMatch(/^forbidden: (script|style|img)-src/);
  });
});

/** What has the focus: where it leads, or what it is; and whether it is seen to have it. */
const focused = (page: Page): Promise<{ readonly on: string; readonly seen: boolean }> =>
  page.evaluate(`(() => {
    const one = document.activeElement;
    const { top, left, bottom } = one.getBoundingClientRect();
    const outlined = getComputedStyle(one).outlineStyle === 'solid';
    const seen = outlined && left >= 0 && bottom > 0 && top < innerHeight;
    return { on: one.getAttribute('href') ?? one.localName, seen };
  })()`);

const tab = async (page: Page) => {
  await page.keyboard.press('Tab');
  return focused(page);
};

describe('The docs page by keyboard alone', () => {
  it('offers first to skip the contents, and skips them', async () => {
    const { page } = await open();

    expect(await tab(page)).toEqual({ on: '#main', seen: true });
    await page.keyboard.press('Enter');
    expect((await focused(page)).on).toBe('main');
    expect(await tab(page)).toEqual({ on: '#start', seen: true });
    expect(await page.evaluate(`document.activeElement.closest('main') !== null`)).toBe(true);
  });

  it('leads through all of the contents in their order, and shows where one is', async () => {
    const { page } = await open();
    const links = await page.evaluate(
      `[...document.querySelectorAll('nav a')].map((one) => one.getAttribute('href'))`,
    );
    await tab(page);

    const visited = [];
    for (const _ of links as string[]) visited.push(await tab(page));

    expect(visited).toEqual((links as string[]).map((on) => ({ on, seen: true })));
    expect(visited.length).toBeGreaterThan(Object.keys(operations).length);
  });

  it('follows a link to an operation, and unfolds its errors', async () => {
    const { page } = await open();

    await page.locator('nav a[href="#getProfile"]').press('Enter');
    const section = page.locator('#getProfile');
    await page.waitForFunction(
      `Math.abs(document.querySelector('#getProfile').getBoundingClientRect().top) < 100`,
    );
    await section.locator('summary').press('Enter');

    await section.getByText('No token provided').waitFor({ state: 'visible' });
  });
});

describe('The docs page on paper', () => {
  it('has every operation with its errors, and no contents', async () => {
    const { page } = await open({ colorScheme: 'dark' });
    await page.emulateMedia({ media: 'print' });

    const text = await shownText(page);

    for (const route of Object.keys(operations)) expect(text).toContain(route);
    expect(text.split('Internal server error').length - 1).toBe(Object.keys(operations).length);
    expect(await page.locator('nav').isVisible()).toBe(false);
    expect(await page.evaluate('getComputedStyle(document.body).backgroundColor')).toBe(
      'rgb(255, 255, 255)',
    );
  });

  it('can be made a PDF file', async () => {
    const { page } = await open();

    const pdf = await page.pdf({ format: 'A4' });

    expect(pdf.subarray(0, 5).toString()).toBe('%PDF-');
    expect(pdf.length).toBeGreaterThan(50_000);
  });
});
