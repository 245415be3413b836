import { afterEach, describe, expect, it, vi } from 'vitest';
import { configFrom } from '../../../../lib/ground/settings.ts';
import { hasPage, type LinkPage, urlOf } from '../../../../lib/options/links/page.ts';

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
  ])('only where mails lead to it: with %o %j', (env, own) => {
    expect(pages.filter((page) => hasPage(page, configFrom(env)))).toEqual(own);
  });
});

describe('A link leads', () => {
  afterEach(() => void vi.unstubAllEnvs());

  it.each([
    ['', '', 'https://api.example.com/account/'],
    [RESET_URL, VERIFY_URL, 'https://app.example.com/'],
  ])('with RESET_URL=%s and VERIFY_URL=%s to pages of %s', (resetUrl, verifyUrl, base) => {
    vi.stubEnv('API_URL', 'https://api.example.com');
    vi.stubEnv('RESET_URL', resetUrl);
    vi.stubEnv('VERIFY_URL', verifyUrl);

    expect([urlOf('reset'), urlOf('verify')]).toEqual([`${base}reset`, `${base}verify`]);
  });

  it('for an invitation to the page of RESET_URL, which sets a password too', () => {
    vi.stubEnv('API_URL', 'https://api.example.com');
    const own = urlOf('invitation');
    vi.stubEnv('RESET_URL', RESET_URL);

    expect([own, urlOf('invitation')]).toEqual([
      'https://api.example.com/account/invitation',
      RESET_URL,
    ]);
  });
});
