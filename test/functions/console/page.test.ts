import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { mark } from '../../../functions/console/mark.ts';
import { renderPage } from '../../../functions/console/page.ts';
import { configFrom } from '../../../lib/ground/settings.ts';
import { serviceForThisFile } from '../../support/acceptance.ts';
import { mailSettings } from '../../support/mailbox.ts';

const { api } = await serviceForThisFile();

const document = JSON.parse(readFileSync('functions/openapi.json', 'utf8'));

const dataIn = (page: string) =>
  JSON.parse(
    /<script type="application\/json" id="settings">(.*?)<\/script>/.exec(page)?.[1] ?? '',
  );

/** The files that a page loads before it is shown. */
const first = / (?:src|rel="(?:stylesheet|modulepreload)" href)="([^"]*)"/g;

/** The files that a script imports before it runs. */
const imports = /\b(?:from|import)"\.\/([^"]*)"/g;

describe('GET /.well-known/change-password', () => {
  it('leads password managers to the account page of the console', async () => {
    const { status, headers } = await api('GET', '/.well-known/change-password');

    expect([status, headers.get('location')]).toEqual([302, '/console#/account']);
  });
});

describe('GET /console', () => {
  it('is a page that loads only its own files for its script and its styles', async () => {
    const { text } = await api('GET', '/console');
    const links = [...text.matchAll(/ (?:href|src)="([^"]*)"/g)].map(([, link = '']) => link);

    expect(links).toEqual([
      mark(),
      expect.stringMatching(/^\/console\/style\.[0-9a-f]{16}\.css$/),
      expect.stringMatching(/^\/console\/notices\.[0-9a-f]{16}\.txt$/),
      expect.stringMatching(/^\/console\/chunk\.[0-9A-Z]{8}\.js$/),
      expect.stringMatching(/^\/console\/chunk\.[0-9A-Z]{8}\.js$/),
      expect.stringMatching(/^\/console\/main\.[0-9a-f]{16}\.js$/),
    ]);
    for (const file of links.slice(1)) expect((await api('GET', file)).status).toBe(200);
  });

  it('needs at most 40 KB before the page is shown, in files that the page itself names', async () => {
    const headers = { 'accept-encoding': 'gzip, br' };
    const page = await api('GET', '/console', { headers });
    const files = [...page.text.matchAll(first)].map(([, file = '']) => file);

    const responses = await Promise.all(files.map((file) => api('GET', file, { headers })));

    const sizes = [page, ...responses].map((each) => Number(each.headers.get('content-length')));
    expect(sizes.reduce((sum, size) => sum + size, 0)).toBeLessThan(40_000);
    expect(Math.min(...sizes)).toBeGreaterThan(0);
    const imported = responses.flatMap(({ text }) => [...text.matchAll(imports)]);
    expect([...new Set(imported.map(([, file]) => `/console/${file}`))].sort()).toEqual(
      files.filter((file) => file.includes('/chunk.')).sort(),
    );
  });

  it('loads the code of options later, from files that clients may cache for ever', async () => {
    const page = await api('GET', '/console');
    const texts = await Promise.all(
      [...page.text.matchAll(first)].map(async ([, file = '']) => (await api('GET', file)).text),
    );
    const later = texts.flatMap((text) => [...text.matchAll(/\bimport\("\.\/([^"]*)"\)/g)]);

    const names = [...new Set(later.map(([, file = '']) => file))].sort();
    expect(names).toEqual([
      expect.stringMatching(/^optional\.[0-9A-Z]{8}\.js$/),
      expect.stringMatching(/^passkey-code\.[0-9A-Z]{8}\.js$/),
    ]);
    for (const name of names) {
      const { status, headers } = await api('GET', `/console/${name}`);
      expect([status, headers.get('content-type'), headers.get('cache-control')]).toEqual([
        200,
        'text/javascript; charset=utf-8',
        'public, max-age=31536000, immutable',
      ]);
    }
  });

  it('links to the notices of third parties, because its bundle has no comments', async () => {
    const [, path = ''] =
      /<link rel="license" href="([^"]*)">/.exec((await api('GET', '/console')).text) ?? [];
    const { headers, text: notices } = await api('GET', path);

    expect(headers.get('content-type')).toBe('text/plain; charset=utf-8');
    for (const name of ['preact', 'lean-qr']) {
      expect(notices).toMatch(new RegExp(`^${name} \\d`, 'm'));
    }
    expect(notices).toContain('Permission is hereby granted');
  });

  it('forbids by its policy content from elsewhere and scripts that write HTML', async () => {
    const { headers } = await api('GET', '/console');

    expect(headers.get('content-security-policy')).toBe(
      "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'",
    );
  });

  it('has the name of the product in its title', () => {
    const page = renderPage(configFrom({ PRODUCT_NAME: 'A & B' }), {});

    expect(page).toContain('<title>A &#38; B console</title>');
    expect(dataIn(page).product).toBe('A & B');
    expect(renderPage(configFrom({}), {})).toContain('<title>Accounts console</title>');
  });

  it('contains the settings in force', () => {
    const settings = { SESSION_DAYS: '90', PASSWORD_MIN_LENGTH: '15', DOCS: 'off' };

    expect(dataIn(renderPage(configFrom({}), { 'meanings.json': 'meanings.0.json' }))).toEqual({
      product: 'Accounts',
      sessions: false,
      identities: false,
      secondFactor: 'off',
      passwordMinLength: 1,
      emailPattern: document.components.schemas.NewUser.properties.email.pattern,
      passwordReset: false,
      mailLanguage: 'en',
      auditSeal: 'on',
      sealed: false,
      docs: 'on',
      auditDetail: 'standard',
      meanings: '/console/meanings.0.json',
    });
    const PASSKEYS = '{"rpId":"example.com","origins":["https://app.example.com"]}';
    const all = { ...settings, ...mailSettings, PASSKEYS };
    expect(dataIn(renderPage(configFrom(all), {}))).toMatchObject({
      sessions: true,
      passkeys: JSON.parse(PASSKEYS),
      passwordMinLength: 15,
      passwordReset: true,
      docs: 'off',
    });
    const verifying = { ...mailSettings, EMAIL_VERIFICATION: 'on' };
    expect(dataIn(renderPage(configFrom(verifying), {}))).toMatchObject({ verification: true });
  });
});

describe('GET /', () => {
  it('leads to the console', async () => {
    const { status, headers } = await api('GET', '/');

    expect([status, headers.get('location')]).toEqual([302, '/console']);
  });
});

describe('GET /console/{file}', () => {
  it.each(['names.json', 'main.js', 'constructor'])(
    'answers 404 to a name that the page does not have: %s',
    async (name) => {
      const { status, body } = await api('GET', `/console/${name}`);

      expect([status, body]).toEqual([404, { message: 'Not Found' }]);
    },
  );
});
