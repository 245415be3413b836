/** Passkeys of Chromium's virtual authenticator, in a page of another origin and in the console. */
import { request } from 'node:http';
import type { Page } from 'playwright-core';
import { afterAll, describe, expect, it } from 'vitest';
import { serviceForThisFile } from '../support/acceptance.ts';
import { register } from '../support/client.ts';
import { startLoopback } from '../support/loopback.ts';
import { passkeyClient } from '../support/passkeys.ts';
import { appForThisFile, browserCode } from './app.ts';
import { browserForThisFile } from './browser.ts';
import { openConsole } from './console.ts';
import { button, openPage, title, violationsIn } from './page.ts';

const files = { '/passkeys.js': '' };
const app = await appForThisFile(
  () => files,
  `import { makePasskey, usePasskey } from './passkeys.js';
Object.assign(window, { makePasskey, usePasskey });`,
);
/** Stands before the service: the console's origin must be known before the service has a port. */
const front = await startLoopback(({ method, url, headers }, _, response, bytes) => {
  const outgoing = request(service.url + url, { method, headers }, (incoming) => {
    incoming.pipe(response.writeHead(incoming.statusCode ?? 500, incoming.headers));
  });
  outgoing.end(bytes);
});
afterAll(front.stop);
const url = front.url.replace('127.0.0.1', 'localhost');
const service = await serviceForThisFile({
  SESSION_DAYS: '90',
  PASSKEYS: JSON.stringify({ rpId: 'localhost', origins: [app, url] }),
});
const { api, admin } = service;
files['/passkeys.js'] = browserCode('parseRequestOptionsFromJSON', service.url);
const browser = await browserForThisFile();
const { list, loginOptions, optionsFor, remove, send } = passkeyClient(api);

/** Gives a page an authenticator whose user is always there. */
const authenticatorOf = async (page: Page) => {
  const debugging = await page.context().newCDPSession(page);
  await debugging.send('WebAuthn.enable');
  const { authenticatorId } = await debugging.send('WebAuthn.addVirtualAuthenticator', {
    options: {
      protocol: 'ctap2',
      transport: 'internal',
      hasResidentKey: true,
      hasUserVerification: true,
      isUserVerified: true,
      automaticPresenceSimulation: true,
    },
  });
  return {
    refuse: () =>
      debugging.send('WebAuthn.setUserVerified', { authenticatorId, isUserVerified: false }),
    credentials: async () =>
      (await debugging.send('WebAuthn.getCredentials', { authenticatorId })).credentials,
  };
};

describe('A page of another origin', () => {
  const open = async () => {
    const page = await (await browser.newContext()).newPage();
    const authenticator = await authenticatorOf(page);
    await page.goto(app);
    await page.waitForFunction('window.usePasskey');
    /** @returns what a function of the page answers, or the name of its error */
    const run = (name: string, options: object) =>
      page.evaluate<unknown>(`${name}(${JSON.stringify(options)}).catch(({ name }) => name)`);
    return { ...authenticator, run };
  };

  it('makes a passkey, signs in by it, and is told when it was removed', async () => {
    const user = await register(api);
    const { token, password: currentPassword } = user;
    const { run, refuse, credentials } = await open();

    const options = (await optionsFor(token, { currentPassword })).body;
    const credential = await run('makePasskey', options);
    const added = await api('POST', '/api/passkeys', { token, json: { credential } });
    const again = await run('makePasskey', (await optionsFor(token, { currentPassword })).body);
    const login = await send((await run('usePasskey', await loginOptions())) as object);
    const twice = await send((await run('usePasskey', await loginOptions())) as object);
    const removed = await remove(token, added.body.id, { currentPassword });
    const unknown = await send((await run('usePasskey', await loginOptions())) as object);
    await refuse();
    const unverified = await run('usePasskey', await loginOptions());

    expect([added.status, again, login.status, twice.status]).toEqual([
      201,
      'InvalidStateError',
      200,
      200,
    ]);
    expect((await credentials())[0]?.signCount).toBeGreaterThan(1);
    expect(removed.status).toBe(204);
    expect((await list(login.body.token)).status).toBe(401);
    expect(unknown.headers.get('error-code')).toBe('PASSKEY_UNKNOWN');
    expect(unverified).toBe('NotAllowedError');
  });
});

it('An admin adds, renames and removes a passkey in the console, and signs in by it without typing', async () => {
  const { page, complaints } = await openConsole(browser, { url, admin }, '#/account');
  const { credentials } = await authenticatorOf(page);
  const dialog = page.getByRole('dialog');

  await button(page, 'Add a passkey').click();
  await dialog.getByLabel('Name').fill('Laptop');
  await dialog.getByLabel('Current password').fill(admin.password);
  expect(await violationsIn(page)).toEqual([]);
  await button(dialog, 'Add a passkey').click();
  await page.getByText('The passkey is added.').waitFor();
  await page.getByRole('cell', { name: 'Laptop' }).waitFor();
  expect(await credentials()).toHaveLength(1);

  await button(page, 'Rename').click();
  await dialog.getByLabel('Name').fill('Telephone');
  await button(dialog, 'Rename the passkey').click();
  await page.getByRole('cell', { name: 'Telephone' }).waitFor();
  expect(await violationsIn(page)).toEqual([]);

  await button(page, 'Sign out').click();
  // The browser has one passkey, and a user who is there: the list of the address field chooses it.
  await title(page, 'My account').waitFor();

  await button(page, 'Remove').click();
  await dialog.getByLabel('Current password').fill(admin.password);
  await button(dialog, 'Remove the passkey').click();
  await page.getByText('No passkey signs you in.').waitFor();
  expect(complaints).toEqual([]);
});

it('The form to sign in has a button for passkeys where its origin has them, and says what fails', async () => {
  const { page } = await openPage(browser, `${url}/console`);
  const elsewhere = await openPage(browser, `${front.url}/console`);

  await title(page, 'Sign in').waitFor();
  await title(elsewhere.page, 'Sign in').waitFor();
  expect(await button(elsewhere.page, 'Use a passkey').count()).toBe(0);
  expect(await violationsIn(page)).toEqual([]);
  const { refuse } = await authenticatorOf(page);
  await refuse();
  await button(page, 'Use a passkey').click();
  await page.getByText('The browser has made or used no passkey.').waitFor();
});

it('The form to sign in does not ask on and on for options that fail', async () => {
  const page = await (await browser.newContext()).newPage();
  let asked = 0;
  await page.route('**/api/login/passkey-options', (route) => {
    asked += 1;
    return route.fulfill({ status: 500, json: { message: 'Error' } });
  });

  await page.goto(`${url}/console`);
  await page.getByText('You are not signed in').waitFor();
  // Another request would be under way before these are answered.
  await page.evaluate(`(async () => {
    for (let count = 0; count < 20; count += 1) await fetch('/openapi.json');
  })()`);

  expect(asked).toBe(1);
});

it('The console says that a passkey is added also where it cannot list all of them after that', async () => {
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
