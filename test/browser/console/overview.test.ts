import type { Locator } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { serviceForThisFile } from '../../support/acceptance.ts';
import { logIn, register, uniqueEmail } from '../../support/client.ts';
import { browserForThisFile } from '../browser.ts';
import { listedEntry, openConsole } from '../console.ts';
import { title, violationsIn } from '../page.ts';

const service = await serviceForThisFile();
const { api, adminToken: token } = service;
const browser = await browserForThisFile();

describe('The overview', () => {
  it('is the first screen, counts the last seven days by one query, and leads to its parts', async () => {
    const [ada, eve] = [await register(api, { name: 'Ada' }), await register(api, { name: 'Eve' })];
    await logIn(api, ada);
    await logIn(api, ada);
    for (const each of [ada, ada, eve]) {
      await api('POST', '/api/login', { json: { email: each.email, password: 'wrong' } });
    }
    await api('PUT', `/api/users/${eve.id}`, { token, json: { role: 'admin' } });
    const { page, complaints } = await openConsole(browser, service);
    const card = (name: string) => page.getByRole('region', { name, exact: true });

    await title(page, 'Overview').waitFor();
    await card('Registrations').getByText('2 in all').waitFor();
    await card('Failed logins').getByText('3 in all').waitFor();
    // The admin logs in twice: in the tests, and in the console.
    await card('Logins').getByText('2 users, last day').waitFor();
    await card('Most failed logins, by account').getByRole('button', { name: 'Ada' }).waitFor();
    const groups = card('Most failed logins, by account').locator('tbody tr');
    expect(
      (await groups.allInnerTexts()).map((text) =>
        /#(\d+)(?: Admin)?\s+(\d+)/.exec(text)?.slice(1),
      ),
    ).toEqual([
      [String(ada.id), '2'],
      [String(eve.id), '1'],
    ]);
    await page.getByText('role: user → admin').waitFor();
    await page.getByText('The trail is not sealed.').waitFor();
    const reads = (await api('GET', '/api/admin/audit-logs?action=EXPORT', { token })).body.data;
    expect(reads).toEqual([]);
    expect(await violationsIn(page)).toEqual([]);
    const bar = card('Failed logins').getByRole('toolbar').getByRole('button').last();
    // All three entries, unless a new quarter of a day began between them.
    const [, count] = /: (\d) entr/.exec((await bar.getAttribute('aria-label')) ?? '') ?? [];
    await bar.click();
    await page.waitForURL(/action=LOGIN&result=FAILURE&since=.+&until=/);

    await expect.poll(() => page.locator('main tbody tr').count()).toBe(Number(count));
    expect(complaints).toEqual([]);
  });

  it('opens by each number exactly the entries that it counts, although newer entries exist', async () => {
    const json = { name: 'Made', email: uniqueEmail(), password: 'a long password', role: 'user' };
    await api('POST', '/api/users', { token, json });
    const eve = await register(api);
    const goOn = async () => {
      await logIn(api, await register(api));
      await api('POST', '/api/login', { json: { email: eve.email, password: 'wrong' } });
    };
    await goOn();
    const { page } = await openConsole(browser, service);
    const counted = page.locator('main [role=status]').getByText(/^[\d,]+ entries$/);
    const card = (name: string) => page.getByRole('region', { name, exact: true });
    const all = (name: string) => card(name).getByRole('link', { name: 'in all' });
    const bar = (name: string) => card(name).getByRole('toolbar').getByRole('button').last();
    const account = card('Most failed logins, by account').locator('tbody tr').first();
    const users = card('Logins').getByRole('link', { name: 'last day' });
    const titleOf = async (each: Locator) => (await each.getAttribute('aria-label')) ?? '';
    /** Opens a number. @returns the number that was shown, and how many entries were found */
    const open = async (
      number: Locator,
      said: () => Promise<string>,
      found = /^\d+ entr(y|ies)$/,
    ) => {
      await counted.waitFor();
      const [, count] = /(\d+)(?:\s(?:entr|user)|$|\sin all)/.exec(await said()) ?? [];
      await goOn();
      await number.click();
      await title(page, 'Audit').waitFor();
      const shown = page.locator('main [role=status]').getByText(found);
      await shown.waitFor();
      const [, opened] = /(\d+)/.exec(await shown.innerText()) ?? [];
      await page.goBack();
      return [count, opened];
    };

    const opened = [
      await open(users, () => users.innerText(), /^\d+ groups?$/),
      await open(account.getByRole('button'), () => account.locator('td').last().innerText()),
    ];
    for (const name of ['Registrations', 'Logins', 'Failed logins']) {
      opened.push(await open(all(name), () => all(name).innerText()));
      opened.push(await open(bar(name), () => titleOf(bar(name))));
    }

    expect(opened.map(([, found]) => found)).toEqual(opened.map(([count]) => count));
    expect(opened.every(([count]) => Number(count) > 0)).toBe(true);
  });

  it('cuts each list at five, leads to all, and counts the waits of the sources that failed', async () => {
    const { page } = await openConsole(browser, service, '#/account');
    const failures = Array.from({ length: 7 }, (_, index) => ({
      result: 'FAILURE',
      ip_address: `203.0.113.${index}`,
      details: `{"reason":"wrong_password"${index ? '' : ',"waits_until":"2026-11-22T12:00:30.000Z"'}}`,
    }));
    const changes = Array.from({ length: 6 }, () => ({
      action: 'UPDATE',
      details: '{"role":{"from":"user","to":"admin"}}',
    }));
    const data = [...failures, ...changes].map((each, id) => ({
      ...listedEntry(id, new Date(Date.now() - 60_000 * (id + 1)).toISOString()),
      ...each,
    }));
    await page.route('**/api/admin/audit-logs*', (route) => route.fulfill({ json: { data } }));
    await page.getByRole('link', { name: 'Overview' }).click();
    const bySource = page.getByRole('region', { name: 'Most failed logins, by source' });
    const rights = page.getByRole('region', { name: 'New admins' });

    await bySource.getByRole('table', { name: 'Failed logins by source' }).waitFor();
    await bySource
      .getByText('In the last seven days 7 failed logins came from 7 sources, and 1 wait began.')
      .waitFor();
    expect(await bySource.locator('tbody tr').count()).toBe(5);
    expect(await rights.locator('tbody tr').count()).toBe(5);
    await rights.getByRole('button', { name: 'All 6' }).click();
    await expect.poll(() => rights.locator('tbody tr').count()).toBe(6);
    await rights.getByRole('button', { name: 'The first 5' }).click();
    await expect.poll(() => rights.locator('tbody tr').count()).toBe(5);
    expect(await violationsIn(page)).toEqual([]);

    await bySource.getByRole('link', { name: 'All 7' }).click();
    await title(page, 'Audit').waitFor();
    await page
      .getByText('In these entries 7 failed logins came from 7 sources, and 1 wait began.')
      .waitFor();
    await page.getByRole('button', { name: '203.0.113.6' }).click();
    await page.getByRole('toolbar', { name: 'By time' }).waitFor();
    await page
      .getByText('In these entries 7 failed logins came from 7 sources, and 1 wait began.')
      .waitFor();
  });

  it('draws entries as each page is read, up to 10,000 entries, and says from what time on it has them', async () => {
    const { page } = await openConsole(browser, service, '#/account');
    const asked: string[] = [];
    const { promise: held, resolve: goOn } = Promise.withResolvers<void>();
    await page.route('**/api/admin/audit-logs*', async (route) => {
      asked.push(route.request().url());
      if (asked.length === 3) await held;
      const data = Array.from({ length: 100 }, (_, index) => {
        const id = 1_000_000 - asked.length * 100 - index;
        return listedEntry(id, new Date(Date.now() - (1_000_000 - id) * 1000).toISOString());
      });
      await route.fulfill({
        json: { data },
        headers: { Link: '</api/admin/audit-logs?cursor=x>; rel="next"' },
      });
    });

    await page.getByRole('link', { name: 'Overview' }).click();
    await page.getByText('200 entries read so far…').waitFor();
    await page
      .getByRole('region', { name: 'Logins', exact: true })
      .getByText('200… in all')
      .waitFor();
    goOn();
    await page.getByText('10,000 entries, from').waitFor();
    await page.getByText('10,000 in all').waitFor();

    expect(asked).toHaveLength(100);
    expect(new URL(asked[0] ?? '').searchParams.has('since')).toBe(true);
  });
});

describe('The chart of the trail', () => {
  it('covers the whole query, which is read once and of which a hundred entries are listed at first', async () => {
    const { page } = await openConsole(browser, service, '#/account');
    const asked: string[] = [];
    await page.route('**/audit-logs*', (route) => {
      asked.push(route.request().url());
      const data = Array.from({ length: 75 }, (_, index) =>
        listedEntry(1000 - 75 * asked.length - index, '2026-11-22T10:00:00.000Z'),
      );
      const headers = { Link: '</api/admin/audit-logs?cursor=x>; rel="next"' };
      return route.fulfill({ json: { data }, ...(asked.length === 1 && { headers }) });
    });
    await page.setViewportSize({ width: 1280, height: 300 });

    await page.getByRole('link', { name: 'Audit' }).click();
    await page.locator('figcaption').getByText('150 entries', { exact: true }).waitFor();

    const rows = page.locator('main tbody tr');
    expect(await rows.count()).toBe(100);
    await page.getByRole('button', { name: 'Show more entries' }).focus();
    await page.keyboard.press('Enter');
    await expect.poll(() => rows.count()).toBe(150);
    const isFocused =
      "document.activeElement === document.querySelectorAll('main tbody button')[100]";
    await page.waitForFunction(isFocused);
    expect(asked).toHaveLength(2);
  });

  it('shows the values of a bar below it, under the pointer and by keyboard, on an axis of values', async () => {
    const { page } = await openConsole(browser, service, '#/account');
    const data = (['FAILURE', 'FAILURE', 'FAILURE', 'SUCCESS', 'SUCCESS', 'SUCCESS'] as const).map(
      (result, id) => ({
        ...listedEntry(id, `2026-11-${id < 4 ? 22 : 20}T10:00:00.000Z`),
        result,
      }),
    );
    await page.route('**/api/admin/audit-logs*', (route) => route.fulfill({ json: { data } }));
    await page.getByRole('link', { name: 'Audit' }).click();
    const bars = page.getByRole('toolbar').getByRole('button');
    const values = page.locator('.values strong');

    await bars.first().focus();
    await values.getByText('2 entries', { exact: true }).waitFor();
    const [dates, box] = [page.locator('.plot > .row'), page.locator('.values')];
    const [above, below] = [await dates.boundingBox(), await box.boundingBox()];
    expect(below?.y).toBeGreaterThanOrEqual((above?.y ?? 0) + (above?.height ?? Number.NaN));
    await page.keyboard.press('ArrowRight');
    await values.getByText('4 entries, 3 failures', { exact: true }).waitFor();
    await page.keyboard.press('Home');
    await values.getByText('2 entries', { exact: true }).waitFor();
    await page.keyboard.press('End');
    await values.getByText('4 entries, 3 failures', { exact: true }).waitFor();
    await page.keyboard.press('Escape');
    await values.waitFor({ state: 'detached' });
    await bars.first().hover();
    await values.getByText('2 entries', { exact: true }).waitFor();
    await page.getByRole('toolbar').locator('> :nth-child(2)').hover();
    await values.getByText('0 entries', { exact: true }).waitFor();
    expect(await violationsIn(page)).toEqual([]);
    const name = await page.getByRole('toolbar').getAttribute('aria-label');
    expect(name).toMatch(/^By time: 6 entries, 3 failures, most in Nov 22/);
    expect(await page.locator('.axis > span').allInnerTexts()).toEqual(['4', '2', '0']);
    const edges = `['.bars', 'main > :last-child'].map((each) => document.querySelector(each).getBoundingClientRect().right)`;
    const [chart, content] = (await page.evaluate(edges)) as readonly number[];
    expect(chart).toBe(content);
  });

  it('is one click away for questions that are asked often', async () => {
    const { page } = await openConsole(browser, service, '#/audit');

    await page.getByRole('button', { name: 'Failed logins, last hour' }).click();
    await page.waitForURL(/#\/audit\?action=LOGIN&result=FAILURE&since=/);
    await page.getByRole('link', { name: 'Clear all' }).click();
    await page.getByRole('button', { name: 'Exports, last week' }).click();

    await page.waitForURL(/#\/audit\?action=EXPORT&since=/);
  });
});
