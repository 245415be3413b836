import { describe, expect, it } from 'vitest';
import { type Config, configFrom } from '../../../lib/ground/settings.ts';

const refusal = (setting: keyof Config, env: Record<string, string>): string => {
  try {
    return `accepted ${configFrom(env)[setting]}`;
  } catch (error) {
    return (error as Error).message;
  }
};

describe('A setting for mails', () => {
  const sound = { MAIL_FROM: 'accounts@example.com', RESET_URL: 'https://app.example.com/reset' };

  it.each([
    ['accounts@example.com', 'https://app.example.com'],
    ['no-reply+x@mail.example.com', 'https://app.example.com:8443/a/b?c=d'],
    ['a@localhost', 'http://localhost:8080/reset'],
    ['a@localhost', 'http://127.0.0.1/'],
    ['a@localhost', 'http://[::1]:8080/'],
    ['a@b', 'https://b'],
    ['My App <no-reply@example.com>', 'https://b'],
    ["Müller & Co.'s <a@b>", 'https://b'],
    [`${'x'.repeat(45)} <a@b>`, 'https://b'],
  ])('is accepted unchanged: %s, %s', (from, url) => {
    const { mailFrom, resetUrl } = configFrom({ MAIL_FROM: from, RESET_URL: url });

    expect([mailFrom, resetUrl]).toEqual([from, url]);
  });

  it.each([
    ...['nobody', '@example.com', 'a@', 'a@b@c', ' <a@b>', 'My App<a@b>', 'My App  <a@b>'],
    ...['My App <a@b> ', 'My App <a@b>, c@d', 'My App <c@d> <a@b>', 'My, App <a@b>'],
    ...['"My App" <a@b>', 'My\r\nBcc: c@d <a@b>', `${'ü'.repeat(23)} <a@b>`, 'a@b,c@d', 'a b@c'],
    ...['a@b\r\nBcc: c@d', 'a@example.com ', 'ä@example.com', '<a@example.com>'],
    ...['a@-example.com', 'a@example.com-', 'a@.example.com', 'a@example_com'],
  ])('is refused as MAIL_FROM: %j', (from) => {
    expect(refusal('mailFrom', { ...sound, MAIL_FROM: from })).toBe(
      'Environment variable MAIL_FROM must be an email address, or one with a name of at most 45 bytes, as in My App <no-reply@example.com>',
    );
  });

  it.each([
    ...['app.example.com', '/reset', 'http://app.example.com/', 'ftp://localhost/', 'https://'],
    ...['javascript:1', 'https://app.example.com/#', 'https://app.example.com/#a'],
    ...['https://u:p@example.com/', 'https://app.example.com/ x', 'https://app.exa\nmple.com/'],
    ...[' https://app.example.com', 'http://localhost.example.com/', 'data:text/html,x'],
    ...['https:x.org/r', 'https:\\\\x.org\\r', 'https:///x.org/r', 'https://x.org\\r'],
    ...['\u0001https://x.org/r', 'https://x.org/\u202er', 'https://x.org/\u007f', 'https://ä.org/'],
  ])('is refused as RESET_URL: %j', (url) => {
    expect(refusal('resetUrl', { ...sound, RESET_URL: url })).toBe(
      'Environment variable RESET_URL must be an https URL without fragment, or an http one of localhost',
    );
  });

  it.each(['My App', 'Müller & Co.', "Ada's", 'x'.repeat(60)])(
    'is accepted as a name: %j',
    (name) => {
      expect(configFrom({ PRODUCT_NAME: name }).productName).toBe(name);
    },
  );

  it.each([' ', 'a ', 'a:b', 'a\nb', 'a\u202eb', '<b>', 'a@b', 'x'.repeat(61)])(
    'is refused as a name: %j',
    (name) => {
      expect(refusal('productName', { PRODUCT_NAME: name })).toMatch(/must be a name/);
    },
  );

  it.each([
    ...['https://app.example.com', 'https://app.example.com/a?b=c#/log-in', 'https://b/#'],
    ...['http://localhost:5173/', 'http://127.0.0.1/#a', 'http://[::1]:8080/'],
    ...['my-app://', 'com.example.app://login?a=b#c', 'MyApp://x', 'blobs://x', 'datax://x'],
  ])('is accepted as RETURN_URL: %j', (url) => {
    expect(configFrom({ RETURN_URL: url }).returnUrl).toBe(url);
  });

  it.each([
    ...[
      'javascript://x/%0aalert(1)',
      'JavaScript://x',
      'javascript:alert(1)',
      'data://text/html,x',
    ],
    ...['data:text/html,x', 'vbscript://x', 'blob://x', 'blob:https://a.example/x', 'file:///etc'],
    ...['about://blank', 'ABOUT:blank', 'my-app:login', 'my-app:/login', '//app.example.com', '/x'],
    ...['app.example.com', 'http://app.example.com/', 'http://localhost.example.com/', 'https://'],
    ...['https:app.example.com', 'https://u:p@app.example.com/', 'https://#a', 'https:\\\\x.org'],
    ...[' javascript://x', '\tjavascript://x', 'java\nscript://x', '\u0001javascript://x'],
    ...['my-app://a b', 'my-app://a\nb', 'my-app://\u202ex', 'https://x.org/#\u202e', '1app://x'],
  ])('is refused as RETURN_URL: %j', (url) => {
    expect(refusal('returnUrl', { ...sound, RETURN_URL: url })).toBe(
      'Environment variable RETURN_URL must be an https URL, an http one of localhost, or one of an app as in my-app://login',
    );
  });
});

describe('The setting of identity providers', () => {
  const google = { issuer: 'https://accounts.google.com', audiences: ['app'] };

  // biome-ignore format: a table
  it.each([
    [[google]],
    [[google, { issuer: 'http://localhost:4000/a', audiences: ['x', 'y'] }]],
    [[{ ...google, issuer: `https://a.example/${'a'.repeat(237)}` }]],
    [[{ ...google, issuer: 'https://a.example/common/v2.0/b' }]],
    [[{ ...google, issuer: 'https://login.microsoftonline.com/9188040d-6c67-4c5b-b112-36a304b66dad/v2.0' }]],
  ])('may be a list of issuers with their audiences: %j', (list) => {
    const IDENTITY_PROVIDERS = JSON.stringify(list);

    expect(configFrom({ IDENTITY_PROVIDERS }).identityProviders).toBe(IDENTITY_PROVIDERS);
  });

  it('is refused with rules for http, for repeated issuers and for tenants of Entra ID', () => {
    expect(refusal('identityProviders', { IDENTITY_PROVIDERS: '[]' })).toMatch(
      /an https URL, or an http one of localhost, .+, each issuer once; of Entra ID a tenant's own issuer, not common, organizations or consumers$/,
    );
  });

  it.each([
    [],
    {},
    'google',
    [null],
    ['https://accounts.google.com'],
    [{ ...google, issuer: 'http://accounts.google.com' }],
    [{ ...google, issuer: 'accounts.google.com' }],
    [{ ...google, issuer: 'https://a.example/#b' }],
    [{ ...google, issuer: 'https://a.example/?b' }],
    [{ ...google, issuer: `https://a.example/${'a'.repeat(238)}` }],
    [{ issuer: google.issuer }],
    [{ ...google, audiences: [] }],
    [{ ...google, audiences: 'app' }],
    [{ ...google, audiences: [''] }],
    [{ ...google, clientSecret: 'x' }],
    [google, { ...google, audiences: ['other'] }],
    [google, { ...google, issuer: 'https://ACCOUNTS.google.com/' }],
    ['https://a.example/b', 'https://a.example/b/'].map((issuer) => ({ ...google, issuer })),
    ...['common', 'organizations', 'consumers', 'Common'].map((tenant) => [
      { ...google, issuer: `https://login.microsoftonline.com/${tenant}/v2.0` },
    ]),
    [{ ...google, issuer: 'https://login.microsoftonline.us/common/v2.0/' }],
  ])('must not be %j', (list) => {
    expect(refusal('identityProviders', { IDENTITY_PROVIDERS: JSON.stringify(list) })).toMatch(
      /IDENTITY_PROVIDERS must be a JSON list of/,
    );
  });
});

describe('PASSKEYS', () => {
  const rpId = 'example.com';
  const origin = 'https://app.example.com';
  const hash = 'a'.repeat(43);

  it.each([
    { rpId, origins: [origin] },
    { rpId, origins: ['https://example.com', 'https://a.b.example.com:8443'] },
    { rpId, origins: [`android:apk-key-hash:${hash}`, 'ios:bundle-id:com.example.app'] },
    { rpId: 'xn--bcher-kva.example', origins: ['https://xn--bcher-kva.example'] },
    { rpId: 'localhost', origins: ['http://localhost:3000', 'https://localhost'] },
    { rpId: 'app.localhost', origins: ['http://app.localhost:3000'] },
  ])('may be %j', (value) => {
    const PASSKEYS = JSON.stringify(value);

    expect(configFrom({ PASSKEYS }).passkeys).toBe(PASSKEYS);
  });

  it.each([
    null,
    [],
    'example.com',
    { rpId },
    { origins: [origin] },
    { rpId, origins: [] },
    { rpId, origins: origin },
    { rpId, origins: [null] },
    { rpId, origins: [origin], userVerification: 'preferred' },
    { rpId: 'com', origins: ['https://app.com'] },
    { rpId: 'Example.com', origins: ['https://Example.com'] },
    { rpId: 'https://example.com', origins: [origin] },
    { rpId: '192.0.2.1', origins: ['https://192.0.2.1'] },
    { rpId: '', origins: [origin] },
    { rpId, origins: ['https://example.org'] },
    { rpId, origins: ['https://notexample.com'] },
    { rpId, origins: ['https://example.com.evil.test'] },
    { rpId, origins: [origin, 'http://app.example.com'] },
    { rpId, origins: ['http://localhost:3000'] },
    { rpId, origins: ['https://app.example.com/'] },
    { rpId, origins: ['https://APP.example.com'] },
    { rpId, origins: ['https://app.example.com:443'] },
    { rpId, origins: ['https://user@app.example.com'] },
    { rpId, origins: ['*'] },
    { rpId, origins: ['null'] },
    { rpId, origins: [`android:apk-key-hash:${hash}a`] },
    { rpId, origins: ['android:com.example.app', 'ios:'] },
    { rpId, origins: [['ios:bundle-id:com.example.app']] },
    { rpId, origins: ['x-ios:bundle-id:com.example.app'] },
    { rpId, origins: Array.from({ length: 50 }, () => origin) },
  ])('must not be %j', (value) => {
    expect(refusal('passkeys', { PASSKEYS: JSON.stringify(value) })).toMatch(
      /^Environment variable PASSKEYS must be JSON of at most 1,024 characters \{"rpId": [^.]+$/,
    );
  });
});
