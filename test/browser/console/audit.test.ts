import { readFileSync } from 'node:fs';
import type { Page, Request } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { serviceForThisFile } from '../../support/acceptance.ts';
import { logIn, register } from '../../support/client.ts';
import { browserForThisFile } from '../browser.ts';
import { listedEntry, openConsole } from '../console.ts';
import { drawn, violationsIn } from '../page.ts';

const service = await serviceForThisFile();
const { api, adminToken: token } = service;
const browser = await browserForThisFile();

const open = (place: string) => openConsole(browser, service, place);

const rowsOf = (page: Page) => page.locator('main tbody tr');

const chipsOf = (page: Page) =>
  page.getByRole('group', { name: 'Chosen filters' }).getByRole('button');

/** Logs in a number of times. @returns the user */
const withLogins = async (count: number, name = 'Ada') => {
  const user = await register(api, { name });
  for (let made = 0; made < count; made += 1) await logIn(api, user);
  return user;
};

const script = '<img src=x onerror=alert(1)>';

/** Runs in the page: the elements of a user in a row that are not completely visible, or not after the name. */
const imitated = `(id) => {
  const person = document.querySelector('tbody [data-user="' + id + '"]');
  const cell = person.closest('td').getBoundingClientRect();
  const name = person.querySelector('bdi')?.getBoundingClientRect();
  return [...person.querySelectorAll('.id, .badge')].filter((element) => {
    const box = element.getBoundingClientRect();
    const isWithin = box.left >= cell.left && box.right <= cell.right && box.top >= cell.top && box.bottom <= cell.bottom;
    const isBehind = !name || box.left >= name.right - 1 || box.top >= name.bottom - 1;
    return !isWithin || !isBehind || box.width === 0;
  }).map((element) => element.outerHTML);
}`;

describe('The screen of the audit trail', () => {
  it('keeps its filters in the address, so that a colleague who opens the address sees the same', async () => {
    const user = await withLogins(2);
    await api('POST', '/api/login', { json: { email: user.email, password: 'wrong' } });
    const { page, complaints } = await open('#/audit');

    await page.getByLabel('Person').fill(user.email);
    await page.keyboard.press('Enter');
    await page.getByLabel('Result').selectOption('Failure');
    const time = page.getByLabel('Time', { exact: true });
    await time.selectOption('Today');
    await page.waitForURL(/since=/);
    const midnight = new URLSearchParams(new URL(page.url()).hash.split('?')[1]).get('since');
    expect(new Date(midnight ?? '').getUTCMinutes()).toBe(0);
    expect(await time.locator('option:checked').innerText()).toBe('Today');
    await time.selectOption('Last hour');
    await page.waitForURL((url) => !url.href.includes(encodeURIComponent(String(midnight))));
    expect(await time.locator('option:checked').innerText()).toBe('Chosen');
    await expect.poll(() => rowsOf(page).count()).toBe(1);
    const { hash } = new URL(page.url());
    const colleague = await open(hash);

    expect(Object.fromEntries(new URLSearchParams(hash.split('?')[1]))).toEqual({
      about: String(user.id),
      result: 'FAILURE',
      since: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.000Z$/),
    });
    await expect.poll(() => rowsOf(colleague.page).count()).toBe(1);
    expect(await chipsOf(colleague.page).allTextContents()).toEqual([
      expect.stringContaining(`Remove filter Person Ada #${user.id}`),
      expect.stringContaining('Remove filter Result Failure'),
      expect.stringContaining('Remove filter Since '),
    ]);
    expect(await violationsIn(page)).toEqual([]);
    // To today, and from there to any time.
    await page.goBack();
    await page.goBack();
    await expect.poll(() => time.inputValue()).toBe('');
    expect(complaints).toEqual([]);
  });

  it('takes a time that is typed while today is chosen', async () => {
    const { page } = await open('#/audit');
    const time = page.getByLabel('Time', { exact: true });
    await time.selectOption('Today');
    await page.waitForURL(/since=/);

    await page.getByRole('button', { name: 'More filters' }).click();
    await page.getByLabel('Since', { exact: true }).fill('2026-01-02T03:04');
    await page.getByRole('button', { name: 'Search' }).click();

    await page.waitForURL(/since=2026-01-0/);
    expect(await time.locator('option:checked').innerText()).toBe('Chosen');
  });

  it('takes a person by keyboard, and removes each chosen filter, which leaves the focus in its place', async () => {
    const user = await withLogins(1);
    const { page } = await open('#/audit?action=LOGIN&result=SUCCESS');
    const focused = () => page.evaluate('document.activeElement.textContent');

    await page.keyboard.press('/');
    await page.keyboard.type(user.email);
    await page.keyboard.press('Enter');
    await page.waitForURL(`**/console#/audit?action=LOGIN&result=SUCCESS&about=${user.id}`);
    const chips = await chipsOf(page).allTextContents();
    await page.getByRole('button', { name: 'Remove filter Action LOGIN' }).focus();
    await page.keyboard.press('Enter');
    await page.waitForURL(`**/console#/audit?result=SUCCESS&about=${user.id}`);
    await expect.poll(() => chipsOf(page).count()).toBe(2);
    expect(await focused()).toContain('Result Success');
    await page.keyboard.press('Enter');
    await page.waitForURL(`**/console#/audit?about=${user.id}`);
    await expect.poll(() => chipsOf(page).count()).toBe(1);
    expect(await focused()).toContain('Person Ada');
    await page.keyboard.press('Enter');
    await page.waitForURL('**/console#/audit');

    expect(chips).toHaveLength(3);
    expect(await page.evaluate('document.activeElement.type')).toBe('search');
  });

  it('names a filter that the service refuses by the label of its field', async () => {
    const { page } = await open('#/audit?ipAddress=home');

    const refusal = await page.getByRole('alert').locator('p').innerText();

    expect(refusal).toBe('The entries could not be loaded. Source must be an IP address.');
  });

  it('requests the name of each visible user once, six at a time, and shows text as text', async () => {
    const users: { id: number }[] = [];
    for (let made = 0; made < 8; made += 1) users.push(await withLogins(2, `${script} ${made}`));
    const gone = await withLogins(0);
    await api('DELETE', `/api/users/${gone.id}`, { token });
    const { page } = await open('#/users');
    const asked: string[] = [];
    const underWay = new Set<Request>();
    let most = 0;
    page.on('request', (request) => {
      if (!/users\/\d+$/.test(request.url())) return;
      asked.push(request.url());
      underWay.add(request);
      most = Math.max(most, underWay.size);
    });
    page.on('requestfinished', (request) => underWay.delete(request));
    await page.setViewportSize({ width: 1280, height: 2400 });

    await page.getByRole('link', { name: 'Audit' }).click();
    await rowsOf(page).getByText(`#${gone.id} Deleted`).first().waitFor();
    for (const index of users.keys()) await page.getByText(`${script} ${index}`).first().waitFor();

    expect(asked).toHaveLength(new Set(asked).size);
    expect(most).toBeLessThanOrEqual(6);
  });

  it('shows each person by name, id and badges; no name can imitate or hide the id and the badges', async () => {
    const forged = 'Administrator #1 Admin';
    const hostile = [
      forged,
      'Ada Lovelace (deleted)',
      'W'.repeat(100),
      '\u202eRight to left\u2069\u202e',
      `Z${'\u0301\u0489'.repeat(49)}`,
    ];
    const users: { id: number }[] = [];
    for (const name of hostile) users.push(await withLogins(0, name));
    const badges: Record<number, string> = {};
    const promoted = await withLogins(0, 'Grace');
    await api('PUT', `/api/users/${promoted.id}`, { token, json: { role: 'admin' } });
    badges[promoted.id] = 'Admin';
    const gone = await withLogins(0, 'Ada Lovelace');
    await api('DELETE', `/api/users/${gone.id}`, { token });
    badges[gone.id] = 'Deleted';
    const all = [...users, promoted, gone];
    const { page } = await open(`#/audit?action=CREATE`);
    await page.setViewportSize({ width: 1280, height: 2400 });

    for (const { id } of all) {
      const person = rowsOf(page).locator(`[data-user="${id}"]`).first();
      const badge = badges[id];
      if (badge) await person.locator('.badge', { hasText: badge }).waitFor();
      else await person.locator('bdi').waitFor();
      expect(await person.locator('.id').innerText()).toBe(`#${id}`);
      expect(await person.locator('.badge').allInnerTexts()).toEqual(badge ? [badge] : []);
      expect(await page.evaluate(`(${imitated})(${id})`)).toEqual([]);
    }

    await expect.poll(() => page.evaluate('document.documentElement.scrollWidth')).toBe(1280);
    await page.goto(`${service.url}/console#/users/${users[1]?.id}`);
    const heading = page.getByRole('heading', { level: 1 });
    await heading.getByText(`#${users[1]?.id}`).waitFor();
    expect(await heading.locator('.badge').count()).toBe(0);
    await page.goto(`${service.url}/console#/users/${promoted.id}`);
    await heading.locator('.badge', { hasText: 'Admin' }).waitFor();
    expect(await violationsIn(page)).toEqual([]);
  });

  it.each([360, 1280])(
    'opens an entry by a click anywhere in its row, in a window %i pixels wide',
    async (width) => {
      const user = await withLogins(1, 'A name that takes all the room of the middle of a row');
      const { page } = await open(`#/audit?userId=${user.id}&action=LOGIN`);
      await page.setViewportSize({ width, height: 800 });
      await rowsOf(page).getByText('A name').first().waitFor();
      // A row that has become a card has another width.
      await page.evaluate(drawn);

      for (const x of [0.05, 0.3, 0.5, 0.7, 0.95]) {
        const { height, width } = (await rowsOf(page).boundingBox()) ?? { height: 0, width: 0 };
        await rowsOf(page).click({ position: { x: x * width, y: height / 2 } });
        await page.getByRole('dialog').waitFor();
        await page.keyboard.press('Escape');
      }

      expect(new URL(page.url()).hash).toBe(`#/audit?userId=${user.id}&action=LOGIN`);
    },
  );

  it('shows every field of an entry, and leads to all entries of its user, by keyboard alone', async () => {
    const user = await withLogins(1);
    const { page, complaints } = await open(`#/audit?userId=${user.id}&action=LOGIN`);

    await rowsOf(page).getByRole('button').focus();
    await page.keyboard.press('Enter');
    await page.getByRole('dialog').waitFor();
    const fields = await page.getByRole('dialog').locator('dt').allInnerTexts();
    const violations = await violationsIn(page);
    await page.keyboard.press('Escape');
    const focused = await page.evaluate('document.activeElement.closest("tbody") !== null');
    await page.keyboard.press('Enter');
    await page.getByRole('link', { name: 'All that this user did' }).click();
    await expect.poll(() => rowsOf(page).count()).toBe(2);

    expect(fields).toEqual(Object.keys(listedEntry(0, '')));
    expect([violations, complaints, focused]).toEqual([[], [], true]);
  });

  it('narrows its time to the time of a bar that is clicked', async () => {
    const user = await withLogins(2);
    const { page } = await open(`#/audit?userId=${user.id}`);

    const bar = page.getByRole('toolbar').getByRole('button').last();
    const [, count] = /: (\d+) entr/.exec((await bar.getAttribute('aria-label')) ?? '') ?? [];
    const ends = page.locator('figure time');
    const [first = '', last = ''] = await ends.evaluateAll((times) =>
      times.map((time) => time.getAttribute('datetime')),
    );
    expect(Date.parse(last) - Date.parse(first)).toBeGreaterThan(0);
    await bar.click();
    await page.waitForURL(/since=.*until=/);

    await expect.poll(() => rowsOf(page).count()).toBe(Number(count));
  });

  it('adds new entries while it follows the trail, but not while the pointer is on an entry', async () => {
    const user = await withLogins(1);
    const { page } = await open(`#/audit?userId=${user.id}`);
    await page.getByRole('button', { name: 'Follow' }).click();
    await page.getByRole('status').getByText('Following: looks for new entries').waitFor();
    await page.getByRole('button', { name: 'Stop following' }).waitFor();
    await rowsOf(page).first().waitFor();

    await logIn(api, user);
    await expect.poll(() => rowsOf(page).count()).toBe(3);
    await rowsOf(page).first().hover();
    await logIn(api, user);
    await page.getByRole('button', { name: 'Show 1 new entry' }).waitFor();
    const held = await rowsOf(page).count();
    await page.getByRole('button', { name: 'Show 1 new entry' }).click();

    expect(held).toBe(3);
    await expect.poll(() => rowsOf(page).count()).toBe(4);
  });

  it('exports all pages of a query as one file, and goes on after a failure', async () => {
    const user = await withLogins(4);
    const { page } = await open(`#/audit?userId=${user.id}`);
    // Pages of two entries, the second of which fails at first.
    let requests = 0;
    await page.route('**/audit-logs?*', (route) => {
      if (!route.request().headers().accept?.startsWith('text/csv')) return route.continue();
      requests += 1;
      if (requests === 2) return route.abort();
      const asked = new URL(route.request().url());
      asked.searchParams.set('limit', '2');
      return route.continue({ url: asked.href });
    });

    await page.getByRole('button', { name: 'Export', exact: true }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Export' }).click();
    await page.getByText('A page could not be loaded.').waitFor();
    await page.getByText('1 page so far').waitFor();
    const violations = await violationsIn(page);
    const download = page.waitForEvent('download');
    await page.getByRole('button', { name: 'Go on' }).click();
    const lines = readFileSync(await (await download).path(), 'utf8').split('\r\n');

    expect(violations).toEqual([]);
    expect(lines[0]).toMatch(/^id,user_id,/);
    expect(lines.slice(1, -1).map((line) => line.split(',').slice(1, 3))).toEqual([
      ...Array.from({ length: 4 }, () => [String(user.id), 'LOGIN']),
      [String(user.id), 'CREATE'],
    ]);
  });

  it('shows on a user’s page what the user did, what was done to the user, and what changed', async () => {
    const user = await withLogins(1);
    await api('PUT', `/api/users/${user.id}`, { token, json: { role: 'admin' } });
    const { page } = await open(`#/users/${user.id}`);

    await rowsOf(page).getByText('role: user → admin').waitFor();
    await page.getByRole('button', { name: /UPDATE role: user → admin by #1$/ }).waitFor();
    expect(await violationsIn(page)).toEqual([]);
    await page.getByRole('link', { name: 'All 3 entries' }).click();

    await page.waitForURL(`**/console#/audit?about=${user.id}`);
    await expect.poll(() => rowsOf(page).count()).toBe(3);
    await page.getByRole('button', { name: 'More filters' }).click();
    await page.getByLabel('Who did it').fill('1');
    await page.keyboard.press('Enter');
    await page.waitForURL('**/console#/audit?userId=1');
  });

  it('says on a user’s page until when logins are refused', async () => {
    const { id } = await withLogins(0);
    const { page } = await open('#/account');
    const until = new Date(Date.now() + 3_600_000).toISOString();
    const failure = {
      ...listedEntry(2, new Date().toISOString()),
      user_id: id,
      resource_id: String(id),
      result: 'FAILURE',
      details: JSON.stringify({ reason: 'wrong_password', waits_until: until }),
    };
    const login = { ...listedEntry(3, failure.created_at), resource_id: String(id) };
    let data: readonly object[] = [failure];
    await page.route('**/api/admin/audit-logs*', (route) => route.fulfill({ json: { data } }));
    const said = page.getByText('The last failed login began a wait');

    await page.evaluate(`location.hash = '#/users/${id}'`);
    await said.waitFor();
    expect(await said.locator('time').getAttribute('datetime')).toBe(until);
    await rowsOf(page).getByText('wrong password, a wait begins, until').waitFor();
    data = [login, failure];
    await page.reload();
    await rowsOf(page).nth(1).waitFor();
    expect(await said.count()).toBe(0);
    const over = new Date(Date.now() - 1_000).toISOString();
    data = [{ ...failure, details: JSON.stringify({ waits_until: over }) }];
    await page.reload();
    const ended = page.getByText(/^The last wait of logins ended at .*\d\d:\d\d [AP]M\.$/);
    await ended.waitFor();

    expect(await ended.locator('time').getAttribute('datetime')).toBe(over);
    expect(await said.count()).toBe(0);
  });

  it('counts entries by a value that they share, and narrows the query to a group', async () => {
    const user = await withLogins(3);
    for (let made = 0; made < 2; made += 1) {
      await api('POST', '/api/login', { json: { email: user.email, password: 'wrong' } });
    }
    const { page, complaints } = await open(`#/audit?about=${user.id}`);

    await page.getByLabel('Group by').selectOption('Action');
    const groups = rowsOf(page);
    await expect
      .poll(() => groups.allInnerTexts())
      .toEqual([
        expect.stringMatching(/^LOGIN\s+5\s+2\s/),
        expect.stringMatching(/^CREATE\s+1\s+0\s/),
      ]);
    expect(await violationsIn(page)).toEqual([]);
    await page.getByLabel('Group by').selectOption('Reason');
    await groups.getByRole('button', { name: 'wrong password' }).click();
    const reason = page.getByRole('button', { name: 'Remove filter Reason wrong password' });
    await reason.waitFor();
    await expect.poll(() => rowsOf(page).count()).toBe(2);
    await reason.click();
    await expect.poll(() => rowsOf(page).count()).toBe(6);
    await page.getByLabel('Group by').selectOption('Who');
    await groups.getByRole('button').click();

    await page.waitForURL(new RegExp(`/console#/audit\\?userId=${user.id}&until=[^&]+$`));
    expect(complaints).toEqual([]);
  });

  it('counts namesakes apart by their ids, and narrows the query also to entries without a user', async () => {
    const since = new Date(Date.now() - 1000).toISOString();
    const namesakes = [await withLogins(1, 'Namesake'), await withLogins(2, 'Namesake')];
    const nobody = { email: 'nobody@example.org', password: 'wrong' };
    await api('POST', '/api/login', { json: nobody });
    const { page } = await open(`#/audit?action=LOGIN&group=userId&since=${since}`);
    const groups = rowsOf(page);

    for (const [index, { id }] of namesakes.entries()) {
      const group = groups.filter({ hasText: `#${id}` });
      await group.getByText('Namesake').waitFor();
      expect(await group.innerText()).toMatch(new RegExp(`^Namesake #${id}\\s+${index + 1}\\s`));
    }
    await groups.getByRole('button', { name: 'none' }).click();
    await page.getByRole('button', { name: 'Remove filter Who did it none' }).waitFor();
    await expect.poll(() => groups.count()).toBe(1);
    expect(await groups.innerText()).toContain('unknown email');
    await page.getByRole('button', { name: 'Remove filter Who did it none' }).click();
    await expect.poll(() => groups.count()).toBeGreaterThan(3);
  });
});
