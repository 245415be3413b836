import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import type { Language } from '../../../../lib/ground/settings.ts';
import type { NoticeMessage } from '../../../../lib/options/mails/hand-over.ts';
import {
  isFinal,
  type Mail,
  noticeMail,
  resetMail,
  send,
  verificationMail,
} from '../../../../lib/options/mails/send.ts';
import { startLoopback } from '../../../support/loopback.ts';

const languages: readonly Language[] = ['en', 'de'];

describe('send', () => {
  const requests: unknown[] = [];
  let refusal: { readonly type: string; readonly message: string } | undefined;
  let isSilent = false;
  beforeAll(async () => {
    const { url, stop } = await startLoopback((request, body, response) => {
      requests.push({ url: request.url, body: JSON.parse(body) });
      if (isSilent) return;
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

  it('asks SES once to send the text and the HTML to one address, in UTF-8', async () => {
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
  ])('writes the sender %s as %s', async (from, header) => {
    vi.stubEnv('MAIL_FROM', from);
    await send('ada@example.org', mail);
    vi.stubEnv('MAIL_FROM', 'accounts@example.com');

    expect(requests.at(-1)).toMatchObject({ body: { FromEmailAddress: header } });
  });

  it('fails if SES does not respond in time', async () => {
    isSilent = true;
    vi.stubGlobal('patience', 0.01);
    onTestFinished(() => {
      isSilent = false;
      vi.unstubAllGlobals();
    });
    vi.resetModules();
    const { send: sendImpatiently } = await import('../../../../lib/options/mails/send.ts');

    const sent = sendImpatiently('ada@example.org', mail);

    const name = expect.stringMatching(/^(?:TimeoutError|ETIMEDOUT)$/);
    await expect(sent).rejects.toMatchObject({ name });
  });

  it.each([
    ['BadRequestException', 'broken', true],
    ['BadRequestException', 'Email address is not verified', true],
    ['MessageRejected', 'broken', true],
    ['MessageRejected', 'Email address is Not Verified', false],
    ['AccountSuspendedException', 'broken', false],
    ['NotFoundException', 'broken', false],
  ])(
    'fails with the name of the error %s (%s); the error is final: %s',
    async (type, text, final) => {
      refusal = { type, message: `${text}: to ada@example.org` };

      const error = await send('ada@example.org', mail).catch((reason) => reason);

      expect(error).toBeInstanceOf(Error);
      expect([error.name, isFinal(error)]).toEqual([type, final]);
      expect(`${error.message} ${error.cause}`).not.toContain('ada@');
    },
  );

  it('is the only source of errors that are final', () => {
    expect(isFinal(Object.assign(new Error(), { name: 'BadRequestException' }))).toBe(false);
    expect(isFinal(undefined)).toBe(false);
  });
});

const source = {
  email: 'ada@example.org',
  request_id: 'r',
  ip_address: '192.0.2.1',
  user_agent: 'agent',
  time: '2026-11-21T09:05:30.123Z',
};
const reset = { kind: 'reset', ...source } as const;
const resetUrl = 'https://app.example.com/x?a=1&b=2';
const link = { email: source.email, link: `${resetUrl}#token=1.t` };

type Changed = NoticeMessage['changed'];
const notices: readonly Changed[] = [
  ['password'],
  ['email'],
  ['password', 'email'],
  ['secondFactor'],
  ['identities'],
  ['account'],
];

/** Every mail in a language, with its purpose. */
const mailsIn = (language: Language): readonly (readonly [string, Mail])[] => [
  ['a reset', resetMail({ ...reset, language }, 'reset', link)],
  ['a reset that an admin asks for', resetMail({ ...reset, language }, 'resetByAdmin', link)],
  ['a registration with a taken address', resetMail({ ...reset, language }, 'taken', link)],
  ['an invitation', resetMail({ ...reset, language }, 'invitation', link)],
  [
    'a verification',
    verificationMail(
      { kind: 'verification', user_id: 1, ...source, language },
      { email: source.email, link: 'https://app.example.com/verify#token=1.t' },
    ),
  ],
  ...notices.flatMap((changed) => {
    const message = { kind: 'notice', user_id: 1, ...source, changed, language } as const;
    const title = `a change of ${changed.join(' and ')}`;
    return [
      [title, noticeMail(message, { resetUrl })],
      [`${title} by an admin`, noticeMail({ ...message, byAdmin: true }, { resetUrl })],
    ] as const;
  }),
];

describe.each(languages)('Mails in the language %s', (language) => {
  const mails = mailsIn(language);

  it('say what was done, when and from where, and what to do if somebody else did it', async () => {
    const text = mails.map(([title, mail]) => `# ${title}: ${mail.subject}\n\n${mail.text}`);

    await expect(text.join('\n')).toMatchFileSnapshot(`mails.${language}.txt`);
  });

  it.each(mails)(
    'say the same about %s in HTML, in a whole page with the subject as its title',
    (...row) => {
      const [, { subject, text, html }] = row;
      const [head, ...lines] = html.split('\n');

      expect(head).toBe(
        `<!doctype html><html lang="${language}"><head><meta charset="utf-8"><title>${subject}</title></head><body>`,
      );
      expect(lines.slice(-2)).toEqual(['</body></html>', '']);
      const inner = (line: string) => /^<p>(.*)<\/p>$/.exec(line)?.[1] ?? expect.unreachable(line);
      const paragraphs = lines.slice(0, -2).map((line) =>
        inner(line)
          .replaceAll(/<\/?a[^>]*>/g, '')
          .replaceAll(/&#(\d+);/g, (_, code) => String.fromCharCode(Number(code))),
      );
      expect(`${paragraphs.join('\n\n')}\n`).toBe(text);
    },
  );
});

describe('A mail', () => {
  it('has a clickable link in its HTML, in which all given texts are escaped', () => {
    const email = `<img src=x onerror="alert('1')">&@example.org`;

    const { html } = resetMail(reset, 'reset', { ...link, email });

    expect(html).toContain(
      '<a href="https://app.example.com/x?a=1&#38;b=2#token=1.t">https://app.example.com/x?a=1&#38;b=2#token=1.t</a>',
    );
    expect(html).not.toContain('<img');
  });

  it('about a change has no link', () => {
    for (const [title, { text, html }] of mailsIn('en').filter(([name]) => /change/.test(name))) {
      expect(`${text}${html}`, title).not.toMatch(/https?:|href|#token/);
    }
  });

  it('is in the language of the request, or else in the language of MAIL_LANGUAGE', () => {
    vi.stubEnv('MAIL_LANGUAGE', 'de');
    const subjects = [reset, { ...reset, language: 'en' } as const].map(
      (message) => resetMail(message, 'reset', link).subject,
    );
    vi.unstubAllEnvs();

    expect(subjects).toEqual(['Neues Passwort wählen', 'Choose a new password']);
  });

  it('names the product, if the product has a name, instead of the host', () => {
    vi.stubEnv('PRODUCT_NAME', 'My App');
    const { text } = resetMail(reset, 'reset', link);
    vi.unstubAllEnvs();

    expect(text).toMatch(/^Somebody asked for a new password for the account \S+ at My App, on /);
  });
});
