import { describe, expect, it } from 'vitest';
import { serviceForThisFile } from '../support/acceptance.ts';
import { register, uniqueEmail } from '../support/client.ts';
import { mailingServiceForThisFile } from '../support/mailbox.ts';
import { setFieldsOf } from '../support/reset-tokens.ts';

const pages = ['reset', 'verify', 'invitation'];

const withoutMails = await serviceForThisFile();
const own = await mailingServiceForThisFile({
  RESET_URL: '',
  EMAIL_VERIFICATION: 'on',
  CONSOLE: 'off',
  MAIL_LANGUAGE: 'de',
});
const others = await mailingServiceForThisFile();
const named = await mailingServiceForThisFile({
  RESET_URL: 'https://accounts.example.com/account/reset',
});

describe('GET /account/reset, /account/verify and /account/invitation', () => {
  it.each(pages)(
    'is a page with the policy of the console, also where the console is off: %s',
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
        vary: 'Accept-Encoding, Accept-Language',
      });
      expect(files).toEqual([
        expect.stringMatching(/^\/console\/style\.[0-9a-f]{16}\.css$/),
        expect.stringMatching(/^\/console\/notices\.[0-9a-f]{16}\.txt$/),
        expect.stringMatching(/^\/console\/link-form\.[0-9a-f]{16}\.js$/),
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
    'is in the language that the browser prefers, or in the language of mails: %j',
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
    // A setting that names the service's own page does not turn the page off.
    expect(await statusesOf(named)).toEqual([200, 404, 200]);
  });
});

describe('GET /account/{page}, for a link whose # a mail gateway has encoded,', () => {
  const follow = async (path: string, { api } = own) => {
    const { status, headers } = await api('GET', path);
    return [status, headers.get('location')];
  };
  const whole = '#token=1.a-_&email=ada%2Bx%40example.com';

  it.each([
    // Only the # is encoded; or everything after it too, once, or twice where a second gateway encodes it again.
    ['/account/reset%23token=1.a-_&email=ada%2Bx%40example.com', `/account/reset${whole}`],
    [
      '/account/reset%23token%3D1.a-_%26email%3Dada%252Bx%2540example.com',
      `/account/reset${whole}`,
    ],
    ['/account/reset%2523token%3D1.a-_', '/account/reset#token=1.a-_'],
    ['/account/verify%23token=1.a-_', '/account/verify#token=1.a-_'],
    ['/account/invitation%23token=1.a-_', '/account/invitation#token=1.a-_'],
    ['/account/reset%23', '/account/reset#'],
    ['/account/reset%23token=%0D%0ASet-Cookie:x', '/account/reset#token=%0D%0ASet-Cookie%3Ax'],
    ['/account/reset%23%2F%2Fevil.example', '/account/reset#%2F%2Fevil.example='],
  ])(
    'redirects to the page, with the text after the # as the fragment: %s',
    async (path, location) => {
      expect(await follow(path)).toEqual([302, location]);
    },
  );

  it.each([
    '/account/resets%23token=1.a',
    '/account/RESET%23token=1.a',
    '/account/x',
    '/account/%23reset',
    '/account/',
  ])('is 404 if the path names no page: %s', async (path) => {
    expect(await follow(path)).toEqual([404, null]);
  });

  it('is 404 if the service does not have the page', async () => {
    expect(await follow('/account/verify%23token=1.a', named)).toEqual([404, null]);
    expect(await follow('/account/reset%23token=1.a', others)).toEqual([404, null]);
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
  expect(new URL(/http\S+/.exec(mails[0]?.text ?? '')?.[0] ?? '').hash).toMatch(
    new RegExp(`^#token=[\\w.-]+&email=${encodeURIComponent(email)}$`),
  );
  expect(links.sort()).toEqual([
    `${own.url}/account/reset#token`,
    `${own.url}/account/verify#token`,
  ]);
});

it('The link of an invitation leads an auditor on to the console, and nobody else', async () => {
  const { api, adminToken: token, mailbox, environment } = own;
  const password_hash = `$2b$04$${'.'.repeat(53)}`;
  const invite = async (fields: object) => {
    const json = { name: 'Ada', email: uniqueEmail(), password: 'a password' };
    const { id } = (await api('POST', '/api/users', { token, json })).body;
    await setFieldsOf(environment, id, { password_hash, email_verified: false, ...fields });
    await api('POST', `/api/users/${id}/invitations`, { token });
    const [mail] = await mailbox.mailsTo(json.email);
    return mail?.text;
  };

  expect(await invite({ auditor: true })).toContain('&to=console');
  expect(await invite({})).not.toContain('to=console');
});
