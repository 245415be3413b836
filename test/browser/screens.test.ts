/**
 * Every screen with the same data at the same time. With the variable SCREENS, pictures are taken, so that the pictures
 * of two runs can be compared (test/README.md, Screenshots).
 */
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { serviceForThisFile } from '../support/acceptance.ts';
import { folderForThisFile } from '../support/folder.ts';
import { mailSettings, verifyUrl } from '../support/mailbox.ts';
import { browserForThisFile } from './browser.ts';
import { drawn } from './page.ts';
import { misplaced } from './screens/misplaced.ts';
import {
  answerTo,
  entries,
  junk,
  now,
  sealWithFindings,
  timeBefore,
  token,
} from './screens/responses.ts';

const service = await serviceForThisFile({
  ...mailSettings,
  IDENTITY_PROVIDERS: '[{"issuer":"https://accounts.google.com","audiences":["app"]}]',
  SESSION_DAYS: '90',
  PASSKEYS: '{"rpId":"example.com","origins":["https://app.example.com"]}',
  SECOND_FACTOR: 'optional',
  MACHINES: 'on',
  EMAIL_VERIFICATION: 'on',
  VERIFY_URL: verifyUrl,
  DATA_DIR: folderForThisFile(),
});
const browser = await browserForThisFile();

const press = (name: string) => async (page: Page) =>
  page.getByRole('button', { name, exact: true }).click();

/** Shows a seal with findings. */
const withFindings = async (page: Page) => {
  await page.route('**/api/admin/audit-seal', (route) => route.fulfill({ json: sealWithFindings }));
  await page.reload();
  await page.getByRole('alert').waitFor();
};

/** Each screen: its place, and the actions there. */
const screens: Readonly<Record<string, readonly [string, ((page: Page) => Promise<unknown>)?]>> = {
  'sign-in': ['/console', press('Sign out')],
  users: ['/console#/users'],
  'users-none': ['/console#/users?q=nobody'],
  'users-unseen': ['/console#/users?seenBefore=2026-08-30'],
  'users-selected': ['/console#/users', press('Select all 4 shown')],
  'users-delete': [
    '/console#/users',
    async (page) => {
      for (const name of ['Select all 4 shown', 'Delete', 'Delete 4 users'])
        await press(name)(page);
    },
  ],
  'users-deleted': [
    '/console#/users',
    async (page) => {
      await page.route('**/api/users/*', (route) => route.abort());
      for (const name of ['Select all 4 shown', 'Delete']) await press(name)(page);
      await page.getByLabel('Type 4 to confirm').fill('4');
      await press('Delete 4 users')(page);
      await page.getByText('0 of 4').waitFor();
    },
  ],
  'user-new': ['/console#/users', press('Create a user')],
  user: ['/console#/users/2'],
  'user-long': ['/console#/users/4'],
  'user-gone': ['/console#/users/404'],
  'user-unknown': ['/console#/users/405'],
  'user-suspended': ['/console#/users/3', press('Lift')],
  'user-role': ['/console#/users/2', press('Make an admin')],
  'user-auditor': ['/console#/users/2', press('Make an auditor')],
  'user-factor': ['/console#/users/2', press('Remove')],
  'user-unlink': [
    '/console#/users/2',
    (page) => page.getByRole('button', { name: 'Unlink' }).first().click(),
  ],
  'user-delete': ['/console#/users/2', press('Delete')],
  'user-end': ['/console#/users/2', press('End all')],
  'user-help': ['/console#/users/2', press('Open Lost mailbox')],
  'user-intruder': ['/console#/users/2', press('Open Somebody else is in')],
  'user-help-failed': [
    '/console#/users/2',
    async (page) => {
      await press('Open Lost phone')(page);
      await press('Begin')(page);
      await page.getByText('Step 1 has failed.').waitFor();
    },
  ],
  audit: ['/console#/audit'],
  'audit-filtered': [`/console#/audit?userId=2&since=${timeBefore(100)}&order=asc`],
  'audit-registrations': ['/console#/audit?action=CREATE&only=registrations'],
  'audit-attack': [`/console#/audit?since=${timeBefore(2)}&until=${timeBefore(0)}`],
  overview: ['/console#/overview'],
  settings: ['/console#/settings'],
  'audit-groups': ['/console#/audit?group=userId'],
  'audit-reasons': ['/console#/audit?group=reason&result=FAILURE'],
  'audit-entry': ['/console#/audit', (page) => page.locator('tbody button').first().click()],
  'audit-machines': ['/console#/audit?from=machines&machineId=3&resource=shop.orders&resourceId=1'],
  'audit-machine-groups': ['/console#/audit?group=machineId'],
  'audit-posted': ['/console#/audit', (page) => page.locator('tbody button').nth(7).click()],
  'audit-export': ['/console#/audit', press('Export')],
  seal: ['/console#/seal'],
  'seal-findings': ['/console#/seal', withFindings],
  'audit-findings': ['/console#/audit', withFindings],
  'users-findings': ['/console#/users', withFindings],
  machines: ['/console#/machines'],
  'machines-new': ['/console#/machines', press('Make a machine')],
  'machines-key': [
    '/console#/machines',
    async (page) => {
      await page.getByRole('button', { name: 'Another key' }).first().click();
      await press('Make the key')(page);
      await page.getByText('is shown this once').waitFor();
    },
  ],
  account: ['/console#/account'],
  'account-unlink': [
    '/console#/account',
    (page) => page.getByRole('button', { name: 'Unlink' }).first().click(),
  ],
  'account-codes': ['/console#/account', press('Make new recovery codes')],
  nowhere: ['/console#/nowhere'],
  docs: [
    '/docs',
    async (page) => {
      await page.locator('#operations-Users-listUsers .opblock-summary-control').click();
      await page.locator('.responses-table').waitFor();
    },
  ],
};

/** Opens a place in a window that is so high that all names are in view and therefore requested. */
const openScreen = async (place: string): Promise<Page> => {
  const viewport = { width: 1280, height: 2400 };
  const context = await browser.newContext({
    viewport,
    reducedMotion: 'reduce',
    // Times are the longest in this language.
    locale: 'en-US',
    timezoneId: 'Europe/Berlin',
  });
  const page = await context.newPage();
  // Swagger UI waits by the clock, and shows no times.
  if (place !== '/docs') await page.clock.setFixedTime(now);
  await page.addInitScript(`sessionStorage.setItem('accounts-console-tab', 'a');
    sessionStorage.setItem('accounts-client.console', '{"token":"${token}"}');`);
  await page.route('**/api/**', (route) => route.fulfill(answerTo(new URL(route.request().url()))));
  await page.route('**/openapi.json', async (route) => {
    const response = await route.fetch();
    // The port differs in each run.
    const body = (await response.text()).replaceAll(service.url, 'http://localhost');
    return route.fulfill({ response, body });
  });
  await page.goto(service.url + place);
  await page.waitForLoadState('networkidle');
  return page;
};

/** In the last look, text has twice its size. */
const looks = [
  { width: 1280, colorScheme: 'light', fontSize: '' },
  { width: 1280, colorScheme: 'dark', fontSize: '' },
  { width: 768, colorScheme: 'light', fontSize: '' },
  { width: 360, colorScheme: 'dark', fontSize: '' },
  { width: 360, colorScheme: 'light', fontSize: '187.5%' },
] as const;

/** The height of the highest picture that Chromium takes, in pixels. */
const highest = 16_000;

const takePicture = async (page: Page, name: string, width: number): Promise<void> => {
  const path = join('.reports/screens', process.env.SCREENS ?? '', `${name}.png`);
  const [, scheme] = /^audit-attack-1280-(\w+)$/.exec(name) ?? [];
  // These are the pictures of README.md.
  if (scheme) await page.screenshot({ path: `.github/images/console-${scheme}.png` });
  const height = Number(await page.evaluate('document.documentElement.scrollHeight'));
  const clip = { x: 0, y: 0, width, height: Math.min(height, highest) };
  await page.screenshot({ path, fullPage: true, clip, animations: 'disabled' });
};

describe('Nothing is broken or out of place', () => {
  it.each(Object.entries(screens))('on the screen %s', async (name, [place, act]) => {
    const page = await openScreen(place);
    await act?.(page);
    await page.locator('body:not(:has(.busy))').waitFor();
    const found: string[] = [];
    for (const { width, colorScheme, fontSize } of looks) {
      await page.evaluate(`document.documentElement.style.fontSize = '${fontSize}'`);
      await page.setViewportSize({ width, height: 800 });
      await page.emulateMedia({ colorScheme });
      await page.evaluate(drawn);
      if (process.env.SCREENS) await takePicture(page, `${name}-${width}-${colorScheme}`, width);
      const faults = (await page.evaluate(misplaced)) as readonly string[];
      found.push(...faults.map((each) => `${width}: ${each}`));
    }
    expect(found).toEqual([]);
  });
});

describe('Whatever the width of the window,', () => {
  it.each([
    'users',
    'user',
    'audit',
    'audit-groups',
    'overview',
    'settings',
    'seal',
    'machines',
    'account',
  ])('the screen %s does not scroll sideways', async (name) => {
    const page = await openScreen(screens[name]?.[0] ?? '');
    const found: string[] = [];
    for (let width = 1440; width >= 360; width -= 36) {
      await page.setViewportSize({ width, height: 800 });
      await page.evaluate(drawn);
      const outside = await page.evaluate('document.documentElement.scrollWidth - innerWidth');
      if (outside !== 0) found.push(`${width}: ${outside} px`);
      const cards = await page.locator('.cards').count();
      if (width > 1200 && name !== 'user' && cards > 0) found.push(`${width}: cards`);
    }

    expect(found).toEqual([]);
  });
});

/** Runs in the page: the hints in fields, and the chosen options, for which there is too little room. */
const cut = `[...document.querySelectorAll('input[placeholder], select')].flatMap((field) => {
  const style = getComputedStyle(field);
  const pen = document.createElement('canvas').getContext('2d');
  pen.font = style.fontSize + ' ' + style.fontFamily;
  const text = field.placeholder ?? field.selectedOptions[0].text;
  const arrow = field.placeholder === undefined ? 20 : 0;
  const room = field.clientWidth - 2 * parseFloat(style.paddingLeft) - arrow;
  return pen.measureText(text).width > room ? [text] : [];
})`;

describe('Fields', () => {
  it.each([
    ['/console#/users', []],
    [`/console#/audit?since=${timeBefore(2)}`, ['More filters']],
  ] as const)('show their hints and what is chosen in full: %s', async (place, buttons) => {
    const page = await openScreen(place);
    for (const name of buttons) await press(name)(page);
    for (const width of [1280, 1024, 768, 390, 320]) {
      await page.setViewportSize({ width, height: 800 });
      await page.evaluate(drawn);

      expect([width, await page.evaluate(cut)]).toEqual([width, []]);
    }
  });
});

describe('The list of users', () => {
  it.each([1440, 1024, 768, 360])(
    'has the search as its widest control, in a window %i pixels wide',
    async (width) => {
      const page = await openScreen('/console#/users');
      await page.setViewportSize({ width, height: 900 });
      await page.evaluate(drawn);
      const controls = await page.locator('search :is(input, select)').all();
      const widths = await Promise.all(
        controls.map(async (each) => (await each.boundingBox())?.width ?? 0),
      );

      const [search = 0, ...others] = widths;
      expect(others).toHaveLength(4);
      expect(search).toBeGreaterThan(Math.max(...others));
    },
  );
});

describe('The trail', () => {
  it('has its search, its frequent filters and their buttons in one line, in a window 768 pixels wide', async () => {
    const page = await openScreen('/console#/audit');
    await page.setViewportSize({ width: 768, height: 900 });
    await page.evaluate(drawn);
    const controls = await page.locator('search :is(input, select, button)').all();
    const boxes = await Promise.all(controls.map((each) => each.boundingBox()));
    const ends = boxes.map((box) => box && Math.round(box.y + box.height));

    expect(controls).toHaveLength(6);
    expect(ends).toEqual(Array(6).fill(expect.any(Number)));
    expect(new Set(ends).size).toBe(1);
  });

  it.each([
    ['audit', 1440, true],
    ['audit', 768, false],
    ['user', 1440, false],
  ] as const)(
    'has an agent of one word behind each source, where there is room: %s, %i pixels wide: %s',
    async (name, width, isShown) => {
      const page = await openScreen(screens[name]?.[0] ?? '');
      await page.setViewportSize({ width, height: 900 });
      await page.evaluate(drawn);

      const sources = await page.locator('tbody .source').allInnerTexts();

      expect(sources[0]).toBe(isShown ? '192.0.2.17 Firefox' : '192.0.2.17');
    },
  );

  /** Runs in the page: where the first entry begins, and how high the highest one is, in lines of text. */
  const lines = `(() => {
    const rows = [...document.querySelectorAll('.lines tbody tr')].map((row) => row.getBoundingClientRect());
    const line = parseFloat(getComputedStyle(document.body).lineHeight);
    return { first: rows[0].top, highest: Math.max(...rows.map(({ height }) => height)) / line };
  })()`;

  it.each([
    ['audit-attack', 1440, 2],
    ['audit-attack', 768, 3],
    ['audit-attack', 360, 5],
    ['audit', 1440, 5],
    ['audit', 768, 6],
    ['audit', 360, 8],
    // It has half of the width.
    ['user', 1440, 7],
    ['user', 360, 7],
  ] as const)(
    'has few lines for each entry: %s, in a window %i pixels wide, fewer than %i',
    async (name, width, most) => {
      const page = await openScreen(screens[name]?.[0] ?? '');
      await page.setViewportSize({ width, height: 900 });
      await page.evaluate(drawn);

      const { first, highest } = (await page.evaluate(lines)) as Record<string, number>;

      expect(highest).toBeLessThan(most);
      if (width === 1440 && name !== 'user') expect(first).toBeLessThan(450);
    },
  );
});

describe('A long dialog', () => {
  it('keeps its title and the button that closes it in sight', async () => {
    const page = await openScreen('/console#/audit');
    await page.setViewportSize({ width: 768, height: 500 });
    await page.locator('tbody button').first().click();
    const dialog = page.getByRole('dialog');

    await dialog.getByText('The whole entry').scrollIntoViewIfNeeded();

    const [scrolled, top] = (await page.evaluate(`(() => {
      const dialog = document.querySelector('dialog');
      const [outer, inner] = [dialog, dialog.querySelector('header')].map((each) => each.getBoundingClientRect());
      return [dialog.scrollTop, inner.top - outer.top];
    })()`)) as readonly [number, number];
    expect(scrolled).toBeGreaterThan(50);
    expect(top).toBeLessThan(2);
  });
});

describe('The console', () => {
  it('shows the trail, each entry and the user whom it names, whatever an entry holds', async () => {
    const page = await openScreen('/console#/audit?userId=666');
    const rows = page.locator('tbody tr');

    await expect.poll(() => rows.count()).toBe(junk.length);
    for (const button of await rows.getByRole('button').all()) {
      await button.click();
      await page.getByRole('dialog').getByText('The whole entry').waitFor();
      await page.keyboard.press('Escape');
    }
    await page.goto(`${service.url}/console#/users/666`);

    await expect.poll(() => rows.count()).toBe(1 + 1 + 10);
  });

  it('says that a screen has failed, and shows the others', async () => {
    const page = await openScreen('/console#/users?order=desc');

    await page.getByText('This screen has failed.').waitFor();
    await page.getByRole('link', { name: 'Audit' }).click();

    await expect.poll(() => page.locator('tbody tr').count()).toBe(entries.length);
  });
});
