import { describe, expect, it } from 'vitest';
import { serviceForThisFile } from '../support/acceptance.ts';
import { register } from '../support/client.ts';
import { mailingServiceForThisFile } from '../support/mailbox.ts';

const pages = ['reset', 'verify', 'invitation'];

const withoutMails = await serviceForThisFile();
const own = await mailingServiceForThisFile({
  RESET_URL: '',
  EMAIL_VERIFICATION: 'on',
  CONSOLE: 'off',
  MAIL_LANGUAGE: 'de',
});
const others = await mailingServiceForThisFile();

describe('GET /account/reset, /account/verify and /account/invitation', () => {
  it.each(pages)(
    'is a page with the policy of the console, also where that is off: %s',
    async (page) => {
      const { status, headers, text } = await own.api('GET', `/account/${page}`);
      const console = await withoutMails.api('GET', '/console');
      const files = [...text.matchAll(/ (?:href|src)="(\/[^"]*)"/g)].map(([, path = '']) => path);

      expect(status).toBe(200);
      expect(Object.fromEntries(headers)).toMatchObject({
        'content-type': 'text/html; charset=utf-8',
        'content-security-policy': console.headers.get('content-security-policy'),
        'cross-origin-opener-policy': 'same-origin',
        'referrer-policy': 'no-referrer',
        'cache-control': 'no-cache',
        vary: 'Accept-Language',
      });
      expect(files).toEqual([
        expect.stringMatching(/^\/console\/style\.[0-9a-f]{16}\.css$/),
        expect.stringMatching(/^\/console\/notices\.[0-9a-f]{16}\.txt$/),
        expect.stringMatching(/^\/console\/link\.[0-9a-f]{16}\.js$/),
      ]);
      for (const file of files) expect((await own.api('GET', file)).status).toBe(200);
      expect((await own.api('GET', '/console')).status).toBe(404);
    },
  );

  it.each([
    ['en-GB, de;q=0.5', 'en'],
    ['fr, de-AT;q=0.9, en;q=0.5', 'de'],
    ['fr', 'de'],
    ['', 'de'],
  ])(
    'is in the language that the browser prefers, or that of mails: %j',
    async (wanted, language) => {
      const headers = { 'accept-language': wanted };
      const { text, headers: answered } = await own.api('GET', '/account/reset', { headers });
      const again = await own.api('GET', '/account/reset', {
        headers: { ...headers, 'if-none-match': answered.get('etag') ?? '' },
      });

      expect(text).toContain(`<html lang="${language}">`);
      expect(again.status).toBe(304);
    },
  );

  it('is 404 without mails, and where the settings name another page', async () => {
    const statusesOf = ({ api }: typeof withoutMails) =>
      Promise.all(pages.map(async (page) => (await api('GET', `/account/${page}`)).status));

    expect(await statusesOf(withoutMails)).toEqual([404, 404, 404]);
    expect(await statusesOf(others)).toEqual([404, 404, 404]);
  });
});

it('A link leads to the address of the service, whatever host a request names', async () => {
  const { email } = await register(own.api);

  await own.api('POST', '/api/password-resets', {
    json: { email },
    headers: { 'x-forwarded-host': 'evil.example', forwarded: 'host=evil.example' },
  });

  const mails = await own.mailbox.mailsTo(email, 2);
  const links = mails.map(({ text }) => /http\S+/.exec(text)?.[0].replace(/=.*/, ''));
  expect(links.sort()).toEqual([
    `${own.url}/account/reset#token`,
    `${own.url}/account/verify#token`,
  ]);
});
