import { afterEach, describe, expect, it, vi } from 'vitest';
import { configFrom } from '../../../../lib/ground/settings.ts';
import { hasPage, type LinkPage, linkTo, urlOf } from '../../../../lib/options/links/page.ts';

const pages: readonly LinkPage[] = ['reset', 'verify', 'invitation'];
const MAIL_FROM = 'accounts@example.com';
const RESET_URL = 'https://app.example.com/reset';
const VERIFY_URL = 'https://app.example.com/verify';
const EMAIL_VERIFICATION = 'on';

describe('The service has a page of its own', () => {
  it.each([
    [{}, []],
    [{ MAIL_FROM }, ['reset', 'invitation']],
    [{ MAIL_FROM, EMAIL_VERIFICATION }, ['reset', 'verify', 'invitation']],
    [{ MAIL_FROM, EMAIL_VERIFICATION, RESET_URL }, ['verify']],
    [{ MAIL_FROM, EMAIL_VERIFICATION, VERIFY_URL }, ['reset', 'invitation']],
    [{ MAIL_FROM, EMAIL_VERIFICATION, RESET_URL, VERIFY_URL }, []],
    // Settings that name the page of the service itself, on whatever host the service is reached.
    [{ MAIL_FROM, RESET_URL: 'https://a.example/account/reset' }, ['reset', 'invitation']],
    [{ MAIL_FROM, RESET_URL: 'https://a.example/account/invitation' }, ['reset', 'invitation']],
    [{ MAIL_FROM, RESET_URL: 'https://a.example/account/verify' }, []],
    [{ MAIL_FROM, RESET_URL: 'https://a.example/x/account/reset' }, []],
    [
      { MAIL_FROM, EMAIL_VERIFICATION, RESET_URL, VERIFY_URL: 'https://a.example/account/verify' },
      ['verify'],
    ],
    [{ MAIL_FROM, VERIFY_URL: 'https://a.example/account/verify' }, ['reset', 'invitation']],
  ])('only if mails link to it: the settings %o have the pages %j', (env, own) => {
    expect(pages.filter((page) => hasPage(page, configFrom(env)))).toEqual(own);
  });
});

describe('A link', () => {
  afterEach(() => void vi.unstubAllEnvs());

  it.each([
    ['', '', 'https://api.example.com/account/'],
    [RESET_URL, VERIFY_URL, 'https://app.example.com/'],
  ])(
    'with RESET_URL=%s and VERIFY_URL=%s leads to the pages of %s',
    (resetUrl, verifyUrl, base) => {
      vi.stubEnv('API_URL', 'https://api.example.com');
      vi.stubEnv('RESET_URL', resetUrl);
      vi.stubEnv('VERIFY_URL', verifyUrl);

      expect([urlOf('reset'), urlOf('verify')]).toEqual([`${base}reset`, `${base}verify`]);
    },
  );

  it('for an invitation leads to the page of RESET_URL, because that page sets a password too', () => {
    vi.stubEnv('API_URL', 'https://api.example.com');
    const own = urlOf('invitation');
    vi.stubEnv('RESET_URL', RESET_URL);

    expect([own, urlOf('invitation')]).toEqual([
      'https://api.example.com/account/invitation',
      RESET_URL,
    ]);
  });
});

describe('The link of a mail', () => {
  const link = { token: '1.a-_', email: "ada+x&o'neil@müller.example" };
  const account = '&email=ada%2Bx%26o%27neil%40m%C3%BCller.example';
  const base = 'https://api.example.com';
  afterEach(() => void vi.unstubAllEnvs());

  // biome-ignore format: a table
  it.each([
    ['reset', {}, `${base}/account/reset#token=1.a-_${account}`],
    ['verify', {}, `${base}/account/verify#token=1.a-_${account}`],
    ['invitation', {}, `${base}/account/invitation#token=1.a-_${account}`],
    ['reset', { RESET_URL }, `${RESET_URL}#token=1.a-_`],
    ['verify', { RESET_URL }, `${base}/account/verify#token=1.a-_${account}`],
    ['verify', { VERIFY_URL }, `${VERIFY_URL}#token=1.a-_`],
    ['invitation', { RESET_URL }, `${RESET_URL}#token=1.a-_`],
    // The app on another host may have a page with the same path.
    ['reset', { RESET_URL: 'https://a.example/account/reset' }, 'https://a.example/account/reset#token=1.a-_'],
    ['reset', { RESET_URL: `${base}/account/reset` }, `${base}/account/reset#token=1.a-_${account}`],
    ['invitation', { RESET_URL: `${base}/account/reset` }, `${base}/account/invitation#token=1.a-_${account}`],
  ] as const)(
    'has the address after the token if it leads to a page of the service: %s, %o',
    (page, environment, expected) => {
      vi.stubEnv('API_URL', base);
      for (const [name, value] of Object.entries(environment)) vi.stubEnv(name, value);

      expect(linkTo(page, link)).toBe(expected);
    },
  );

  it.each([
    ['invitation', {}, true],
    ['invitation', { RESET_URL }, false],
    ['reset', {}, false],
  ] as const)(
    'leads an auditor to the console afterwards: %s, %o: %j',
    (page, environment, expected) => {
      vi.stubEnv('API_URL', base);
      for (const [name, value] of Object.entries(environment)) vi.stubEnv(name, value);

      expect(linkTo(page, { ...link, isAuditor: true }).endsWith('&to=console')).toBe(expected);
    },
  );
});
