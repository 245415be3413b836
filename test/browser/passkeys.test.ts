/** Passkeys of Chromium's virtual authenticator, in the console. */
import { request } from 'node:http';
import type { Page } from 'playwright-core';
import { afterAll, expect, it } from 'vitest';
import { serviceForThisFile } from '../support/acceptance.ts';
import { logIn, uniqueEmail } from '../support/client.ts';
import { startLoopback } from '../support/loopback.ts';
import { until } from '../support/until.ts';
import { browserForThisFile } from './browser.ts';
import { openConsole, signIn } from './console.ts';
import { authenticatorOf, button, openPage, title, violationsIn } from './page.ts';

/** A service on localhost, behind a server: the console's origin must be known before the service has a port. */
const startForThisFile = async () => {
  let target = '';
  const front = await startLoopback(({ method, url, headers }, _, response, bytes) => {
    const outgoing = request(target + url, { method, headers }, (incoming) => {
      incoming.pipe(response.writeHead(incoming.statusCode ?? 500, incoming.headers));
    });
    outgoing.end(bytes);
  });
  afterAll(front.stop);
  const url = front.url.replace('127.0.0.1', 'localhost');
  const service = await serviceForThisFile({
    SESSION_DAYS: '90',
    PASSKEYS: JSON.stringify({ rpId: 'localhost', origins: [url] }),
    // The authenticator chooses an unknown passkey repeatedly, which a user would not do.
    LOGIN_FAILURES_PER_ADDRESS: '0',
  });
  target = service.url;
  return { service, front, url };
};
const { service, front, url } = await startForThisFile();
/** Another service of the same domain. */
const elsewhere = await startForThisFile();
const { admin, api } = service;
const browser = await browserForThisFile();

/** Runs in a page: a password manager, whose credentials are objects of its own. */
const passwordManager = `for (const name of ['create', 'get']) {
  const own = navigator.credentials[name].bind(navigator.credentials);
  navigator.credentials[name] = async (options) => {
    const { id, rawId, type, response } = await own(options);
    const toJSON = () => { throw new TypeError('Illegal invocation'); };
    return { id, rawId, type, response, toJSON };
  };
}`;

/** Runs in a page: notes in `signals` which methods report something to the authenticator. */
const notedSignals = `window.signals = [];
for (const name of Object.getOwnPropertyNames(PublicKeyCredential).filter((each) => each.startsWith('signal'))) {
  const own = PublicKeyCredential[name].bind(PublicKeyCredential);
  PublicKeyCredential[name] = (options) => {
    window.signals.push(name);
    return own(options);
  };
}`;

/** Another admin of the service. */
const newAdmin = async () => {
  const password = 'a long password';
  const user = { name: 'Grace', email: uniqueEmail(), password, role: 'admin' };
  const token = await logIn(api, admin);
  const { body } = await api('POST', '/api/users', { token, json: user });
  return { ...user, id: body.id as number };
};

/** Adds a passkey in the console, on the screen of the user's own account. */
const addIn = async (page: Page, password: string, name = 'Laptop') => {
  const dialog = page.getByRole('dialog');
  await button(page, 'Add a passkey').click();
  await dialog.getByLabel('Name').fill(name);
  await dialog.getByLabel('Current password').fill(password);
  await button(dialog, 'Add a passkey').click();
  await page.getByRole('cell', { name, exact: true }).waitFor();
  await dialog.waitFor({ state: 'hidden' });
};

it.each([
  ['the browser itself', ''],
  ['a password manager whose credentials have no working toJSON', passwordManager],
])(
  'An admin adds, renames and removes a passkey, and signs in with it without typing, by %s',
  async (_, script) => {
    const { page, complaints } = await openConsole(browser, { url, admin }, '#/account');
    await page.evaluate(script);
    const { credentials } = await authenticatorOf(page);
    const dialog = page.getByRole('dialog');

    await button(page, 'Add a passkey').click();
    await dialog.getByLabel('Name').fill('Laptop');
    await dialog.getByLabel('Current password').fill(admin.password);
    expect(await violationsIn(page)).toEqual([]);
    await button(dialog, 'Add a passkey').click();
    await page.getByText('The passkey is added.').waitFor();
    await page.getByRole('cell', { name: 'Laptop', exact: true }).waitFor();
    expect(await credentials()).toHaveLength(1);

    await page.getByRole('button', { name: /^Rename \d+, / }).click();
    await dialog.getByLabel('Name').fill('Telephone');
    await button(dialog, 'Rename the passkey').click();
    await page.getByRole('cell', { name: 'Telephone', exact: true }).waitFor();
    expect(await violationsIn(page)).toEqual([]);

    await button(page, 'Sign out').click();
    // The browser has one passkey, and its user is present: the list of the address field chooses the passkey.
    await title(page, 'My account').waitFor();

    await page.getByRole('button', { name: /^Remove \d+, / }).click();
    await dialog.getByLabel('Current password').fill(admin.password);
    await button(dialog, 'Remove the passkey').click();
    await page.getByText('No passkey signs you in.').waitFor();
    expect(complaints).toEqual([]);
  },
);

it('The form to sign in has a button for passkeys if its origin may use passkeys, and reports failures', async () => {
  const { page } = await openPage(browser, `${url}/console`);
  const other = await openPage(browser, `${front.url}/console`);

  await title(page, 'Sign in').waitFor();
  await title(other.page, 'Sign in').waitFor();
  expect(await button(other.page, 'Use a passkey').count()).toBe(0);
  expect(await violationsIn(page)).toEqual([]);
  const { refuse } = await authenticatorOf(page);
  await refuse();
  await button(page, 'Use a passkey').click();
  const said = 'it was declined, or took too long, or there is none.';
  await page.getByText(`The browser has made or used no passkey: ${said}`).waitFor();
});

it('The form to sign in ignores a failed offer in the list, and names the cause of a failed request', async () => {
  const page = await (await browser.newContext()).newPage();
  await page.addInitScript(`navigator.credentials.get = async ({ mediation }) => {
    window.offered ??= mediation === 'conditional';
    throw new DOMException('The vault is locked', 'UnknownError');
  };`);

  await page.goto(`${url}/console`);
  await until(() => page.evaluate<boolean>('window.offered === true'));
  await page.evaluate('new Promise(requestAnimationFrame)');
  const notices = await page.getByText('You are not signed in').count();
  await button(page, 'Use a passkey').click();

  const said = 'The browser has made or used no passkey: The vault is locked.';
  await page.getByText(said).waitFor();
  expect(notices).toBe(0);
});

it('The console of another service of the domain leaves alone a passkey that it does not know', async () => {
  const user = await newAdmin();
  const { page } = await openConsole(browser, { url, admin: user }, '#/account');
  await page.addInitScript(notedSignals);
  const { credentials } = await authenticatorOf(page);
  await addIn(page, user.password);
  const before = await credentials();

  await page.goto(`${elsewhere.url}/console`);
  await page.getByText('Invalid passkey.').waitFor();

  expect(await page.evaluate('signals')).toEqual([]);
  expect(before).toHaveLength(1);
  expect(await credentials()).toMatchObject([{ credentialId: before[0]?.credentialId }]);
});

it('A login to the console makes the authenticator forget a passkey that was removed elsewhere', async () => {
  const user = await newAdmin();
  const { page } = await openConsole(browser, { url, admin: user }, '#/account');
  const { credentials } = await authenticatorOf(page);
  await addIn(page, user.password);
  const other = await logIn(api, user);
  const [passkey] = (await api('GET', '/api/passkeys', { token: other })).body.data;
  const json = { currentPassword: user.password };
  await api('POST', `/api/passkeys/${passkey.id}/removals`, { token: other, json });

  expect(await credentials()).toHaveLength(1);
  await page.reload();
  await signIn(page, user);

  await until(async () => (await credentials()).length === 0, 'The passkey was not forgotten');
});

it('The console tells the authenticator a new address and name, and that deleted users have no passkey', async () => {
  const user = await newAdmin();
  const { page } = await openConsole(browser, { url, admin: user }, '#/account');
  const { credentials } = await authenticatorOf(page);
  await addIn(page, user.password);
  const email = uniqueEmail();

  await page.getByLabel('Name', { exact: true }).fill('Grace Hopper');
  await page.getByLabel('Email address').fill(email);
  await page.getByLabel('Current password').first().fill(user.password);
  await button(page, 'Save the changes').click();
  await until(
    async () => (await credentials())[0]?.userName === email,
    'The authenticator shows the address before',
  );
  const [renamed] = await credentials();
  await page.goto(`${url}/console#/users/${user.id}`);
  await button(page, 'Delete').click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel(/^Type/).fill(email);
  await button(dialog, 'Delete for good').click();
  await page.getByText('Your account is deleted.').waitFor();

  await until(async () => (await credentials()).length === 0, 'The passkey was not forgotten');
  expect(renamed?.userDisplayName).toBe('Grace Hopper');
});

it('The console tells the browser the passkeys of the new domain, also on a page from before the change', async () => {
  const page = await (await browser.newContext()).newPage();
  await page.addInitScript(`PublicKeyCredential.signalAllAcceptedCredentials = async (options) => {
    window.told = options;
  };`);
  const passkey = { id: 'p', name: 'Laptop', created_at: '2026-11-20T09:00:00.000Z' };
  const data = ['localhost', 'new.localhost'].map((rp_id) => ({
    ...passkey,
    ...{ rp_id, credential_id: `of.${rp_id}`, last_used_at: null, backed_up: false },
  }));
  const json = { data, user_handle: 'handle', rp_id: 'new.localhost' };
  await page.route('**/api/passkeys', (route) => route.fulfill({ json }));
  await page.goto(`${url}/console`);

  await signIn(page, admin);

  await until(() => page.evaluate<boolean>('window.told !== undefined'));
  expect(await page.evaluate('told')).toEqual({
    rpId: 'new.localhost',
    userId: 'handle',
    allAcceptedCredentialIds: ['of.new.localhost'],
  });
});

it('The form to sign in does not keep asking for options when that fails', async () => {
  const page = await (await browser.newContext()).newPage();
  let asked = 0;
  await page.route('**/api/login/passkey-options', (route) => {
    asked += 1;
    return route.fulfill({ status: 500, json: { message: 'Error' } });
  });

  await page.goto(`${url}/console`);
  await until(() => asked > 0);
  // If the page sent another request, it would do so before all these requests are answered.
  await page.evaluate(`(async () => {
    for (let count = 0; count < 20; count += 1) await fetch('/openapi.json');
  })()`);

  expect(asked).toBe(1);
  expect(await page.getByText('You are not signed in').count()).toBe(0);
});

it('The console says that a passkey is added even if it cannot list all passkeys after that', async () => {
  const { page } = await openConsole(browser, { url, admin }, '#/account');
  await authenticatorOf(page);
  const dialog = page.getByRole('dialog');

  await button(page, 'Add a passkey').click();
  await dialog.getByLabel('Current password').fill(admin.password);
  await page.route('**/api/passkeys', (route) =>
    route.request().method() === 'GET' ? route.abort() : route.continue(),
  );
  await button(dialog, 'Add a passkey').click();

  const said = page.getByText(/The passkey is added|No passkey was added/).first();
  expect(await said.textContent()).toContain('The passkey is added.');
});
