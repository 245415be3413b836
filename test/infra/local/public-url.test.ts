/** The service behind a reverse proxy, whose part the tests take: they connect from this machine. */
import { describe, expect, it } from 'vitest';
import { readLocalSettings } from '../../../infra/local-settings.ts';
import { entriesOf, uniqueAgent } from '../../support/acceptance.ts';
import { register } from '../../support/client.ts';
import { mailingServiceForThisFile } from '../../support/mailbox.ts';

const PUBLIC_URL = 'https://accounts.example.com';

const service = await mailingServiceForThisFile({
  PUBLIC_URL,
  RESET_URL: '',
  TOKEN_SIGNING: 'RS256',
  LOGIN_FAILURES_PER_ADDRESS: '1000',
});
const { api, mailbox, output } = service;

describe('With PUBLIC_URL', () => {
  it('mailed links lead to the public URL', async () => {
    const { email } = await register(api);

    await api('POST', '/api/password-resets', { json: { email } });

    const [mail] = await mailbox.mailsTo(email);
    expect(mail?.text).toContain(`\n${PUBLIC_URL}/account/reset#token=`);
    expect(mail?.text).toContain('at accounts.example.com,');
    expect(mail?.text).not.toContain('localhost');
  });

  it('the public URL is the issuer of tokens that others verify, and the server of the document', async () => {
    const headers = { host: 'evil.example', 'x-forwarded-proto': 'http' };
    const issuer = await api('GET', '/.well-known/openid-configuration', { headers });
    const document = await api('GET', '/openapi.json', { headers });

    expect(issuer.body).toMatchObject({
      issuer: PUBLIC_URL,
      jwks_uri: `${PUBLIC_URL}/.well-known/jwks.json`,
    });
    expect(document.body.servers).toEqual([{ url: PUBLIC_URL }]);
  });

  it('the start prints the public URL beside the address to which the proxy leads', () => {
    expect(output()).toMatch(/^Console: +https:\/\/accounts\.example\.com\/console$/m);
    expect(output()).toMatch(/^Docs: +https:\/\/accounts\.example\.com\/docs$/m);
    expect(output()).toMatch(
      /^Service: +http:\/\/localhost:\d+ behind https:\/\/accounts\.example\.com \(/m,
    );
  });

  it('the source of a request is the address that the proxy has added', async () => {
    const agent = uniqueAgent();
    const headers = { 'user-agent': agent, 'x-forwarded-for': '198.51.100.1, 203.0.113.9' };

    await api('POST', '/api/login', { json: service.admin, headers });

    const [entry] = await entriesOf(service, agent);
    expect(entry).toMatchObject({ ip_address: '203.0.113.9', user_agent: agent });
  });
});

describe('PUBLIC_URL', () => {
  it.each([
    'https://accounts.example.com',
    'http://accounts.internal:8080',
    'https://[2001:db8::1]',
  ])('accepts the origin %s', (url) => {
    expect(readLocalSettings({ PUBLIC_URL: url }).publicUrl).toBe(url);
  });

  it.each([
    'https://accounts.example.com/',
    'https://accounts.example.com/path',
    'https://accounts.example.com:443',
    'https://ada@accounts.example.com',
    'accounts.example.com',
    'ws://accounts.example.com',
    '*',
  ])('is refused if it is not an origin: %s', (url) => {
    expect(() => readLocalSettings({ PUBLIC_URL: url })).toThrow(
      'Environment variable PUBLIC_URL must be an http or https origin without a final slash, such as https://accounts.example.com',
    );
  });
});
