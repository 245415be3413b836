/** Passkeys of Chromium's virtual authenticator, in a page of another origin and in the console. */
import { request } from 'node:http';
import type { Page } from 'playwright-core';
import { afterAll, expect, it } from 'vitest';
import { serviceForThisFile } from '../support/acceptance.ts';
import { uniqueEmail } from '../support/client.ts';
import { startLoopback } from '../support/loopback.ts';
import { appForThisFile, browserCode } from './app.ts';
import { browserForThisFile } from './browser.ts';
import { openConsole } from './console.ts';
import { button, openPage, title, violationsIn } from './page.ts';

const files = { '/passkeys.js': '', '/api.js': '' };
const app = await appForThisFile(
  () => files,
  `import { makePasskey, usePasskey } from './passkeys.js';
import { call } from './api.js';
const signIn = async (use) => {
  const { body: options } = await call('POST', '/api/login/passkey-options');
  return call('POST', '/api/login/passkey', { credential: await use(options) });
};
/** Asks for a passkey as autofill does: a user would choose it from a list, and the authenticator chooses for the user. */
const offered = async (options) => {
  const publicKey = PublicKeyCredential.parseRequestOptionsFromJSON(options);
  return (await navigator.credentials.get({ publicKey, mediation: 'conditional' })).toJSON();
};
window.live = async (user) => {
  const confirmation = { currentPassword: user.password };
  const { body: { token } } = await call('POST', '/api/auth/register', user);
  const make = async () =>
    makePasskey((await call('POST', '/api/passkeys/options', confirmation, token)).body);
  const json = { credential: await make(), name: 'Laptop' };
  const added = await call('POST', '/api/passkeys', json, token);
  const again = await make().catch(({ name }) => name);
  const login = await signIn(offered);
  const twice = await signIn(usePasskey);
  const path = '/api/passkeys/' + added.body.id;
  const renamed = await call('PATCH', path, { name: 'Telephone' }, login.body.token);
  const removed = await call('POST', path + '/removals', confirmation, login.body.token);
  return { added, again, login, twice, renamed, removed, unknown: await signIn(usePasskey) };
};
window.refused = () => signIn(usePasskey).catch(({ name }) => name);`,
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
const { admin } = service;
files['/passkeys.js'] = browserCode('parseRequestOptionsFromJSON', service.url);
files['/api.js'] = `export const call = async (method, path, json, token) => {
  const authorization = token ? { authorization: 'Bearer ' + token } : {};
  const headers = { 'content-type': 'application/json', ...authorization };
  const request = { method, headers, body: JSON.stringify(json) };
  const response = await fetch('${service.url}' + path, request);
  const { status } = response;
  const body = status === 204 ? {} : await response.json();
  return { status, code: response.headers.get('error-code'), body };
};`;
const browser = await browserForThisFile();

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

it('A page of another origin adds a passkey, signs in by it without typing, renames and removes it', async () => {
  const page = await (await browser.newContext()).newPage();
  const { refuse, credentials } = await authenticatorOf(page);
  await page.goto(app);
  await page.waitForFunction('window.live');
  const user = { name: 'Ada', email: uniqueEmail(), password: 'a long password' };

  const lived = await page.evaluate<unknown>(`live(${JSON.stringify(user)})`);
  await refuse();
  const unverified = await page.evaluate<unknown>('refused()');

  expect(lived).toMatchObject({
    added: { status: 201, body: { name: 'Laptop' } },
    again: 'InvalidStateError',
    login: { status: 200, body: { token: expect.any(String) } },
    twice: { status: 200 },
    renamed: { status: 200, body: { name: 'Telephone' } },
    removed: { status: 204 },
    unknown: { status: 401, code: 'PASSKEY_UNKNOWN' },
  });
  expect(unverified).toBe('NotAllowedError');
  expect((await credentials())[0]?.signCount).toBeGreaterThan(2);
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
