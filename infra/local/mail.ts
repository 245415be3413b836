/**
 * Stands in for AWS where mails are sent: invokes the mail function as Lambda does, again when it
 * fails, and receives as Amazon SES what that function sends, each mail as a file.
 */
import { randomBytes, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import * as v from 'valibot';
import { printable } from '../../lib/log.ts';
import type { MailMessage } from '../../lib/mail/hand-over.ts';
import { createPrivately } from './folder.ts';

const paths = {
  invoke: '/2015-03-31/functions/mail/invocations',
  send: '/v2/email/outbound-emails',
};

/** Milliseconds before each further attempt. Lambda waits for one and two minutes. */
const pauses = [1000, 2000];

type MailFunction = (message: MailMessage) => Promise<void>;

export interface LocalMail {
  /** The folder of the mails. */
  readonly folder: string;
  /** The URL to which mails are sent instead of the folder, if there is one. */
  readonly elsewhere?: string;
  /** Environment variables that functions need to hand over and send mails. */
  readonly environment: Readonly<Record<string, string>>;
  /** Stops when each mail is sent or given up. */
  stop(): Promise<void>;
}

const text = v.object({ Data: v.string() });

/** The parameters of SES's SendEmail that are used. */
const sentMail = v.object({
  FromEmailAddress: v.string(),
  Destination: v.object({ ToAddresses: v.array(v.string()) }),
  Content: v.object({
    Simple: v.object({ Subject: text, Body: v.object({ Text: text, Html: text }) }),
  }),
});
type SentMail = v.InferOutput<typeof sentMail>;

/** Enough of the mail function's event to reject anything else. */
const mailMessage = v.looseObject({
  kind: v.picklist(['reset', 'verification', 'notice']),
  email: v.string(),
});

/** A mail in the format that mail programs open (RFC 5322, RFC 2046), as readable text. */
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

const keep = (folder: string, mail: SentMail): void => {
  const date = new Date();
  const name = `${date.toISOString().replaceAll(':', '')}-${randomUUID().slice(0, 8)}.eml`;
  const file = join(folder, name);
  createPrivately(file, toFile(mail, date));
  console.log(`Mail to ${printable(mail.Destination.ToAddresses.join(', '))}: ${file}`);
};

/** Bytes: Lambda's limit for an asynchronous invocation; mails are smaller. */
const maxBody = 1_000_000;

/** @returns undefined for a body that is too large */
const read = async (request: IncomingMessage): Promise<string | undefined> => {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size <= maxBody) chunks.push(chunk);
  }
  return size <= maxBody ? Buffer.concat(chunks).toString() : undefined;
};

const respond = (response: ServerResponse, status: number, body: object = {}): void => {
  response.writeHead(status, { 'content-type': 'application/json' });
  response.end(JSON.stringify(body));
};

/** Executes a request. @returns the status of the response */
const statusOf = async (
  request: IncomingMessage,
  actions: Readonly<Record<string, (body: unknown) => number>>,
): Promise<number> => {
  const body = await read(request);
  const { method, url = '' } = request;
  if (method !== 'POST' || !Object.hasOwn(actions, url)) return 404;
  return body === undefined ? 413 : (actions[url]?.(JSON.parse(body)) ?? 404);
};

/** A body that is not valid JSON or has another form is a client error; a full disk is not. */
const statusOfFault = (error: unknown): number =>
  error instanceof SyntaxError || error instanceof v.ValiError ? 400 : 500;

const attempt = async (send: MailFunction, message: MailMessage): Promise<void> => {
  for (const pause of [...pauses, undefined]) {
    try {
      return await send(message);
    } catch (error) {
      if (pause === undefined) console.error(`A mail was not sent: ${(error as Error).message}`);
      else await sleep(pause);
    }
  }
};

/**
 * Listens on a port of this machine.
 * @param folder of the service's data; undefined: mails are deleted when the service ends
 */
export const startMail = async (
  folder: string | undefined,
  send: MailFunction,
): Promise<LocalMail> => {
  const mails = folder ? join(folder, 'mail') : mkdtempSync(join(tmpdir(), 'accounts-mail-'));
  mkdirSync(mails, { recursive: true, mode: 0o700 });
  // The port can be reached by web pages and other programs too, which do not know this path.
  const secret = `/${randomBytes(32).toString('base64url')}`;
  const underWay = new Set<Promise<void>>();
  const deliver = (message: MailMessage) => {
    const work = attempt(send, message);
    underWay.add(work);
    work.finally(() => underWay.delete(work));
  };

  const actions: Readonly<Record<string, (body: unknown) => number>> = {
    [secret + paths.invoke]: (body) => {
      deliver(v.parse(mailMessage, body) as unknown as MailMessage);
      return 202;
    },
    [secret + paths.send]: (body) => {
      keep(mails, v.parse(sentMail, body));
      return 200;
    },
  };
  const server = createServer(async (request, response) => {
    const status = await statusOf(request, actions).catch(statusOfFault);
    respond(response, status, status === 200 ? { MessageId: randomUUID() } : {});
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}${secret}`;

  const elsewhere = process.env.AWS_ENDPOINT_URL_SESV2 || undefined;
  return {
    folder: mails,
    environment: {
      MAIL_FUNCTION_URL: url + paths.invoke,
      AWS_ENDPOINT_URL_SESV2: elsewhere ?? url,
    },
    ...(elsewhere ? { elsewhere } : {}),
    stop: async () => {
      await Promise.all(underWay);
      server.close();
      server.closeAllConnections();
      if (!folder) rmSync(mails, { recursive: true, force: true });
    },
  };
};
