/** The console, opened by somebody who is signed in. */
import type { Browser, Page } from 'playwright-core';
import { type OpenPage, openPage, type PageOptions } from './page.ts';

interface Credentials {
  readonly email: string;
  readonly password: string;
}

/** Fills in the form to sign in, and sends it. */
export const signIn = async (page: Page, { email, password }: Credentials): Promise<void> => {
  await page.getByLabel('Email address').fill(email);
  await page.getByLabel('Password').fill(password);
  await page.getByRole('button', { name: 'Sign in' }).click();
};

/** Opens the console at a place, such as `#/audit`, as the admin. */
export const openConsole = async (
  browser: Browser,
  { url, admin }: { url: string; admin: Credentials },
  place = '',
  options: PageOptions = {},
): Promise<OpenPage> => {
  const opened = await openPage(browser, `${url}/console${place}`, options);
  await signIn(opened.page, admin);
  await opened.page.getByRole('navigation').waitFor();
  return opened;
};
