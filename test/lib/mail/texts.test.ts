import { describe, expect, it } from 'vitest';
import { noticeMail, resetMail } from '../../../lib/mail/texts.ts';

const source = {
  ...{ request_id: 'r', ip_address: '192.0.2.1', user_agent: 'agent' },
  time: '2026-11-21T09:05:30.123Z',
};
const reset = { kind: 'reset', email: 'typed@example.org', ...source } as const;
const link = {
  email: 'ada@example.org',
  resetUrl: 'https://app.example.com/x?a=1&b=2',
  token: '1.t',
};

describe('A mail with a link', () => {
  it('says what was asked for, when, from where, and what to do if it was not you', () => {
    expect(
      resetMail(reset, link).text,
    ).toBe(`Somebody asked for a new password for the account ada@example.org at app.example.com, on 2026-11-21 at 09:05 UTC, from the IP address 192.0.2.1.

If it was you, open this link within 30 minutes and choose a new password. It works once, and only the newest link does.

https://app.example.com/x?a=1&b=2#token=1.t

If it was not you, there is nothing to do: your password stays as it is, and whoever asked has not seen this mail. Give the link to nobody. Nobody who works for the site will ask for it.
`);
  });

  it('says the same in HTML, in which nothing of it is markup', () => {
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

  it('has a link of one line, which no program breaks', () => {
    const { text } = resetMail(reset, link);

    expect(text.split('\n')).toContain('https://app.example.com/x?a=1&b=2#token=1.t');
  });
});

describe('Word of a change', () => {
  const notice = { kind: 'notice', user_id: 1, email: 'ada@example.org', ...source } as const;
  const mailOf = (...changed: ('password' | 'email')[]) =>
    noticeMail({ ...notice, changed }, { resetUrl: link.resetUrl });

  it.each([
    [['password'], 'Your password was changed', 'ask for a new password at app.example.com'],
    [['email'], 'Your email address was changed', 'write to those who run app.example.com'],
    [
      ['password', 'email'],
      'Your password and the email address were changed',
      'write to those who run app.example.com',
    ],
  ] as const)('of %j says so, and what to do if it was not you', (changed, subject, advice) => {
    const mail = mailOf(...changed);

    expect(mail.subject).toBe(subject);
    expect(mail.text).toContain(advice);
    expect(mail.text).toContain('on 2026-11-21 at 09:05 UTC, from the IP address 192.0.2.1');
  });

  it('has no link', () => {
    const mail = mailOf('password');

    expect(`${mail.text}${mail.html}`).not.toMatch(/https?:|href|#token/);
  });
});
