import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { isFinal, isMailable, send } from '../../../lib/mail/send.ts';

describe('isMailable', () => {
  it.each([
    ...['ada@example.org', "o'hara+x&co@example.org", 'a@b', '!#$%*/=?^_`{|}~-.@b'],
    ...['=?@b', '?=@b', '=?=@b', '=?utf-8?=@b', '=?utf-8?q?=@b', '=?utf-8?x?a?=@b'],
    ...['utf-8?q?a?=@b', '=?utf-8?q?a@b', '??q??@b', 'a=?b?=c@b'],
  ])('takes %s', (address) => {
    expect(isMailable(address)).toBe(true);
  });

  it.each([
    ...['=?utf-8?q?x?=@b', '=?UTF-8?Q?x?=@b', '=?utf-8?b?eA==?=@b', '=?utf-8?B?eA==?=@b'],
    ...['=?iso-8859-1*en?q?a=40b=2C?=@b', '=?utf-8?q??=@b', '=?x?q?a?b?=@b'],
    ...['a=?utf-8?q?x?=@b', '=?utf-8?q?x?=a@b', 'a.=?utf-8?q?x?=.=?utf-8?q?y?=@b'],
    ...['=??q?x?=@b', '=?utf-8?q?a@b?=', 'a@=?utf-8?q?b?='],
  ])('refuses %s, which has a MIME encoded-word in it', (address) => {
    expect(isMailable(address)).toBe(false);
  });

  const misread = [...',;:<>()[]"\\ \t\n\u0000\u007fäа\u202e'];
  it.each(misread)('refuses %j anywhere, which may have an address be read as another', (one) => {
    const addresses = [
      `${one}a@b`,
      `a${one}a@b`,
      `a${one}@b`,
      `a@${one}b`,
      `a@b${one}b`,
      `a@b${one}`,
    ];

    expect(addresses.filter(isMailable)).toEqual([]);
  });

  it.each(['', 'a', '@', 'a@', '@b', 'a@b@c', 'a@@b'])('refuses %j, which is none', (address) => {
    expect(isMailable(address)).toBe(false);
  });
});

describe('send', () => {
  const requests: unknown[] = [];
  let refusal: { readonly type: string; readonly message: string } | undefined;
  const server = createServer(async (request, response) => {
    let body = '';
    for await (const chunk of request) body += chunk;
    requests.push({ url: request.url, body: JSON.parse(body) });
    const type = refusal ? { 'x-amzn-errortype': refusal.type } : {};
    response.writeHead(refusal ? 400 : 200, { 'content-type': 'application/json', ...type });
    response.end(JSON.stringify({ message: refusal?.message }));
  });
  beforeAll(async () => {
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const environment = {
      AWS_ENDPOINT_URL_SESV2: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
      ...{ AWS_REGION: 'eu-west-1', AWS_ACCESS_KEY_ID: 'local', AWS_SECRET_ACCESS_KEY: 'local' },
      ...{ MAIL_FROM: 'accounts@example.com', RESET_URL: 'https://app.example.com/reset' },
    };
    for (const [name, value] of Object.entries(environment)) vi.stubEnv(name, value);
  });
  afterAll(() => {
    vi.unstubAllEnvs();
    server.closeAllConnections();
    server.close();
  });

  const mail = { subject: 'Grüße', text: 'schöne', html: '<p>schöne</p>' };

  it('asks SES once to send both forms to one address, in UTF-8', async () => {
    await send('ada@example.org', mail);

    const utf8 = (Data: string) => ({ Data, Charset: 'UTF-8' });
    expect(requests).toEqual([
      {
        url: '/v2/email/outbound-emails',
        body: {
          FromEmailAddress: 'accounts@example.com',
          Destination: { ToAddresses: ['ada@example.org'] },
          Content: {
            Simple: {
              Subject: utf8('Grüße'),
              Body: { Text: utf8('schöne'), Html: utf8('<p>schöne</p>') },
            },
          },
        },
      },
    ]);
  });

  it.each([
    ['BadRequestException', 'broken', true],
    ['BadRequestException', 'Email address is not verified', true],
    ['MessageRejected', 'broken', true],
    ['MessageRejected', 'Email address is Not Verified', false],
    ['AccountSuspendedException', 'broken', false],
    ['NotFoundException', 'broken', false],
  ])('fails by the name of %s (%s), which is final: %s', async (type, text, final) => {
    refusal = { type, message: `${text}: to ada@example.org` };

    const error = await send('ada@example.org', mail).catch((reason) => reason);

    expect(error).toBeInstanceOf(Error);
    expect([error.name, isFinal(error)]).toEqual([type, final]);
    expect(`${error.message} ${error.cause}`).not.toContain('ada@');
  });

  it('is the only one whose errors are final', () => {
    expect(isFinal(Object.assign(new Error(), { name: 'BadRequestException' }))).toBe(false);
    expect(isFinal(undefined)).toBe(false);
  });
});
