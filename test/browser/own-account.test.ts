import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, expect, it } from 'vitest';
import { uniqueEmail } from '../support/client.ts';
import { mailingServiceForThisFile } from '../support/mailbox.ts';
import { mailedToken, verificationSettings } from '../support/verification.ts';
import { startBrowser } from './chromium.ts';

/** The web app, on an origin of its own. */
const app = createServer((_, response) =>
  response.setHeader('content-type', 'text/html').end(html()),
);
app.listen(0, 'localhost');
await once(app, 'listening');
afterAll(() => app.close());
const verifyUrl = `http://localhost:${(app.address() as AddressInfo).port}/verify`;

const service = await mailingServiceForThisFile({
  ...verificationSettings.required,
  VERIFY_URL: verifyUrl,
});
const browser = await startBrowser();
afterAll(() => browser.close());

const html = (): string => `<!doctype html><title>App</title><script>
const token = new URLSearchParams(location.hash.slice(1)).get('token');
const send = async (method, path, json) => {
  const headers = { 'Content-Type': 'application/json' };
  const response = await fetch(${JSON.stringify(service.url)} + path, { method, headers, body: JSON.stringify(json) });
  return [response.status, response.headers.get('Error-Code')];
};
</script>`;

it('A page of another origin registers a user, who verifies the address by the mailed link', async () => {
  const page = await browser.newPage();
  const send = (method: string, path: string, json: string) =>
    page.evaluate(`send('${method}', '${path}', ${json})`).catch((error: Error) => error.message);
  const account = { name: 'Ada', email: uniqueEmail(), password: 'a long password' };
  const json = JSON.stringify(account);

  await page.goto(new URL('/', verifyUrl).href);
  const registered = await send('POST', '/api/auth/register', json);
  const early = await send('POST', '/api/login', json);
  const link = `${verifyUrl}#token=${await mailedToken(service, account.email)}`;
  await page.goto(link);
  // A program that scans mails opens the link too, and uses nothing up.
  await page.goto('about:blank');
  await page.goto(link);
  const confirmation = (password: string) => `{ token, password: ${JSON.stringify(password)} }`;
  const wrong = await send('PUT', '/api/email-verifications', confirmation('wrong'));
  const verified = await send('PUT', '/api/email-verifications', confirmation(account.password));
  const later = await send('POST', '/api/login', json);

  expect([registered, early, wrong, verified, later]).toEqual([
    [201, null],
    [403, 'EMAIL_NOT_VERIFIED'],
    [403, 'CURRENT_PASSWORD_WRONG'],
    [204, null],
    [200, null],
  ]);
});
