/** `accounts-client/passkeys` with Chromium's virtual authenticator, and in browsers with missing or broken parts. */
import type { Page } from 'playwright-core';
import { expect, it } from 'vitest';
import { serviceForThisFile } from '../../support/acceptance.ts';
import { until } from '../../support/until.ts';
import { newAccount } from '../../support/verification.ts';
import { browserForThisFile } from '../browser.ts';
import { authenticatorOf } from '../page.ts';
import { clientPageForThisFile, openClient } from './page.ts';

let url = '';
const app = await clientPageForThisFile(
  () => url,
  'Object.assign(window, { own: passkeys(accounts) });',
);
const service = await serviceForThisFile({
  SESSION_DAYS: '90',
  SELF_DELETION: 'on',
  PASSKEYS: JSON.stringify({ rpId: 'localhost', origins: [app] }),
  // The authenticator chooses a passkey repeatedly, which a user would not do.
  LOGIN_FAILURES_PER_ADDRESS: '0',
});
url = service.url;
const browser = await browserForThisFile();

/** The result of a script in a page. */
const run = (page: Page, script: string) => page.evaluate<unknown>(`(async () => { ${script} })()`);

/** Parts of browsers that some browsers lack, and parts that extensions break. */
const lacks = {
  nothing: '',
  'the JSON of passkeys': `
    delete PublicKeyCredential.parseCreationOptionsFromJSON;
    delete PublicKeyCredential.parseRequestOptionsFromJSON;
    delete PublicKeyCredential.prototype.toJSON;`,
  'credentials with a working toJSON': `
    PublicKeyCredential.prototype.toJSON = () => { throw new TypeError('of an extension'); };
    for (const name of ['create', 'get']) {
      const own = navigator.credentials[name].bind(navigator.credentials);
      navigator.credentials[name] = async (options) => {
        const { id, rawId, type, response } = await own(options);
        const toJSON = () => { throw new TypeError('of an extension'); };
        return { id, rawId, type, response, toJSON };
      };
    }`,
  signals: `
    delete PublicKeyCredential.signalAllAcceptedCredentials;
    delete PublicKeyCredential.signalCurrentUserDetails;`,
};

it.each(Object.entries(lacks))(
  'A user adds a passkey, logs in by it, and removes it, in a browser that lacks %s',
  async (_, script) => {
    const page = await openClient(browser, app, script);
    await authenticatorOf(page);
    const { password, ...account } = newAccount();

    const lived = await run(
      page,
      `const confirmation = { currentPassword: '${password}' };
      await accounts.register({ ...${JSON.stringify(account)}, password: '${password}' });
      const added = await own.addPasskey('Laptop', confirmation);
      const again = await own.addPasskey('Laptop', confirmation);
      await accounts.logOut();
      const login = await own.logInByPasskey();
      const listed = await own.listPasskeys();
      const removed = await own.removePasskey(added.data.id, confirmation);
      return {
        name: added.data.name,
        again: again.error.code,
        login: login.data.user.email,
        count: listed.data.length,
        removed: removed.error,
        user: accounts.user.email,
      };`,
    );

    expect(lived).toEqual({
      name: 'Laptop',
      again: 'PASSKEY_EXISTS',
      login: account.email,
      count: 1,
      removed: null,
      user: account.email,
    });
  },
);

it('A passkey that the list of a field offers logs in the user who chooses it', async () => {
  const page = await openClient(browser, app);
  await authenticatorOf(page);
  const { password, ...account } = newAccount();
  await run(
    page,
    `await accounts.register({ ...${JSON.stringify(account)}, password: '${password}' });
    await own.addPasskey('', { currentPassword: '${password}' });
    await accounts.logOut();`,
  );

  // The authenticator chooses for the user.
  const { data } = (await run(page, 'return own.logInByPasskey({ autofill: true })')) as {
    data: object;
  };

  expect(data).toMatchObject({ user: { email: account.email } });
});

it.each([
  ['another request', 'own.logInByPasskey()'],
  ['a login by the password', `accounts.register(${JSON.stringify(newAccount())})`],
  ['another offer', 'void own.logInByPasskey({ autofill: true })'],
])('An offer of passkeys ends without an error at %s', async (_, next) => {
  const page = await openClient(
    browser,
    app,
    `window.offers = 0;
    navigator.credentials.get = ({ signal }) => new Promise((_, reject) => {
      window.offers += 1;
      signal?.addEventListener('abort', () => reject(signal.reason));
      if (!signal) reject(new DOMException('', 'NotAllowedError'));
    });
    PublicKeyCredential.isConditionalMediationAvailable = async () => true;`,
  );
  await run(page, `window.offer = own.logInByPasskey({ autofill: true }); await undefined;`);
  await page.waitForFunction('offers === 1');

  await run(page, `await ${next}`);

  const { error } = (await run(
    page,
    'const { error } = await offer; return { error: { code: error.code, isTemporary: error.isTemporary } }',
  )) as {
    error: object;
  };
  expect(error).toEqual({ code: 'ABORTED', isTemporary: false });
});

it('A request that the user declines is distinguished from a browser that fails', async () => {
  const page = await openClient(
    browser,
    app,
    `navigator.credentials.get = async () => { throw new DOMException('The vault is locked', window.failure); };`,
  );
  const failed = (name: string) =>
    run(
      page,
      `window.failure = '${name}'; const { error } = await own.logInByPasskey(); return [error.code, error.message];`,
    );

  expect(await failed('NotAllowedError')).toEqual([
    'PASSKEY_REFUSED',
    'The browser has made or used no passkey: it was declined, or took too long, or there is none',
  ]);
  expect(await failed('UnknownError')).toEqual([
    'PASSKEY_FAILED',
    'The browser has made or used no passkey: The vault is locked',
  ]);
});

it('The browser is told that a passkey is removed', async () => {
  const page = await openClient(browser, app);
  const { credentials } = await authenticatorOf(page);
  const { password, ...account } = newAccount();
  await run(
    page,
    `const confirmation = { currentPassword: '${password}' };
    await accounts.register({ ...${JSON.stringify(account)}, password: '${password}' });
    const { data } = await own.addPasskey('', confirmation);
    await own.removePasskey(data.id, confirmation);`,
  );

  await until(async () => (await credentials()).length === 0, 'The passkey was not forgotten');
});

it('The browser keeps a passkey that is added while an earlier list is under way', async () => {
  const page = await openClient(browser, app);
  const { credentials } = await authenticatorOf(page);
  const { password, ...account } = newAccount();
  const confirmation = `{ currentPassword: '${password}' }`;
  await run(
    page,
    `await accounts.register({ ...${JSON.stringify(account)}, password: '${password}' });
    const { data } = await own.addPasskey('', ${confirmation});
    await own.removePasskey(data.id, ${confirmation});`,
  );
  const read = Promise.withResolvers<void>();
  const held = Promise.withResolvers<void>();
  const answered = Promise.withResolvers<void>();
  await page.route(
    '**/api/passkeys',
    async (route) => {
      const response = await route.fetch();
      read.resolve();
      await held.promise;
      await route.fulfill({ response });
      answered.resolve();
    },
    { times: 1 },
  );
  await run(page, 'void own.tellBrowser();');
  await read.promise;

  await run(page, `await own.addPasskey('', ${confirmation});`);
  held.resolve();
  await answered.promise;
  await run(page, "await accounts.api.GET('/api/profile');");

  expect(await credentials()).toHaveLength(1);
});

it('The browser is told a new address, and after the deletion of the account that no passkey is left', async () => {
  const page = await openClient(browser, app);
  const { credentials } = await authenticatorOf(page);
  const { password, ...account } = newAccount();
  const email = newAccount().email;
  await run(
    page,
    `await accounts.register({ ...${JSON.stringify(account)}, password: '${password}' });
    await own.addPasskey('', { currentPassword: '${password}' });
    await accounts.updateUser({ email: '${email}', currentPassword: '${password}' });`,
  );
  await until(async () => (await credentials())[0]?.userName === email);

  await run(page, `await own.deleteAccount({ currentPassword: '${password}' });`);

  expect(await credentials()).toEqual([]);
});
