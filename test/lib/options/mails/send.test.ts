import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { isFinal, noticeMail, resetMail, send } from '../../../../lib/options/mails/send.ts';
import { startLoopback } from '../../../support/loopback.ts';

describe('send', () => {
  const requests: unknown[] = [];
  let refusal: { readonly type: string; readonly message: string } | undefined;
  beforeAll(async () => {
    const { url, stop } = await startLoopback((request, body, response) => {
      requests.push({ url: request.url, body: JSON.parse(body) });
      const type = refusal ? { 'x-amzn-errortype': refusal.type } : {};
      response.writeHead(refusal ? 400 : 200, { 'content-type': 'application/json', ...type });
      response.end(JSON.stringify({ message: refusal?.message }));
    });
    const environment = {
      AWS_ENDPOINT_URL_SESV2: url,
      AWS_REGION: 'eu-west-1',
      AWS_ACCESS_KEY_ID: 'local',
      AWS_SECRET_ACCESS_KEY: 'local',
      MAIL_FROM: 'accounts@example.com',
      RESET_URL: 'https://app.example.com/reset',
    };
    for (const [name, value] of Object.entries(environment)) vi.stubEnv(name, value);
    return stop;
  });
  afterAll(() => void vi.unstubAllEnvs());

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
    ['My App <a@example.com>', '"My App" <a@example.com>'],
    ['Müller <a@example.com>', '=?UTF-8?B?TcO8bGxlcg==?= <a@example.com>'],
  ])('has the sender %s as %s', async (from, header) => {
    vi.stubEnv('MAIL_FROM', from);
    await send('ada@example.org', mail);
    vi.stubEnv('MAIL_FROM', 'accounts@example.com');

    expect(requests.at(-1)).toMatchObject({ body: { FromEmailAddress: header } });
  });

  it.each([
    ['BadRequestException', 'broken', true],
    ['BadRequestException', 'Email address is not verified', true],
    ['MessageRejected', 'broken', true],
    ['MessageRejected', 'Email address is Not Verified', false],
    ['AccountSuspendedException', 'broken', false],
    ['NotFoundException', 'broken', false],
  ])('fails with the name of %s (%s), final: %s', async (type, text, final) => {
    refusal = { type, message: `${text}: to ada@example.org` };

    const error = await send('ada@example.org', mail).catch((reason) => reason);

    expect(error).toBeInstanceOf(Error);
    expect([error.name, isFinal(error)]).toEqual([type, final]);
    expect(`${error.message} ${error.cause}`).not.toContain('ada@');
  });

  it('throws the only errors that are final', () => {
    expect(isFinal(Object.assign(new Error(), { name: 'BadRequestException' }))).toBe(false);
    expect(isFinal(undefined)).toBe(false);
  });
});

const source = {
  request_id: 'r',
  ip_address: '192.0.2.1',
  user_agent: 'agent',
  time: '2026-11-21T09:05:30.123Z',
};
const reset = { kind: 'reset', email: 'typed@example.org', ...source } as const;
const link = {
  email: 'ada@example.org',
  resetUrl: 'https://app.example.com/x?a=1&b=2',
  token: '1.t',
};

describe('A mail with a link', () => {
  it('has a subject that says what the link is for', () => {
    expect(resetMail(reset, link).subject).toBe('Choose a new password');
  });

  it('says what was asked for, when, from where, and what to do if it was not you', () => {
    expect(
      resetMail(reset, link).text,
    ).toBe(`Somebody asked for a new password for the account ada@example.org at app.example.com, on 2026-11-21 at 09:05 UTC, from the IP address 192.0.2.1.

If it was you, open this link within 30 minutes and choose a new password. It works once, and only the newest link does.

https://app.example.com/x?a=1&b=2#token=1.t

If it was not you, there is nothing to do: your password stays as it is, and whoever asked has not seen this mail. Give the link to nobody. Nobody who works for the site will ask for it.
`);
  });

  it('says, where somebody registers a taken address, that it finishes a registration too', () => {
    const paragraphs = resetMail({ ...reset, isTaken: true }, link).text.split('\n\n');

    expect(paragraphs.slice(0, 2)).toEqual([
      'Somebody asked for an account with the address ada@example.org at app.example.com, which has one, on 2026-11-21 at 09:05 UTC, from the IP address 192.0.2.1.',
      'If it was you, log in as usual, or open this link within 30 minutes and choose a new password. That also finishes a registration whose address is not confirmed yet. It works once, and only the newest link does.',
    ]);
  });

  it('says the same in escaped HTML', () => {
    const email = `<img src=x onerror="alert('1')">&@example.org`;

    const { text, html } = resetMail(reset, { ...link, email });

    expect(html).toContain(
      '<a href="https://app.example.com/x?a=1&#38;b=2#token=1.t">https://app.example.com/x?a=1&#38;b=2#token=1.t</a>',
    );
    expect(html).not.toContain('<img');
    const paragraphs = [...html.matchAll(/<p>(.*?)<\/p>/g)].map(([, inner = '']) =>
      inner
        .replaceAll(/<\/?a[^>]*>/g, '')
        .replaceAll(/&#(\d+);/g, (_, code) => String.fromCharCode(Number(code))),
    );
    expect(`${paragraphs.join('\n\n')}\n`).toBe(text);
  });

  it('is a whole page in HTML, in English, with the subject as its title', () => {
    const [head, ...lines] = resetMail(reset, link).html.split('\n');

    expect(head).toBe(
      '<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Choose a new password</title></head><body>',
    );
    expect(lines.filter((line) => /^<p>.*<\/p>$/.test(line))).toHaveLength(4);
    expect(lines.slice(4)).toEqual(['</body></html>', '']);
  });
});

describe('A mail in German', () => {
  const notice = { kind: 'notice', email: 'ada@example.org', ...source, language: 'de' } as const;

  it('is one where the request or else MAIL_LANGUAGE says so', () => {
    const { html } = resetMail({ ...reset, language: 'de' }, link);

    expect(html).toContain('<html lang="de">');
    expect(html).toContain('<title>Neues Passwort wählen</title>');
    vi.stubEnv('MAIL_LANGUAGE', 'de');
    expect(resetMail(reset, link).html).toBe(html);
    expect(resetMail({ ...reset, language: 'en' }, link).html).toContain('<html lang="en">');
    vi.unstubAllEnvs();
  });

  it('says what was changed, when and from where', () => {
    const { subject, text } = noticeMail({ ...notice, changed: ['password', 'email'] }, link);

    expect(subject).toBe('Passwort und E-Mail-Adresse geändert');
    expect(text).toContain(
      'An Ihrem Konto ada@example.org bei app.example.com wurde am 21.11.2026 um 09:05 Uhr (UTC) von der IP-Adresse 192.0.2.1 aus etwas geändert: Passwort und E-Mail-Adresse.',
    );
  });

  it.each(['reset', 'taken'] as const)('has the link of %s in both forms', (kind) => {
    const isTaken = kind === 'taken' ? ({ isTaken: true } as const) : {};
    const { text, html } = resetMail({ ...reset, ...isTaken, language: 'de' }, link);

    expect(text).toContain('\n\nhttps://app.example.com/x?a=1&b=2#token=1.t\n\n');
    expect(html).toContain('<a href=');
  });
});

it('A mail has the name of the product in place of the host', () => {
  vi.stubEnv('PRODUCT_NAME', 'My App');
  const { text } = resetMail(reset, link);
  vi.unstubAllEnvs();

  expect(text).toMatch(/^Somebody asked for a new password for the account \S+ at My App, on /);
});

describe('A mail about a change', () => {
  const notice = { kind: 'notice', user_id: 1, email: 'ada@example.org', ...source } as const;
  const lost =
    'write to those who run app.example.com at once: this address may not lead to the account any more.';
  const mailOf = (...changed: ('password' | 'email' | 'account')[]) =>
    noticeMail({ ...notice, changed }, { resetUrl: link.resetUrl });

  it.each([
    [['password'], 'password', 'was', 'ask for a new password at app.example.com at once.'],
    [['email'], 'email address', 'was', lost],
    [['password', 'email'], 'password and the email address', 'were', lost],
  ] as const)(
    'to %j says what was changed, and what to do if it was not you',
    (changed, what, verb, advice) => {
      const mail = mailOf(...changed);

      expect(mail.subject).toBe(`Your ${what} ${verb} changed`);
      expect(mail.text.split('\n\n')).toEqual([
        `The ${what} of the account ada@example.org at app.example.com ${verb} changed on 2026-11-21 at 09:05 UTC, from the IP address 192.0.2.1.`,
        'If it was you, there is nothing to do.',
        `If it was not you, ${advice}\n`,
      ]);
    },
  );

  it('of a deletion says that the account is gone', () => {
    const mail = mailOf('account');

    expect(mail.subject).toBe('Your account was deleted');
    expect(mail.text.split('\n\n')).toEqual([
      'The account ada@example.org at app.example.com was deleted on 2026-11-21 at 09:05 UTC, from the IP address 192.0.2.1.',
      'If you asked for it, there is nothing to do.',
      'If you did not, write to those who run app.example.com at once.\n',
    ]);
  });

  it('has no link', () => {
    const mail = mailOf('password');

    expect(`${mail.text}${mail.html}`).not.toMatch(/https?:|href|#token/);
  });
});
