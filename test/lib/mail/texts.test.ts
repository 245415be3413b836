import { describe, expect, it } from 'vitest';
import { noticeMail, resetMail } from '../../../lib/mail/send.ts';

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

  it('is a whole page in HTML, in English, with the subject as its title', () => {
    const [head, ...lines] = resetMail(reset, link).html.split('\n');

    expect(head).toBe(
      '<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Choose a new password</title></head><body>',
    );
    expect(lines.filter((line) => /^<p>.*<\/p>$/.test(line))).toHaveLength(4);
    expect(lines.slice(4)).toEqual(['</body></html>', '']);
  });

  it('has a link of one line, which no program breaks', () => {
    const { text } = resetMail(reset, link);

    expect(text.split('\n')).toContain('https://app.example.com/x?a=1&b=2#token=1.t');
  });
});

describe('Word of a change', () => {
  const notice = { kind: 'notice', user_id: 1, email: 'ada@example.org', ...source } as const;
  const lost =
    'write to those who run app.example.com at once: this address may not lead to the account any more.';
  const mailOf = (...changed: ('password' | 'email')[]) =>
    noticeMail({ ...notice, changed }, { resetUrl: link.resetUrl });

  it.each([
    [['password'], 'password', 'was', 'ask for a new password at app.example.com at once.'],
    [['email'], 'email address', 'was', lost],
    [['password', 'email'], 'password and the email address', 'were', lost],
  ] as const)('of %j says so, and what to do if it was not you', (changed, what, verb, advice) => {
    const mail = mailOf(...changed);

    expect(mail.subject).toBe(`Your ${what} ${verb} changed`);
    expect(mail.text.split('\n\n')).toEqual([
      `The ${what} of the account ada@example.org at app.example.com ${verb} changed on 2026-11-21 at 09:05 UTC, from the IP address 192.0.2.1.`,
      'If it was you, there is nothing to do.',
      `If it was not you, ${advice}\n`,
    ]);
  });

  it('has no link', () => {
    const mail = mailOf('password');

    expect(`${mail.text}${mail.html}`).not.toMatch(/https?:|href|#token/);
  });
});
