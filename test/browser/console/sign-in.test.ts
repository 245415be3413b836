import { describe, expect, it } from 'vitest';
import { serviceForThisFile } from '../../support/acceptance.ts';
import { register } from '../../support/client.ts';
import { browserForThisFile } from '../browser.ts';
import { openConsole, signIn } from '../console.ts';
import { openPage, title, violationsIn } from '../page.ts';

const { url, admin, api } = await serviceForThisFile();
const sessions = await serviceForThisFile({ SESSION_DAYS: '90' });
const browser = await browserForThisFile();

const open = (place = '') => openPage(browser, `${url}/console${place}`);

/** Opens the console at a place, as the admin. */
const openSignedIn = (place = '') => openConsole(browser, { url, admin }, place);

describe('The console', () => {
  it('opens, without a violation of its policy or of accessibility', async () => {
    const { page, complaints } = await open();
    await title(page, 'Sign in').waitFor();

    expect(await violationsIn(page)).toEqual([]);
    expect(complaints).toEqual([]);
  });

  it('signs an admin in, with the keyboard alone, and shows where a link leads', async () => {
    const { page, complaints } = await open('#/users/1');
    await title(page, 'Sign in').waitFor();

    await page.keyboard.type(admin.email);
    await page.keyboard.press('Tab');
    await page.keyboard.type(admin.password);
    await page.keyboard.press('Enter');
    await page.getByText(admin.email).last().waitFor();

    expect(page.url()).toBe(`${url}/console#/users/1`);
    expect(complaints).toEqual([]);
  });

  it('tells users who are not admins so, and lets nobody in by a wrong password', async () => {
    const user = await register(api);
    const { page } = await open();

    await signIn(page, user);
    await page.getByText(`${user.email} is not an admin`).waitFor();
    await signIn(page, { ...admin, password: 'another' });
    await page.getByText('The address or the password is wrong.').waitFor();

    expect(await page.getByRole('navigation').count()).toBe(0);
  });

  it('has a menu on phones, in one row with its name: it opens, and closes by Esc and by its links', async () => {
    const { page } = await openConsole(browser, { url, admin }, '#/users', {
      viewport: { width: 390, height: 844 },
    });
    const menu = page.getByRole('button', { name: 'Menu' });
    const audit = page.getByRole('link', { name: 'Audit' });
    const isOpen = () => menu.getAttribute('aria-expanded');
    const focused = () => page.evaluate('document.activeElement.textContent');
    const rowHeight = page.evaluate(
      `document.querySelector('header').offsetHeight / parseFloat(getComputedStyle(document.body).fontSize)`,
    );

    expect(await rowHeight).toBeLessThan(4.5);
    expect(await audit.isVisible()).toBe(false);
    expect(await isOpen()).toBe('false');
    await menu.focus();
    await page.keyboard.press('Enter');
    await audit.waitFor();
    expect(await isOpen()).toBe('true');
    expect(await violationsIn(page)).toEqual([]);
    await page.setViewportSize({ width: 390, height: 844 });
    await page.keyboard.press('Tab');
    expect(await focused()).toBe('Overview');
    await page.keyboard.press('Escape');
    await audit.waitFor({ state: 'hidden' });
    expect(await focused()).toBe('Menu');

    await menu.click();
    await audit.click();
    await title(page, 'Audit').waitFor();
    expect(await audit.isVisible()).toBe(false);
    expect(await focused()).toBe('Audit');
  });

  it('says that an address has no screen, and has no violation there either', async () => {
    const { page, complaints } = await openSignedIn('#/nowhere');
    await title(page, 'Nothing here').waitFor();

    expect(await violationsIn(page)).toEqual([]);
    expect(complaints).toEqual([]);
  });
});

it('A duplicated tab of the console asks to sign in again, because a refresh token belongs to one tab', async () => {
  const { page } = await openConsole(browser, sessions, '#/users');
  const opened = page.waitForEvent('popup');
  await page.evaluate('void window.open(location.href)');
  const copy = await opened;

  await copy.getByText('This tab was a copy of another one. Sign in here too.').waitFor();
  await page.reload();
  await page.locator('main tbody tr').first().waitFor();
  await signIn(copy, sessions.admin);
  await copy.locator('main tbody tr').first().waitFor();

  expect(await page.getByRole('navigation').count()).toBe(1);
});
