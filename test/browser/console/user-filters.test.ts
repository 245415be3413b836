import type { Locator, Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { serviceForThisFile } from '../../support/acceptance.ts';
import { register, uniqueEmail } from '../../support/client.ts';
import { appoint } from '../../support/examples.ts';
import { mailingServiceForThisFile } from '../../support/mailbox.ts';
import { registerVerified, setFieldsOf } from '../../support/reset-tokens.ts';
import { verificationSettings } from '../../support/verification.ts';
import { browserForThisFile } from '../browser.ts';
import { openConsole } from '../console.ts';
import { button, violationsIn } from '../page.ts';

const service = await mailingServiceForThisFile({ ...verificationSettings.on, SESSION_DAYS: '30' });
const plain = await serviceForThisFile();
const { api, adminToken: token, environment, mailbox } = service;
const browser = await browserForThisFile();

const hashOf = (page: Page) => new URL(page.url()).hash;

/** Creates a user who is invited. @returns the id and the address */
const invite = async () => {
  const json = { name: 'Ada', email: uniqueEmail(), invite: true };
  const { id } = (await api('POST', '/api/users', { token, json })).body;
  await mailbox.mailsTo(json.email);
  return { id, email: json.email };
};

const rowOf = (page: Page, { email }: { email: string }) =>
  page.getByRole('row').filter({ hasText: email });

/** The names of the fields above the list. */
const fieldsIn = (page: Page) => page.getByRole('search').locator('label').allInnerTexts();

describe('The list of users', () => {
  it('shows users of one status, or the auditors, and says so in the address bar', async () => {
    const suspended = await registerVerified(service);
    await api('PUT', `/api/users/${suspended.id}/suspension`, { token });
    const auditor = await appoint(api, token, await registerVerified(service));
    const invited = await invite();
    const { page, complaints } = await openConsole(browser, service, '#/users');

    expect(await fieldsIn(page)).toEqual([
      'Find users',
      'Show',
      'Status',
      'Order',
      'Last seen before',
    ]);
    await page.getByLabel('Status').selectOption('Suspended');
    await rowOf(page, invited).waitFor({ state: 'detached' });
    await rowOf(page, suspended).waitFor();
    expect(hashOf(page)).toBe('#/users?status=suspended');
    await page.getByLabel('Status').selectOption('Address not verified');
    await rowOf(page, suspended).waitFor({ state: 'detached' });
    await rowOf(page, invited).waitFor();
    await page.getByLabel('Status').selectOption('Invited');
    await rowOf(page, invited).waitFor();
    await page.getByLabel('Show').selectOption('Auditors');
    await page.getByText('No user is like this.').waitFor();
    expect(hashOf(page)).toBe('#/users?status=invited&role=auditor');
    expect(await violationsIn(page)).toEqual([]);
    await page.getByLabel('Status').selectOption('Any');
    await rowOf(page, auditor).waitFor();
    expect(await page.locator('tbody tr').count()).toBe(1);
    await page.getByLabel('Find users').fill('nobody at all');
    await page.getByRole('link', { name: 'Show all users' }).click();
    await rowOf(page, invited).waitFor();

    expect(hashOf(page)).toBe('#/users');
    expect(complaints).toEqual([]);
  });

  it('says of each invitation until when it is open, or that it has ended', async () => {
    const [open, ended, accepted] = [
      await invite(),
      await invite(),
      await registerVerified(service),
    ];
    await setFieldsOf(environment, open.id, { invited_until: '2999-01-31T12:00:00.000Z' });
    await setFieldsOf(environment, ended.id, { invited_until: '2026-01-31T09:05:00.000Z' });

    const { page } = await openConsole(browser, service, '#/users');

    await rowOf(page, open).filter({ hasText: 'Invited until Jan 31, 2999' }).waitFor();
    await rowOf(page, ended).filter({ hasText: 'Invited until Jan 31, 2026, ended' }).waitFor();
    expect(await rowOf(page, accepted).innerText()).not.toMatch(/Invit/);
    expect(await violationsIn(page)).toEqual([]);
  });

  it.each([
    ['', 'until'],
    ['&order=desc', 'since'],
  ])('says how far a walk has found users, if the place has %j', async (order, word) => {
    const user = { ...(await register(api)), created_at: '2026-03-05T12:00:00.000Z' };
    const { page } = await openConsole(browser, service, '#/users');
    const { promise: held, resolve: goOn } = Promise.withResolvers<void>();
    await page.route('**/api/users?*status=suspended*', async (route) => {
      const [, cursor = ''] = /cursor=(\w*)/.exec(route.request().url()) ?? [];
      if (cursor === 'third') await held;
      const next = { '': 'second', second: 'third', third: '' }[cursor];
      const headers = next && {
        Link: `</api/users?status=suspended&cursor=${next}>; rel="next"`,
      };
      await route.fulfill({ json: cursor === 'second' ? [user] : [], headers: headers || {} });
    });

    await page.evaluate(`location.hash = '#/users?status=suspended${order}'`);
    await page.getByText(`1 user found so far, among those created ${word} Mar 5, 2026.`).waitFor();
    goOn();

    await page.getByText('1 user shown.').waitFor();
    expect(await page.getByText('so far').count()).toBe(0);
    expect(await violationsIn(page)).toEqual([]);
  });

  it('shows who has not been seen since a day, while the filters that cannot be combined wait and say why', async () => {
    const user = { ...(await register(api)), created_at: '2026-01-31T12:00:00.000Z' };
    const place = '#/users?role=admin&q=ad&order=desc';
    const { page } = await openConsole(browser, service, place);
    const asked: string[] = [];
    await page.route('**/api/users?*seenBefore=*', (route) => {
      asked.push(new URL(route.request().url()).search);
      return route.fulfill({ json: [{ ...user, last_seen_on: '2026-02-28' }] });
    });
    const waiting = ['Find users', 'Show', 'Status'].map((label) => page.getByLabel(label));
    const states = () => Promise.all(waiting.map((field) => field.isDisabled()));
    const reasonOf = async (field: Locator) =>
      page.locator(`[id="${await field.getAttribute('aria-describedby')}"]`).innerText();
    const reasons = () => Promise.all(waiting.map(reasonOf));

    await page.getByLabel('Last seen before').fill('2026-08-30');
    await rowOf(page, user).getByText('Feb 28, 2026 (UTC)').waitFor();
    expect(hashOf(page)).toBe(`${place}&seenBefore=2026-08-30`);
    expect(asked).toEqual(['?limit=100&seenBefore=2026-08-30&order=desc']);
    expect(await states()).toEqual([true, true, true]);
    expect(await reasons()).toEqual(
      Array(3).fill(
        'Find, Show and Status wait while a day is chosen: they cannot be combined with it.',
      ),
    );
    expect(await page.getByLabel('Find users').inputValue()).toBe('ad');
    expect(await page.getByLabel('Order').isEnabled()).toBe(true);
    expect(await violationsIn(page)).toEqual([]);
    await page.getByLabel('Last seen before').fill('');
    await rowOf(page, user).waitFor({ state: 'detached' });

    await rowOf(page, service.admin).waitFor();
    expect(hashOf(page)).toBe(place);
    expect(await states()).toEqual([false, false, false]);
    expect(await page.getByLabel('Show').inputValue()).toBe('admin');
  });

  it('offers the day 90 days ago, and says that users who were never seen are not in the list', async () => {
    const { page } = await openConsole(browser, service, '#/users');
    const day = () => new Date(Date.now() - 90 * 86_400_000).toISOString().slice(0, 10);
    const before = day();

    await button(page, 'Not seen for 90 days').click();
    await page.getByText('Users who were never seen are not in this list.').waitFor();

    expect([before, day()].map((each) => `#/users?seenBefore=${each}`)).toContain(hashOf(page));
  });

  it('says that the user with an exact id is deleted, beside the users who have the number in the address', async () => {
    const { id } = await register(api);
    const other = await register(api, { email: `${id}-${uniqueEmail()}` });
    await api('DELETE', `/api/users/${id}`, { token });
    const { page } = await openConsole(browser, service, `#/users?q=${id}`);

    await rowOf(page, other).waitFor();
    const said = page.getByText(`The user with the id ${id}: #${id} Deleted`);
    await said.waitFor();
    const { y = 0 } = (await page.getByRole('table').boundingBox()) ?? {};
    expect((await said.boundingBox())?.y).toBeLessThan(y);
    await page.getByRole('link', { name: `#${id}`, exact: true }).click();

    await page.getByText('This user was deleted.').waitFor();
  });

  it('has no filter whose option is off, and ignores it in the address bar', async () => {
    const place = '#/users?status=suspended&role=auditor&seenBefore=2026-08-30';
    const { page } = await openConsole(browser, plain, place);
    const asked = page.waitForRequest('**/api/users?*');
    await page.reload();

    await rowOf(page, plain.admin).waitFor();
    expect(new URL((await asked).url()).search).toBe('?limit=100');
    expect(await fieldsIn(page)).toEqual(['Find users', 'Show', 'Order']);
    const choices = await page.getByLabel('Show').locator('option').allInnerTexts();
    expect(choices).toEqual(['All users', 'Admins']);
  });
});

it.each([
  ['2026-02-28', ['Last seen Feb 28, 2026 (UTC)']],
  [null, ['Never seen']],
  [undefined, []],
])('The page of a user whose last_seen_on is %j says so in its header', async (day, said) => {
  const user = await register(api);
  const { page } = await openConsole(browser, service, '#/users');
  await page.route(`**/api/users/${user.id}`, async (route) => {
    const response = await route.fetch();
    const json = { ...(await response.json()), last_seen_on: day };
    await route.fulfill({ response, json });
  });

  await page.evaluate(`location.hash = '#/users/${user.id}'`);
  await button(page, 'Copy the address').waitFor();

  const facts = await page.locator('main > .title span').allInnerTexts();
  expect(facts.filter((each) => /seen/.test(each))).toEqual(said);
});
