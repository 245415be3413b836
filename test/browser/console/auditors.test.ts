import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { serviceForThisFile } from '../../support/acceptance.ts';
import { register } from '../../support/client.ts';
import { appoint, promote } from '../../support/examples.ts';
import { enrol } from '../../support/second-factor.ts';
import { browserForThisFile } from '../browser.ts';
import { openConsole, signIn } from '../console.ts';
import { button, openPage, title, violationsIn } from '../page.ts';

const service = await serviceForThisFile({ SESSION_DAYS: '90', SECOND_FACTOR: 'optional' });
const strict = await serviceForThisFile({ SESSION_DAYS: '90', SECOND_FACTOR: 'admins' });
const { api, url, adminToken } = service;
const browser = await browserForThisFile();

/** The names of the buttons and boxes of the screen, except those that only copy what is shown. */
const controls = async (page: Page): Promise<readonly string[]> => {
  const names = await page
    .locator('main')
    .locator('button, input[type=checkbox]')
    .evaluateAll((all) =>
      all.map((each) => each.getAttribute('aria-label') ?? each.textContent ?? ''),
    );
  return [...new Set(names)].filter((name) => !/^Copy/.test(name));
};

describe('An admin', () => {
  it('makes a user an auditor, and revokes that', async () => {
    const user = await register(api);
    const { page, complaints } = await openConsole(browser, service, `#/users/${user.id}`);

    await button(page, 'Make an auditor').click();
    await page.getByText('to read the whole audit trail').waitFor();
    expect(await violationsIn(page)).toEqual([]);
    await button(page.getByRole('dialog'), 'Make an auditor').click();
    await title(page, `#${user.id} Auditor`).waitFor();
    expect((await api('GET', '/api/admin/audit-logs', { token: user.token })).status).toBe(200);
    await button(page, 'End it').click();
    await button(page.getByRole('dialog'), 'End the auditor’s rights').click();
    await button(page, 'Make an auditor').waitFor();

    expect((await api('GET', '/api/admin/audit-logs', { token: user.token })).status).toBe(403);
    expect(complaints).toEqual([]);
  });
});

describe('An auditor', () => {
  it('finds users, sees each user, reads the trail, and can do nothing else', async () => {
    const auditor = await appoint(api, adminToken, await register(api));
    const user = await promote(api, adminToken, await register(api));
    const open = { url, admin: auditor };
    const { page, complaints } = await openConsole(browser, open, '#/users');

    await page.getByLabel('Find users').fill(user.email);
    await page.getByRole('link', { name: `#${user.id}` }).waitFor();
    expect(await controls(page)).toEqual(['Not seen for 90 days']);
    expect(await violationsIn(page)).toEqual([]);
    await page.getByRole('link', { name: `#${user.id}` }).click();
    await page.getByText('May do all that the API offers.').waitFor();
    await page.getByText('There is none.').waitFor();
    await page.getByText('role: user → admin').waitFor();
    expect((await controls(page)).filter((name) => !/^\d|UTC|:/.test(name))).toEqual([]);
    expect(await page.getByRole('heading', { name: 'Sessions' }).count()).toBe(0);
    expect(await page.getByRole('textbox').count()).toBe(0);
    expect(await violationsIn(page)).toEqual([]);
    await page.getByRole('link', { name: /^All \d+ entries$/ }).click();
    await button(page, 'Export').waitFor();
    await page.getByText('role: user → admin').waitFor();

    await page.getByRole('link', { name: 'My account' }).click();
    await page.getByLabel('Name', { exact: true }).fill('Renamed');
    await button(page, 'Save the changes').click();
    await page.getByText('The changes are saved.').waitFor();
    await page.getByText('This one').waitFor();
    expect(complaints).toEqual([]);
  });

  it('requests ordinary checks of the seal, but no whole one, whose progress it sees', async () => {
    const auditor = await appoint(api, adminToken, await register(api));
    const { page } = await openConsole(browser, { url, admin: auditor }, '#/users');
    const days = { table: 0, lock: 0, archive: 0 };
    const whole = { asked_at: '2026-01-01T00:00:00.000Z', checked: 2, of: 4, ended_at: null };
    const seal = { key: 'a', interval: 300, newest: null, behind: null, check: null, days, whole };
    await page.route('**/api/admin/audit-seal', (route) => route.fulfill({ json: seal }));
    await page.evaluate("location.hash = '#/seal'");

    await page.getByText('2 of 4 files; ends about').waitFor();
    expect(await controls(page)).toEqual(['Check now']);
  });

  it('without the second factor that admins need is told so, and led to the form that sets it up', async () => {
    await enrol(strict.api, { ...strict.admin, token: strict.adminToken });
    const auditor = await register(strict.api);
    await appoint(strict.api, strict.adminToken, auditor);
    const { page } = await openConsole(browser, { url: strict.url, admin: auditor });

    await title(page, 'My account').waitFor();
    await button(page, 'Set up an app').waitFor();
    await page.getByRole('link', { name: 'Audit', exact: true }).click();
    await page
      .getByText(
        'Second factor required. You need one yourself: set it up in My account, or sign in with it.',
      )
      .waitFor();
  });

  it('is let in, but a user who is neither an admin nor an auditor is not', async () => {
    const user = await register(api);
    const { page } = await openPage(browser, `${url}/console`);

    await signIn(page, user);
    await page.getByText(`${user.email} is neither an admin nor an auditor`).waitFor();

    expect(await page.getByRole('navigation').count()).toBe(0);
  });
});
