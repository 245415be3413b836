/**
 * What AWS does for mails, on this machine: it invokes the function that mails, again when that
 * fails, and takes what the function sends by Amazon SES, each mail as a file.
 */
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { MailMessage } from '../../lib/mail/message.ts';
import { createPrivately } from './running.ts';

const paths = {
  invoke: '/2015-03-31/functions/mail/invocations',
  send: '/v2/email/outbound-emails',
};

/** Milliseconds before each further attempt. Lambda waits for one and two minutes. */
const pauses = [1000, 2000];

type MailFunction = (message: MailMessage) => Promise<void>;

export interface LocalMail {
  /** Where the mails are. */
  readonly folder: string;
  /** The variables by which functions find all of it. */
  readonly environment: Readonly<Record<string, string>>;
  /** Ends it when all mails are sent, or given up. */
  stop(): Promise<void>;
}

/** What SES's SendEmail takes, as far as it is used. */
interface SentMail {
  readonly FromEmailAddress: string;
  readonly Destination: { readonly ToAddresses: readonly string[] };
  readonly Content: {
    readonly Simple: {
      readonly Subject: { readonly Data: string };
      readonly Body: {
        readonly Text: { readonly Data: string };
        readonly Html: { readonly Data: string };
      };
    };
  };
}

/** A mail as a file that mail programs open (RFC 5322, RFC 2046), readable as it stands. */
const toFile = ({ FromEmailAddress, Destination, Content }: SentMail, date: Date): string => {
  const { Subject, Body } = Content.Simple;
  const boundary = randomUUID();
  const part = (type: string, text: string) => [
    `--${boundary}`,
    `Content-Type: ${type}; charset=utf-8`,
    'Content-Transfer-Encoding: 8bit',
    '',
    ...text.split('\n'),
  ];
  const lines = [
    `From: ${FromEmailAddress}`,
    `To: ${Destination.ToAddresses.join(', ')}`,
    `Subject: ${Subject.Data}`,
    `Date: ${date.toUTCString().replace('GMT', '+0000')}`,
    `Message-ID: <${randomUUID()}@localhost>`,
    'MIME-Version: 1.0',
    `Content-Type: multipart/alternative; boundary="${boundary}"`,
    '',
    ...part('text/plain', Body.Text.Data),
    ...part('text/html', Body.Html.Data),
    `--${boundary}--`,
    '',
  ];
  return lines.join('\r\n');
};

const printable = (text: string): string => text.replace(/[\p{Cc}\p{Cf}]/gu, '�');

const keep = (folder: string, mail: SentMail): void => {
  const date = new Date();
  const name = `${date.toISOString().replaceAll(':', '')}-${randomUUID().slice(0, 8)}.eml`;
  const file = join(folder, name);
  createPrivately(file, toFile(mail, date));
  console.log(`Mail to ${printable(mail.Destination.ToAddresses.join(', '))}: ${file}`);
};

const read = async (request: IncomingMessage): Promise<string> => {
  const chunks: Buffer[] = [];
  for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk);
  return Buffer.concat(chunks).toString();
};

const answer = (response: ServerResponse, status: number, body: object = {}): void => {
  response.writeHead(status, { 'content-type': 'application/json' });
  response.end(JSON.stringify(body));
};

const attempt = async (send: MailFunction, message: MailMessage): Promise<void> => {
  for (const pause of [...pauses, undefined]) {
    try {
      return await send(message);
    } catch (error) {
      if (pause === undefined) console.error(`A mail is given up. ${(error as Error).message}`);
      else await sleep(pause);
    }
  }
};

/**
 * Takes a port on this machine.
 * @param folder of the service's data; undefined: mails are gone with the service
 */
export const startMail = async (
  folder: string | undefined,
  send: MailFunction,
): Promise<LocalMail> => {
  const mails = folder ? join(folder, 'mail') : mkdtempSync(join(tmpdir(), 'accounts-mail-'));
  mkdirSync(mails, { recursive: true, mode: 0o700 });
  const underWay = new Set<Promise<void>>();
  const deliver = (message: MailMessage) => {
    const work = attempt(send, message);
    underWay.add(work);
    work.finally(() => underWay.delete(work));
  };

  const server = createServer(async (request, response) => {
    const body = JSON.parse((await read(request)) || '{}');
    if (request.url === paths.invoke) {
      deliver(body);
      answer(response, 202);
    } else if (request.url === paths.send) {
      keep(mails, body);
      answer(response, 200, { MessageId: randomUUID() });
    } else answer(response, 404);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;

  return {
    folder: mails,
    environment: {
      MAIL_FUNCTION_URL: url + paths.invoke,
      AWS_ENDPOINT_URL_SESV2: process.env.AWS_ENDPOINT_URL_SESV2 ?? url,
    },
    stop: async () => {
      await Promise.all(underWay);
      server.close();
      server.closeAllConnections();
      if (!folder) rmSync(mails, { recursive: true, force: true });
    },
  };
};
