import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it, onTestFinished } from 'vitest';
import { startMail } from '../../../infra/local/mail.ts';
import { folderForThisTest } from '../../support/folder.ts';
import { mailSettings, startMailbox, tokenIn } from '../../support/mailbox.ts';
import { startTestService, type TestService } from '../../support/service.ts';

const start = async (environment: Readonly<Record<string, string>>): Promise<TestService> => {
  const service = await startTestService({ ...mailSettings, ...environment });
  onTestFinished(() => service.stop());
  return service;
};

const askForLink = ({ api, admin }: TestService) =>
  api('POST', '/api/password-resets', { json: { email: admin.email } });

/** Times to look whether a text was printed: far more than it takes. */
const maxLooks = 2000;

const printed = async ({ output }: TestService, pattern: RegExp): Promise<string> => {
  for (let look = 0; look < maxLooks; look += 1) {
    const found = pattern.exec(output())?.[1];
    if (found) return found;
    await sleep(20);
  }
  throw new Error(`Nothing like ${pattern} in:\n${output()}`);
};

describe('npm start with MAIL_FROM and RESET_URL', () => {
  it('writes each mail to a file in DATA_DIR/mail that only its owner can read, and prints its path', async () => {
    const folder = folderForThisTest();
    const service = await start({ DATA_DIR: folder });

    await askForLink(service);
    const file = await printed(service, /^Mail to root@example\.org: (.+\.eml)$/m);

    expect(dirname(file)).toBe(join(folder, 'mail'));
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(service.output()).toContain(`Mail:  each one is a file in ${join(folder, 'mail')}`);
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
    const json = { token, password: 'a new password' };
    expect((await service.api('PUT', '/api/password-resets', { json })).status).toBe(204);
  });

  it('keeps mails in a temporary folder until it ends when DATA_DIR is memory', async () => {
    const service = await start({});
    await askForLink(service);
    const file = await printed(service, /^Mail to .+: (.+\.eml)$/m);
    expect(file.startsWith(tmpdir())).toBe(true);

    await service.stop();

    expect(existsSync(dirname(file))).toBe(false);
  });

  it('sends the mail that it has begun before it ends', async () => {
    const folder = folderForThisTest();
    const service = await start({ DATA_DIR: folder });

    await askForLink(service);
    await service.stop();

    expect(readdirSync(join(folder, 'mail'))).toHaveLength(1);
  });

  it('sends by the SES at AWS_ENDPOINT_URL_SESV2 where that is set, and tries again when that fails', async () => {
    const mailbox = await startMailbox();
    onTestFinished(mailbox.stop);
    const service = await start(mailbox.environment);
    mailbox.fail(400);

    await askForLink(service);

    expect(await mailbox.mailsTo('root@example.org')).toHaveLength(1);
    expect(service.output()).not.toMatch(/Mail to|is a file/);
    expect(service.output()).toContain(
      `Mail:  each one goes to ${mailbox.environment.AWS_ENDPOINT_URL_SESV2}\n`,
    );
    expect(service.output()).toContain('mail-not-sent');
  });

  it('logs each mail that it no longer tries to send', async () => {
    const mailbox = await startMailbox();
    onTestFinished(mailbox.stop);
    const service = await start(mailbox.environment);
    mailbox.fail(400, 400, 400);

    await askForLink(service);

    await printed(service, /(A mail was not sent:)/);
    expect(mailbox.mails).toEqual([]);
  });
});

describe('What stands in for Lambda and SES', () => {
  const message = { kind: 'reset', email: 'ada@example.org' };
  const startStandIn = async () => {
    const delivered: unknown[] = [];
    const mail = await startMail(folderForThisTest(), async (given) => {
      delivered.push(given);
    });
    onTestFinished(mail.stop);
    const { MAIL_FUNCTION_URL: invoke = '', AWS_ENDPOINT_URL_SESV2: ses = '' } = mail.environment;
    const post = async (url: string, body: string) => {
      const signal = AbortSignal.timeout(20_000);
      return (await fetch(url, { method: 'POST', body, signal })).status;
    };
    return { mail, delivered, invoke, send: `${ses}/v2/email/outbound-emails`, post };
  };

  it.each(['x', '', '{}', '[]', 'null', '{"Content":{"Simple":{}}}'])(
    'refuses what is no message, and goes on: %j',
    async (body) => {
      const { mail, delivered, invoke, send, post } = await startStandIn();

      const statuses = [await post(send, body), await post(invoke, body)];

      expect(statuses).toEqual([400, 400]);
      expect(await post(invoke, JSON.stringify(message))).toBe(202);
      expect([delivered, readdirSync(mail.folder)]).toEqual([[message], []]);
    },
  );

  it('refuses requests to any path but its secret one', async () => {
    const { delivered, invoke, send, post } = await startStandIn();
    const [text, origin] = [JSON.stringify(message), new URL(invoke).origin];
    const guessed = [invoke, send].map((url) => new URL(url).pathname.replace(/^\/[^/]+/, ''));

    const statuses: number[] = [];
    for (const path of ['/', '/anything', ...guessed, ...guessed.map((one) => `/x${one}`)]) {
      statuses.push(await post(origin + path, text));
    }

    expect(new Set(statuses)).toEqual(new Set([404]));
    expect(delivered).toEqual([]);
    expect(new URL(invoke).pathname).toMatch(/^\/[\w-]{43}\//);
  });

  it('refuses what is larger than any message, and goes on when a request is cut off', async () => {
    const { invoke, post } = await startStandIn();
    const { hostname, port, pathname } = new URL(invoke);
    const socket = connect(Number(port), hostname);
    await once(socket, 'connect');
    socket.write(`POST ${pathname} HTTP/1.1\r\nhost: x\r\ncontent-length: 100\r\n\r\n{`);
    socket.destroy();

    expect(await post(invoke, JSON.stringify({ ...message, x: 'x'.repeat(2 ** 20) }))).toBe(413);
    expect(await post(invoke, JSON.stringify(message))).toBe(202);
  });
});

describe('npm start without the settings of mails', () => {
  it('has no route for password resets, and makes no folder for mails', async () => {
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
