/** The code of functions/CLIENTS.md in pages of other origins, whatever the settings. */
import { createPrivateKey } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { serviceForThisFile } from '../support/acceptance.ts';
import { makeUser, register, uniqueEmail } from '../support/client.ts';
import { everySetting } from '../support/every-setting.ts';
import { folderForThisFile } from '../support/folder.ts';
import { identityServiceForThisFile, identitySettings, startIssuer } from '../support/issuer.ts';
import { codeOf } from '../support/second-factor.ts';
import { outlived, signToken, signTokenWithKey } from '../support/tokens.ts';
import { appForThisFile, browserCode } from './app.ts';
import { browserForThisFile } from './browser.ts';

const folder = folderForThisFile();
const issuer = await startIssuer();
const plain = await serviceForThisFile();
const full = await identityServiceForThisFile(issuer, {
  ...everySetting,
  ...identitySettings(issuer),
  DATA_DIR: folder,
});
const browser = await browserForThisFile();

const originOf = ({ url }: { url: string }) => {
  const files = {
    '/calls.js': browserCode('/api/refresh', url),
    '/links.js': browserCode('/api/password-resets', url),
    '/identities.js': browserCode('/api/login/', url),
  };
  const script = `
import { call, save } from './calls.js';
import { askForLink, setPassword } from './links.js';
import { logInByIdentity, prove } from './identities.js';
const statusOf = async (...request) => (await call(new Request(...request))).status;
Object.assign(window, { statusOf, save, askForLink, setPassword, logInByIdentity, prove });`;
  return appForThisFile(() => files, script);
};
const origins = { plain: await originOf(plain), full: await originOf(full) };

/** Opens the app of a service. */
const open = async (service: keyof typeof origins, path = '/'): Promise<Page> => {
  const page = await (await browser.newContext()).newPage();
  await page.goto(origins[service] + path);
  await page.waitForFunction('window.prove');
  return page;
};

/** @returns what a script in a page comes to, or the message that it throws */
const run = (page: Page, script: string): Promise<unknown> =>
  page.evaluate(script).catch((error: Error) => error.message.split('\n')[0]);

const kept = (page: Page) => run(page, `JSON.parse(localStorage.getItem('tokens'))`);

const proof = (sub: string) =>
  `prove(async (nonce) => (await fetch('${issuer.url}/token?sub=${sub}&email=${sub}@example.org&nonce=' + nonce)).text())`;

describe('A page of another origin, with the default settings,', () => {
  it('knows that its user must log in again when the token has expired', async () => {
    const page = await open('plain');
    const { token } = await register(plain.api);
    const sign = (claims: object, header: object) => signToken(claims, plain.jwtSecret, header);
    const status = `statusOf('${plain.url}/api/profile')`;

    await run(page, `save(${JSON.stringify({ token })})`);
    const before = await run(page, status);
    await run(page, `save(${JSON.stringify({ token: outlived(token, sign) })})`);
    const after = await run(page, status);

    expect([before, after]).toEqual([200, 401]);
    expect(await kept(page)).toEqual({});
  });

  it('says that there are no mailed links and no identities', async () => {
    const page = await open('plain', '/reset#token=x');

    expect(await run(page, `askForLink('ada@example.org')`)).toBe('Not Found');
    expect(await run(page, `setPassword('p')`)).toBe('Not Found');
    expect(await run(page, proof('ada'))).toMatch(/HTTP_404$/);
    expect(await run(page, `logInByIdentity({ idToken: 'x', nonce: 'x' })`)).toEqual({
      message: 'Not Found',
      error: 'HTTP_404',
    });
  });
});

describe('A page of another origin, with every setting on,', () => {
  it('stays logged in past the life of a token', async () => {
    const page = await open('full');
    const { email, password } = await makeUser(full.api, full.adminToken);
    const { body } = await full.api('POST', '/api/login', { json: { email, password } });
    const { token, refreshToken } = body;
    const key = createPrivateKey(readFileSync(join(folder, 'token-key-first')));
    const sign = (claims: object, header: object) => signTokenWithKey(claims, key, header);

    await run(page, `save(${JSON.stringify({ token: outlived(token, sign), refreshToken })})`);

    expect(await run(page, `statusOf('${full.url}/api/profile')`)).toBe(200);
    expect(await kept(page)).toMatchObject({ message: 'Token refreshed' });
  });

  it('asks for a link, and sets a new password by it', async () => {
    const { email } = await makeUser(full.api, full.adminToken);
    const page = await open('full');
    const said = await run(page, `askForLink('${email}')`);
    const unknown = await run(page, `askForLink('${uniqueEmail()}')`);
    const [mail] = await full.mailbox.mailsTo(email);
    const [, token] = /#token=([\w.-]+)/.exec(mail?.text ?? '') ?? [];

    const reset = await open('full', `/reset#token=${token}`);
    const address = reset.url();
    const outcomes = [
      await run(reset, `setPassword('another password')`),
      await run(reset, `setPassword('another password')`),
    ];

    expect(said).toBe(unknown);
    expect(address).toBe(`${origins.full}/reset`);
    expect(outcomes).toEqual([undefined, 'Invalid or expired reset token']);
    const json = { email, password: 'another password' };
    expect((await full.api('POST', '/api/login', { json })).status).toBe(200);
  });

  it('logs in by an issuer, and sends the same proof again with a code', async () => {
    const page = await open('full');

    const first = await run(page, `${proof('ada')}.then((proof) => logInByIdentity(proof))`);
    const { token } = first as { token: string };
    const json = await full.proofOf({ sub: 'ada' });
    const begun = await full.api('POST', '/api/second-factor', { token, json });
    await full.api('PUT', '/api/second-factor', {
      token,
      json: { code: codeOf(begun.body.secret) },
    });
    const keep = `${proof('ada')}.then((proof) => (window.proof = proof, logInByIdentity(proof)))`;
    const asked = await run(page, keep);
    const code = codeOf(begun.body.secret, { ahead: 1 });
    const second = await run(page, `logInByIdentity(proof, '${code}')`);

    expect(first).toMatchObject({ message: 'User registered successfully' });
    expect(asked).toEqual({ message: 'Code required', error: 'LOGIN_CODE_REQUIRED' });
    expect(second).toMatchObject({ message: 'Login successful', token: expect.any(String) });
  });
});
