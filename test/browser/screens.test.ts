/**
 * Every screen with the same data at the same time. With SCREENS pictures are taken, so that the pictures
 * of two runs can be compared (test/README.md, Screenshots).
 */
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import type {
  AuditEntry,
  AuditSealSummary,
  Identity,
  Passkey,
  SessionOfUser,
  User,
  UserDetails,
} from '../../functions/console/web/contract.d.ts';
import { serviceForThisFile } from '../support/acceptance.ts';
import { folderForThisFile } from '../support/folder.ts';
import { mailSettings, verifyUrl } from '../support/mailbox.ts';
import { browserForThisFile } from './browser.ts';
import { drawn } from './page.ts';

const service = await serviceForThisFile({
  ...mailSettings,
  IDENTITY_PROVIDERS: '[{"issuer":"https://accounts.google.com","audiences":["app"]}]',
  SESSION_DAYS: '90',
  PASSKEYS: '{"rpId":"example.com","origins":["https://app.example.com"]}',
  SECOND_FACTOR: 'optional',
  EMAIL_VERIFICATION: 'on',
  VERIFY_URL: verifyUrl,
  DATA_DIR: folderForThisFile(),
});
const browser = await browserForThisFile();

const now = Date.UTC(2026, 10, 22, 12);
const hour = 3_600_000;
const timeBefore = (hours: number) => new Date(now - hours * hour).toISOString();

const user = (id: number, name: string, email: string, more: Partial<User> = {}): User => ({
  id,
  name,
  email,
  role: 'user',
  created_at: timeBefore(1000 - id),
  email_verified: true,
  ...more,
});

const admin = user(1, 'Ada King', 'ada.king@accounts.example.com', { role: 'admin' });
const users: readonly User[] = [
  admin,
  user(2, 'Grace Hopper', 'grace.hopper@accounts.example.com', {
    email_verified: false,
    pending_email: 'grace.hopper@another.example.com',
  }),
  user(3, 'Hubert Blaine Wolfeschlegelsteinhausenbergerdorff and a long line of others', 'h@b.co', {
    suspended_at: timeBefore(3),
  }),
  user(4, 'N'.repeat(100), 'somebody@accounts.example.com', { role: 'admin', auditor: true }),
  user(5, 'Bartholomew', `${'long.address.'.repeat(13)}@accounts.example.com`),
];

const identity = (id: string, more: Partial<Identity> = {}): Identity => ({
  id,
  issuer: 'https://accounts.google.com',
  email: 'grace@google.example.com',
  created_at: timeBefore(300),
  ...more,
});

const passkeys: readonly Passkey[] = ['Telephone', 'N'.repeat(100)].map((name, index) => ({
  id: name,
  name,
  created_at: timeBefore(300),
  last_used_at: index > 0 ? timeBefore(2) : null,
  backed_up: false,
  credential_id: name,
  rp_id: index > 0 ? 'old.example.com' : 'example.com',
}));

const details = (each: User): UserDetails => ({
  ...each,
  passkeys: each.id < 3 ? [...passkeys] : [],
  second_factor: { enabled: each.id < 3, recovery_codes_left: each.id < 3 ? 8 : 0 },
  identities:
    each.id < 3
      ? [identity('a'), identity('b', { issuer: `https://${'n'.repeat(60)}.example`, email: null })]
      : [],
});

const firefox = 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0';

const entry = (id: number, more: Partial<AuditEntry> = {}): AuditEntry => ({
  id: 4_611_686_018_427_000 + id,
  user_id: 2,
  action: 'LOGIN',
  resource: 'users',
  resource_id: '2',
  ip_address: '192.0.2.17',
  user_agent: firefox,
  result: 'SUCCESS',
  details: null,
  created_at: timeBefore(id * 7),
  ...more,
});

const entries: readonly AuditEntry[] = [
  entry(1, {
    action: 'UPDATE',
    user_id: 1,
    details: `{"fields":["name","role"],"name":{"from":"${'N'.repeat(100)}","to":"Grace Hopper"},"role":{"from":"admin","to":"user"}}`,
  }),
  entry(2, { result: 'FAILURE', details: '{"reason":"wrong_password"}' }),
  entry(3, { user_id: 3, resource_id: '4', action: 'DELETE' }),
  entry(4, { user_id: 5, ip_address: '2001:db8:85a3:8d3:1319:8a2e:370:7348' }),
  entry(5, { user_id: null, resource_id: null, ip_address: null, user_agent: null }),
  entry(6, {
    action: 'DELETE',
    user_id: 404,
    resource_id: '404',
    details: '{"name":"Alan Turing","email":"alan.turing@accounts.example.com","role":"user"}',
    user_agent: 'x'.repeat(300),
  }),
  entry(7, {
    action: 'EXPORT',
    details: '{"format":"csv","filter":{"action":"LOGIN","order":"desc"},"entries":812}',
    resource: 'audit-logs',
    resource_id: null,
  }),
];

const attacker = { ip_address: '203.0.113.66', user_agent: 'python-requests/2.32.3' };

/** What the newest entries are after an attack, which begins before them. */
const after: readonly Partial<AuditEntry>[] = [
  {
    user_id: 1,
    action: 'EXPORT',
    resource: 'audit-logs',
    resource_id: null,
    details: '{"format":"csv","entries":58}',
  },
  { user_id: 1, action: 'UPDATE', details: '{"suspended":true}' },
  { user_id: 1, resource_id: '1' },
  { ...attacker, details: null },
];

/** The trail after an attack of an hour, newest first. */
const attack: readonly AuditEntry[] = Array.from({ length: 90 }, (_, index) => {
  const created_at = timeBefore(index / 45);
  const isQuiet = index >= 62 && index % 3 > 0;
  const reasons = ['wrong_password', 'unknown_email', 'wrong_password","waits_until":"2026'];
  const user_id = index % 3 === 1 ? null : 2;
  const failure = {
    ...attacker,
    user_id,
    resource_id: user_id === null ? null : '2',
    result: 'FAILURE',
    details: `{"reason":"${reasons[index % 3]}"}`,
  } as const;
  const quiet = { user_id: 5, resource_id: '5' };
  return entry(index, { ...(after[index] ?? (isQuiet ? quiet : failure)), created_at });
});

/** Entries of which one field holds what the service never writes, as the API shows it. */
const junk: readonly object[] = Object.keys(entry(0)).flatMap((name, field) =>
  [null, 'not a time', '', 7].map((value, index) => ({
    ...entry(10 * field + index),
    [name]: value,
  })),
);

/** A time that is as long as one can be, in the language and the zone of the tests. */
const wideTime = (year: number) => `${year}-12-26T22:58:58.000Z`;

const session = (id: string, more: Partial<SessionOfUser> = {}): SessionOfUser => ({
  id,
  created_at: timeBefore(50),
  last_used_at: wideTime(2025),
  expires_at: wideTime(2026),
  ip_address: '192.0.2.17',
  user_agent: firefox,
  current: false,
  ...more,
});

const seal: AuditSealSummary = {
  key: '1f2e3d4c5b6a79881f2e3d4c5b6a79881f2e3d4c5b6a79881f2e3d4c5b6a7988',
  interval: 60,
  newest: { number: 7, at: timeBefore(0.1), until: timeBefore(0.05), count: 3 },
  behind: null,
  check: {
    at: timeBefore(0.2),
    until: timeBefore(0.22),
    entries: 4980,
    total: 5130,
    next: timeBefore(-0.6),
    recent: true,
    findings: 0,
    named: [],
    found: timeBefore(24 * 40),
  },
  days: { table: 90, lock: 2555, archive: 0 },
};

const list = (query: URLSearchParams): readonly object[] => {
  const [by, about] = [query.get('userId'), query.get('about')];
  if ([by, about].includes('666')) return junk;
  if (query.has('since') && by === null) return attack;
  return entries.filter(
    ({ user_id, resource_id }) =>
      (by === null || String(user_id) === by) &&
      (about === null || [String(user_id), resource_id].includes(about)),
  );
};

const findings: AuditSealSummary['check'] = seal.check && {
  ...seal.check,
  findings: 12,
  named: [
    { kind: 'changed', subject: String(entries[0]?.id), at: timeBefore(0.2) },
    { kind: 'deleted', subject: '115192872960001', at: timeBefore(20) },
    { kind: 'missing', subject: 'file 7 (9999999992.ndjson.gz)', at: timeBefore(0.2) },
    { kind: 'unsigned', subject: 'files 1000000000 to 2000000000', at: timeBefore(700) },
  ],
};

/** Lets the seal have findings. */
const withFindings = async (page: Page) => {
  await page.route('**/api/admin/audit-seal', (route) =>
    route.fulfill({ json: { ...seal, check: findings } }),
  );
  await page.reload();
  await page.getByRole('alert').waitFor();
};

/** The body of each response, by its path. */
const bodies: Readonly<Record<string, (query: URLSearchParams) => unknown>> = {
  '/api/users': (query) => (query.get('order') === 'desc' ? [null] : users),
  '/api/users/666': () => ({ ...admin, id: 666, created_at: 'not a time' }),
  '/api/users/666/sessions': () => ({ data: [session('a', { expires_at: 'not a time' })] }),
  '/api/admin/audit-logs': (query) => ({ data: list(query) }),
  '/api/admin/audit-seal': () => seal,
  '/api/admin/settings': () => ({
    data: [
      { name: 'accounts', value: 'private', default: 'open' },
      { name: 'sessionDays', value: 90, default: 0 },
      { name: 'mailFrom', value: `My App <${'n'.repeat(50)}@accounts.example.com>`, default: '' },
      { name: 'auditDetail', value: 'standard', default: 'standard' },
    ],
  }),
  '/api/second-factor': () => ({ enabled: true, recovery_codes_left: 8 }),
  '/api/identities': () => ({ data: details(admin).identities }),
  '/api/passkeys': () => ({ data: passkeys, user_handle: null, rp_id: 'example.com' }),
  ...Object.fromEntries(users.map((each) => [`/api/users/${each.id}`, () => details(each)])),
  ...Object.fromEntries(
    users.map(({ id }) => [
      `/api/users/${id}/sessions`,
      () => ({
        data: [session('a', { current: id === 1 }), session('b', { user_agent: 'app/1' })],
      }),
    ]),
  ),
};

const missing = { code: 'USER_NOT_FOUND', title: 'User not found', status: 404 };

const base64 = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url');
const iat = now / 1000;
const token = `.${base64({ ...admin, iat, exp: iat + 86_400 })}.`;

const press = (name: string) => async (page: Page) =>
  page.getByRole('button', { name, exact: true }).click();

/** Each screen: its place, and what is done there. */
const screens: Readonly<Record<string, readonly [string, ((page: Page) => Promise<unknown>)?]>> = {
  'sign-in': ['/console', press('Sign out')],
  users: ['/console#/users'],
  'users-none': ['/console#/users?q=nobody'],
  'users-selected': ['/console#/users', press('Select all 4 shown')],
  'users-delete': [
    '/console#/users',
    async (page) => {
      for (const name of ['Select all 4 shown', 'Delete', 'Delete 4 users'])
        await press(name)(page);
      await page.getByText('Who they are').click();
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
  audit: ['/console#/audit'],
  'audit-filtered': [`/console#/audit?userId=2&since=${timeBefore(100)}&order=asc`],
  'audit-registrations': ['/console#/audit?action=CREATE&only=registrations'],
  'audit-attack': [`/console#/audit?since=${timeBefore(2)}&until=${timeBefore(0)}`],
  overview: ['/console#/overview'],
  settings: ['/console#/settings'],
  'audit-groups': ['/console#/audit?group=userId'],
  'audit-reasons': ['/console#/audit?group=reason&result=FAILURE'],
  'audit-entry': ['/console#/audit', (page) => page.locator('tbody button').first().click()],
  'audit-export': ['/console#/audit', press('Export')],
  seal: ['/console#/seal'],
  'seal-findings': ['/console#/seal', withFindings],
  'audit-findings': ['/console#/audit', withFindings],
  'users-findings': ['/console#/users', withFindings],
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

/** Opens a place in a window so high that all names are seen, and so asked for. */
const openScreen = async (place: string): Promise<Page> => {
  const viewport = { width: 1280, height: 2400 };
  const context = await browser.newContext({
    viewport,
    reducedMotion: 'reduce',
    // Its times are the longest.
    locale: 'en-US',
    timezoneId: 'Europe/Berlin',
  });
  const page = await context.newPage();
  // Swagger UI waits by the clock, and shows no time.
  if (place !== '/docs') await page.clock.setFixedTime(now);
  await page.addInitScript(`sessionStorage.setItem('accounts-console-token', '${token}')`);
  await page.route('**/api/**', (route) => {
    const { pathname, searchParams } = new URL(route.request().url());
    const body = bodies[pathname];
    return route.fulfill({ status: body ? 200 : 404, json: body?.(searchParams) ?? missing });
  });
  await page.route('**/openapi.json', async (route) => {
    const response = await route.fetch();
    // The port is another one in each run.
    const body = (await response.text()).replaceAll(service.url, 'http://localhost');
    return route.fulfill({ response, body });
  });
  await page.goto(service.url + place);
  await page.waitForLoadState('networkidle');
  return page;
};

/** Within the page: what is broken, runs into its neighbour or reaches out of the window. */
const misplaced = `(() => {
  const all = (selector) => [...document.querySelectorAll(selector)];
  const columns = innerWidth / parseFloat(getComputedStyle(document.documentElement).fontSize);
  const box = (element) => element.getBoundingClientRect();
  const isOnLines = (element) => {
    const range = document.createRange();
    range.selectNodeContents(element);
    return new Set([...range.getClientRects()].map(({ bottom }) => Math.round(bottom / 4))).size > 1;
  };
  const beside = (first) => box(first.nextElementSibling).left >= box(first).right && box(first.nextElementSibling).top < box(first).bottom;
  const found = {
    broken: all(['.badge', ...(columns > 20 ? ['td time'] : []), ...(columns > 33 ? ['.whole:not(.trail .whole)', 'figure time'] : [])].join())
      .filter((element) => element.innerText.length < 50 && isOnLines(element)),
    'not beside its name': all('dl dt').filter((dt) => !beside(dt)),
    'not beside the title': all('dialog h2').filter((title) => !beside(title)),
    outside: document.documentElement.scrollWidth > innerWidth
      ? all('body *').filter((element) => box(element).right > innerWidth + 1).slice(0, 9)
      : [],
  };
  return Object.entries(found).flatMap(([what, elements]) =>
    elements.map(({ outerHTML }) => what + ': ' + outerHTML.slice(0, 120)));
})()`;

/** In the last one, text has twice its size. */
const looks = [
  { width: 1280, colorScheme: 'light', fontSize: '' },
  { width: 1280, colorScheme: 'dark', fontSize: '' },
  { width: 768, colorScheme: 'light', fontSize: '' },
  { width: 360, colorScheme: 'dark', fontSize: '' },
  { width: 360, colorScheme: 'light', fontSize: '187.5%' },
] as const;

/** Pixels of the highest picture that Chromium takes. */
const highest = 16_000;

const takePicture = async (page: Page, name: string, width: number): Promise<void> => {
  const path = join('.reports/screens', process.env.SCREENS ?? '', `${name}.png`);
  const [, scheme] = /^audit-attack-1280-(\w+)$/.exec(name) ?? [];
  // The pictures of README.md.
  if (scheme) await page.screenshot({ path: `.github/images/console-${scheme}.png` });
  const height = Number(await page.evaluate('document.documentElement.scrollHeight'));
  const clip = { x: 0, y: 0, width, height: Math.min(height, highest) };
  await page.screenshot({ path, fullPage: true, clip, animations: 'disabled' });
};

describe('Nothing is broken or out of its place', () => {
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

describe('No screen scrolls sideways', () => {
  it.each(['users', 'user', 'audit', 'audit-groups', 'overview', 'settings', 'seal', 'account'])(
    'whatever the width of the window: %s',
    async (name) => {
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
    },
  );
});

describe('Nothing that the API answers stops the console', () => {
  it('which shows the trail, each entry and the user whom it names, whatever an entry holds', async () => {
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

  it('which says that a screen has failed, and shows the others', async () => {
    const page = await openScreen('/console#/users?order=desc');

    await page.getByText('This screen has failed.').waitFor();
    await page.getByRole('link', { name: 'Audit' }).click();

    await expect.poll(() => page.locator('tbody tr').count()).toBe(entries.length);
  });
});
