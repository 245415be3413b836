import type { Page } from 'playwright-core';
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
  ])('says how far a walk has read, if the place has %j', async (order, word) => {
    const { page } = await openConsole(browser, service, '#/users');
    const cursor = Buffer.from('2026-03-05T12:00:00.000Z#7').toString('base64url');
    const { promise: held, resolve: goOn } = Promise.withResolvers<void>();
    await page.route('**/api/users?*status=suspended*', async (route) => {
      const isLast = route.request().url().includes('cursor=');
      if (isLast) await held;
      const next = `</api/users?status=suspended&cursor=${cursor}.signature>; rel="next"`;
      await route.fulfill({ json: [], headers: isLast ? {} : { Link: next } });
    });

    await page.evaluate(`location.hash = '#/users?status=suspended${order}'`);
    await page
      .getByText(`0 users found so far, among those created ${word} Mar 5, 2026.`)
      .waitFor();
    await page.getByText('No user found so far.').waitFor();
    goOn();

    await page.getByText('No user is like this.').waitFor();
    expect(await page.getByText('so far').count()).toBe(0);
    expect(await violationsIn(page)).toEqual([]);
  });

  it('shows who has not been seen since a day, which excludes all other filters', async () => {
    const user = { ...(await register(api)), created_at: '2026-01-31T12:00:00.000Z' };
    const { page } = await openConsole(browser, service, '#/users?role=admin&q=ad');
    const asked: string[] = [];
    await page.route('**/api/users?*seenBefore=*', (route) => {
      asked.push(new URL(route.request().url()).search);
      return route.fulfill({ json: [{ ...user, last_seen_on: '2026-02-28' }] });
    });

    await page.getByLabel('Last seen before').fill('2026-08-30');
    await rowOf(page, user).getByText('Feb 28, 2026 (UTC)').waitFor();
    expect(hashOf(page)).toBe('#/users?seenBefore=2026-08-30');
    expect(asked).toEqual(['?limit=100&seenBefore=2026-08-30']);
    expect(await page.getByLabel('Find users').inputValue()).toBe('');
    expect(await violationsIn(page)).toEqual([]);
    await page.getByLabel('Show').selectOption('Admins');
    await rowOf(page, user).waitFor({ state: 'detached' });

    await rowOf(page, service.admin).waitFor();
    expect(hashOf(page)).toBe('#/users?role=admin');
    expect(await page.getByLabel('Last seen before').inputValue()).toBe('');
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
  [null, ['No sign-in recorded']],
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
  expect(facts.filter((each) => /seen|sign-in/.test(each))).toEqual(said);
});
