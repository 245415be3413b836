/** Opens the console as a user who is signed in. */
import type { Browser, Page } from 'playwright-core';
import { type OpenPage, openPage, type PageOptions } from './page.ts';

interface Credentials {
  readonly email: string;
  readonly password: string;
}

/** Fills in the form for signing in, and sends it. */
export const signIn = async (page: Page, { email, password }: Credentials): Promise<void> => {
  await page.getByLabel('Email address').fill(email);
  await page.getByLabel('Password').fill(password);
  await page.getByRole('button', { name: 'Sign in' }).click();
};

/** An entry of the trail, as a list of the API shows it. */
export const listedEntry = (id: number, created_at: string) => ({
  id,
  user_id: 1,
  action: 'LOGIN',
  resource: 'users',
  resource_id: '1',
  ip_address: '192.0.2.17',
  user_agent: 'curl/8.5.0',
  result: 'SUCCESS',
  details: null,
  created_at,
});

/** Fills in the form for a new user. */
export const fillNewUser = async (
  page: Page,
  { name, email, password }: Credentials & { readonly name: string },
): Promise<void> => {
  await page.getByRole('button', { name: 'Create a user' }).click();
  await page.getByLabel('Name', { exact: true }).fill(name);
  await page.getByLabel('Email address').fill(email);
  await page.getByLabel('Password').fill(password);
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
  // While a screen loads data, its buttons move, and a button that moves between the press and the release of the mouse
  // gets no click.
  await opened.page.locator('.busy').first().waitFor({ state: 'detached' });
  return opened;
};
