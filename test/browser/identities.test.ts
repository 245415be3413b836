import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, expect, it } from 'vitest';
import { logIn } from '../support/client.ts';
import { identityServiceForThisFile, newPerson, startIssuer } from '../support/issuer.ts';
import { codeOf } from '../support/second-factor.ts';
import { browserForThisFile } from './browser.ts';
import { openConsole } from './console.ts';
import { violationsIn } from './page.ts';

const issuer = await startIssuer();
const service = await identityServiceForThisFile(issuer, { SECOND_FACTOR: 'optional' });
const { api, identitiesOf, link } = service;
const browser = await browserForThisFile();

/** The code of functions/CLIENTS.md, on an origin of its own. */
const app = createServer(({ url = '' }, response) => {
  const text = readFileSync('functions/CLIENTS.md', 'utf8');
  const blocks = [...text.matchAll(/^```js\n(.*?)^```$/gms)].map(([, block = '']) => block);
  const block = blocks.find((each) => each.includes('/api/login/')) ?? '';
  const code = block.replace('http://localhost:3000', service.url);
  const html =
    '<!doctype html><title>App</title><script type="module">import * as all from "./app.js"; Object.assign(window, all)</script>';
  const isCode = url.endsWith('.js');
  response.setHeader('content-type', isCode ? 'text/javascript' : 'text/html');
  response.end(isCode ? code : html);
});
app.listen(0, 'localhost');
await once(app, 'listening');
afterAll(() => app.close());

it('A page of another origin logs in by an issuer, and sends the same proof again with a code', async () => {
  const page = await browser.newPage();
  await page.goto(`http://localhost:${(app.address() as AddressInfo).port}`);
  await page.waitForFunction('window.prove');
  const ask = (sub: string) =>
    `prove(async (nonce) => (await fetch('${issuer.url}/token?sub=${sub}&email=${sub}@example.org&nonce=' + nonce)).text())`;
  const run = (script: string) => page.evaluate(script) as Promise<Record<string, string>>;

  const first = await run(`${ask('ada')}.then((proof) => logInByIdentity(proof))`);
  const { token = '' } = first;
  const begun = await api('POST', '/api/second-factor', {
    token,
    json: await service.proofOf({ sub: 'ada' }),
  });
  await api('PUT', '/api/second-factor', { token, json: { code: codeOf(begun.body.secret) } });
  const asked = await run(
    `${ask('ada')}.then((proof) => (window.proof = proof, logInByIdentity(proof)))`,
  );
  const code = codeOf(begun.body.secret, { ahead: 1 });
  const second = await run(`logInByIdentity(proof, '${code}')`);

  expect(first.message).toBe('User registered successfully');
  expect(asked).toEqual({ message: 'Code required' });
  expect(second).toMatchObject({ message: 'Login successful', token: expect.any(String) });
});

it('The console shows the identities of whoever is signed in, and unlinks one', async () => {
  const { admin, adminToken } = service;
  await link(adminToken, newPerson(), { currentPassword: admin.password });
  const { page, complaints } = await openConsole(browser, service, '#/account');
  const unlink = page.getByRole('button', { name: 'Unlink', exact: true });

  await page.getByText(issuer.url).waitFor();
  expect(await violationsIn(page)).toEqual([]);
  await unlink.click();
  await page.getByRole('dialog').getByRole('button', { name: 'Unlink' }).click();
  await page.getByText('No identity of another issuer').waitFor();

  expect(await identitiesOf(await logIn(api, admin))).toEqual([]);
  expect(complaints).toEqual([]);
});
