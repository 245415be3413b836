import type { Page } from 'playwright-core';
import { expect, it } from 'vitest';
import { serviceForThisFile } from '../../support/acceptance.ts';
import { browserForThisFile } from '../browser.ts';
import { listedEntry, openConsole } from '../console.ts';
import { nodesIn } from '../page.ts';

const service = await serviceForThisFile();
const browser = await browserForThisFile();

/** The number of rows of a long list. */
const count = 1000;

const at = '2026-11-22T12:00:00.000Z';
const users = Array.from({ length: count }, (_, index) => ({
  id: index + 2,
  name: `User ${index}`,
  email: `${index}@example.org`,
  role: 'user',
  created_at: at,
}));
const entries = Array.from({ length: count }, (_, index) => listedEntry(index + 1, at));

/** Responds with a list in two pages. */
const list = (
  page: Page,
  path: string,
  bodyOf: (rows: readonly object[]) => object,
  rows: readonly object[],
) =>
  page.route(
    (url) => url.pathname === path,
    (route) => {
      const isLast = route.request().url().includes('cursor=');
      const half = isLast ? rows.slice(count / 2) : rows.slice(0, count / 2);
      const headers = isLast ? {} : { Link: `<${path}?cursor=x>; rel="next"` };
      return route.fulfill({ json: bodyOf(half), headers });
    },
  );

const goTo = async (page: Page, screen: string, rows: number) => {
  await page.getByRole('link', { name: screen, exact: true }).click();
  await page.getByRole('heading', { level: 1, name: screen }).waitFor();
  await expect
    .poll(async () => {
      await page.evaluate('scrollTo(0, document.body.scrollHeight)');
      return page.locator('main tbody tr').count();
    })
    .toBe(rows);
};

it.each(['Users', 'Audit'])(
  'The console keeps no node of the long list of the screen %s after the screen is left',
  async (screen) => {
    const { page } = await openConsole(browser, service, '#/account');
    await list(page, '/api/users', (data) => data, users);
    await list(page, '/api/admin/audit-logs', (data) => ({ data }), entries);
    const countNodes = await nodesIn(page);
    await page.getByLabel('Name', { exact: true }).waitFor();
    const nodes: Record<string, number> = { before: await countNodes() };
    for (const time of ['first', 'second', 'third']) {
      await goTo(page, screen, count);
      nodes[`${time} list`] = await countNodes();
      await goTo(page, 'My account', 0);
      await page.getByLabel('Name', { exact: true }).waitFor();
      nodes[time] = await countNodes();
    }

    const { before = 0, first = 0, third = 0 } = nodes;
    expect(nodes['first list']).toBeGreaterThan(20 * count);
    // Far fewer nodes than one for each row.
    expect(first - before).toBeLessThan(count / 10);
    expect(third - before).toBeLessThan(count / 10);
  },
);
