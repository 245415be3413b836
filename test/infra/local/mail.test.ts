import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { folderForThisTest } from '../../support/folder.ts';
import { mailSettings, resetUrl, startMailbox, tokenIn } from '../../support/mailbox.ts';
import { startTestService, type TestService } from '../../support/service.ts';
import { until } from '../../support/until.ts';

const start = async (environment: Readonly<Record<string, string>>): Promise<TestService> => {
  const service = await startTestService({ ...mailSettings, ...environment });
  onTestFinished(() => service.stop());
  return service;
};

const askForLink = ({ api, admin }: TestService) =>
  api('POST', '/api/password-resets', { json: { email: admin.email } });

const printed = ({ output }: TestService, pattern: RegExp): Promise<string> =>
  until(() => pattern.exec(output())?.[1], `Nothing like ${pattern} was printed`);

describe('npm start with MAIL_FROM and RESET_URL', () => {
  it('writes each mail to a file in DATA_DIR/mail that only its owner can read, and prints its path', async () => {
    const folder = folderForThisTest();
    const service = await start({ DATA_DIR: folder });

    await askForLink(service);
    const file = await printed(service, /^Mail to root@example\.org: (.+\.eml) /m);

    expect(dirname(file)).toBe(join(folder, 'mail'));
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(service.output()).toContain(`Mail:     each one is a file in ${join(folder, 'mail')}`);
    const mail = readFileSync(file, 'utf8');
    const [head = '', ...parts] = mail.split('\r\n\r\n');
    expect(head.split('\r\n')).toEqual([
      'From: accounts@example.com',
      'To: root@example.org',
      'Subject: Choose a new password',
      expect.stringMatching(/^Date: \w{3}, \d\d \w{3} \d{4} \d\d:\d\d:\d\d \+0000$/),
      expect.stringMatching(/^Message-ID: <[\w-]+@localhost>$/),
      'MIME-Version: 1.0',
      expect.stringMatching(/^Content-Type: multipart\/alternative; boundary="[\w-]+"$/),
    ]);
    expect(mail.match(/^Content-Type: text\/(plain|html); charset=utf-8\r$/gm)).toHaveLength(2);
    const token = tokenIn({ text: mail, html: parts.join() });
    expect(service.output()).toContain(`${file} ${resetUrl}#token=${token}\n`);
    const json = { token, password: 'a new password' };
    expect((await service.api('PUT', '/api/password-resets', { json })).status).toBe(204);
  });

  it('keeps mails in a temporary folder until its end if DATA_DIR is memory', async () => {
    const service = await start({});
    await askForLink(service);
    const file = await printed(service, /^Mail to .+: (.+\.eml) /m);
    expect(file.startsWith(tmpdir())).toBe(true);

    await service.stop();

    expect(existsSync(dirname(file))).toBe(false);
  });

  it('finishes sending a mail before it ends', async () => {
    const folder = folderForThisTest();
    const service = await start({ DATA_DIR: folder });

    await askForLink(service);
    await service.stop();

    expect(readdirSync(join(folder, 'mail'))).toHaveLength(1);
  });

  it('sends by the SES at AWS_ENDPOINT_URL_SESV2 if that is set, and tries again when that fails', async () => {
    const mailbox = await startMailbox();
    onTestFinished(mailbox.stop);
    const service = await start(mailbox.environment);
    mailbox.fail(400);

    await askForLink(service);

    expect(await mailbox.mailsTo('root@example.org')).toHaveLength(1);
    expect(service.output()).not.toMatch(/Mail to|is a file/);
    expect(service.output()).toContain(
      `Mail:     each one goes to ${mailbox.environment.AWS_ENDPOINT_URL_SESV2}\n`,
    );
    expect(service.output()).toContain('mail-not-sent');
  });

  it('logs each mail that it gives up', async () => {
    const mailbox = await startMailbox();
    onTestFinished(mailbox.stop);
    const service = await start(mailbox.environment);
    mailbox.fail(400, 400, 400);

    await askForLink(service);

    await printed(service, /(A mail was not sent:)/);
    expect(mailbox.mails).toEqual([]);
  });
});

describe('npm start without the settings of mails', () => {
  it('has no route for password resets, and creates no folder for mails', async () => {
    const folder = folderForThisTest();
    const service = await start({ DATA_DIR: folder, MAIL_FROM: '', RESET_URL: '' });

    const answers = [
      await askForLink(service),
      await service.api('PUT', '/api/password-resets', { json: {} }),
    ];

    expect(answers.map(({ status }) => status)).toEqual([404, 404]);
    expect(existsSync(join(folder, 'mail'))).toBe(false);
    expect(service.output()).not.toMatch(/^mail/im);
  });
});
