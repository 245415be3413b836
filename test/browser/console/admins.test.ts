import type { Page } from 'playwright-core';
import { expect, it } from 'vitest';
import { serviceForThisFile } from '../../support/acceptance.ts';
import { passkeySettings, rpId } from '../../support/passkeys.ts';
import { browserForThisFile } from '../browser.ts';
import { openConsole } from '../console.ts';
import { violationsIn } from '../page.ts';

const service = await serviceForThisFile({ ...passkeySettings, SECOND_FACTOR: 'optional' });
const browser = await browserForThisFile();

const admin = (id: number, more: object) => ({
  id,
  name: `Admin ${id}`,
  email: `${id}@example.com`,
  role: 'admin',
  created_at: '2026-11-22T12:00:00.000Z',
  ...more,
});

const factor = (enabled: boolean) => ({ enabled, recovery_codes_left: enabled ? 8 : 0 });
const passkey = { id: 'a', name: 'Phone', created_at: '2026-11-22T12:00:00.000Z' };
const none = { second_factor: factor(false), passkeys: [] };

/** Opens the overview. @param next the path of the next page of admins */
const open = async (admins: readonly object[], next?: string) => {
  const { page, complaints } = await openConsole(browser, service, '#/account');
  await page.route('**/api/users?*role=admin*', (route) =>
    route.fulfill({ json: admins, headers: next ? { Link: `<${next}>; rel="next"` } : {} }),
  );
  const answered = page.waitForResponse(/role=admin/);
  await page.getByRole('link', { name: 'Overview' }).click();
  await answered;
  await page.getByRole('region', { name: 'Failed logins', exact: true }).waitFor();
  return { page, complaints };
};

const named = async (page: Page) => {
  const names = await page.locator('.person', { hasText: /Admin \d/ }).allInnerTexts();
  return names.map((name) => /#(\d+)/.exec(name)?.[1]);
};

it('The overview names admins who have neither a second factor nor a passkey that can be used.', async () => {
  const { page, complaints } = await open([
    admin(11, { ...none, second_factor: factor(true) }),
    admin(12, { ...none, passkeys: [{ ...passkey, rp_id: rpId }] }),
    admin(13, { ...none, passkeys: [{ ...passkey, rp_id: 'old.example' }] }),
    ...[14, 15, 16, 17, 18].map((id) => admin(id, none)),
  ]);

  await page.getByText('6 admins').waitFor();
  expect(await named(page)).toEqual(['13', '14', '15', '16', '17']);
  await page.getByRole('button', { name: 'All 6' }).click();
  await expect.poll(() => named(page)).toEqual(['13', '14', '15', '16', '17', '18']);
  expect(await page.getByText('there are more admins').count()).toBe(0);
  expect(await violationsIn(page)).toEqual([]);
  expect(complaints).toEqual([]);
});

it('The overview says that it has looked at the first hundred admins, if there are more.', async () => {
  const { page } = await open([admin(11, none)], '/api/users?role=admin&cursor=x');

  await page.getByText('of the first 100: there are more admins').waitFor();
});

it('The overview names no admin if it knows of no second factor and no passkeys.', async () => {
  const { page } = await open([admin(11, {})]);

  expect(await named(page)).toEqual([]);
});
