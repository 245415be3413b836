/**
 * Sends the mails of the service on one machine: its process calls the function that sends mails, again if the function
 * fails, and writes each mail to a file.
 */
import { randomUUID } from 'node:crypto';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { printable } from '../../lib/ground/log.ts';
import { invokeBy, type MailMessage } from '../../lib/options/mails/hand-over.ts';
import { deliverBy, type OutgoingMail } from '../../lib/options/mails/send.ts';
import { createPrivately } from './data-folder.ts';

/** Milliseconds before each further attempt. Lambda waits for one and two minutes. */
const pauses = [1000, 2000];

export type MailFunction = (message: MailMessage) => Promise<void>;

export type LocalMail = ReturnType<typeof startMail>;

/**
 * Starts to send mails, in this process, for the messages that are handed over from now on.
 * @param folder the folder of the service's data; undefined: mails are deleted when the service ends
 * @returns the folder of mails, and the URL to which mails are sent instead, if a setting names a URL
 */
export function startMail(folder: string | undefined, send: MailFunction) {
  const mails = folder ? join(folder, 'mail') : mkdtempSync(join(tmpdir(), 'accounts-mail-'));
  mkdirSync(mails, { recursive: true, mode: 0o700 });
  const underWay = new Set<Promise<void>>();
  invokeBy(async (body) => {
    const work = attempt(send, JSON.parse(body));
    underWay.add(work);
    work.finally(() => underWay.delete(work));
  });
  // If this variable were empty, functions would request no mails. Nothing is sent to this URL.
  process.env.MAIL_FUNCTION_URL = 'local:';
  const elsewhere = process.env.AWS_ENDPOINT_URL_SESV2 || undefined;
  if (!elsewhere) deliverBy(async (mail) => keep(mails, mail));
  return {
    folder: mails,
    ...(elsewhere ? { elsewhere } : {}),
    /** Stops after each mail was sent or given up. */
    stop: async (): Promise<void> => {
      await Promise.all(underWay);
      if (!folder) rmSync(mails, { recursive: true, force: true });
    },
  };
}

async function attempt(send: MailFunction, message: MailMessage): Promise<void> {
  for (const pause of [...pauses, undefined]) {
    try {
      return await send(message);
    } catch (error) {
      if (pause === undefined) console.error(`A mail was not sent: ${(error as Error).message}`);
      else await sleep(pause);
    }
  }
}

function keep(folder: string, mail: OutgoingMail): void {
  const date = new Date();
  const name = `${date.toISOString().replaceAll(':', '')}-${randomUUID().slice(0, 8)}.eml`;
  const file = join(folder, name);
  createPrivately(file, toFile(mail, date));
  const [link = ''] = /^https?:\S+$/m.exec(mail.text) ?? [];
  console.log(`Mail to ${printable(mail.to)}: ${file} ${printable(link)}`.trimEnd());
}

/** A mail in the format that mail programs open (RFC 5322, RFC 2046), as readable text. */
function toFile({ from, to, subject, text, html }: OutgoingMail, date: Date): string {
  const boundary = randomUUID();
  const part = (type: string, content: string) => [
    `--${boundary}`,
    `Content-Type: ${type}; charset=utf-8`,
    'Content-Transfer-Encoding: 8bit',
    '',
    ...content.split('\n'),
  ];
  const lines = [
    `From: ${from}`,
    `To: ${to}`,
    `Subject: ${subject}`,
    `Date: ${date.toUTCString().replace('GMT', '+0000')}`,
    `Message-ID: <${randomUUID()}@localhost>`,
    'MIME-Version: 1.0',
    `Content-Type: multipart/alternative; boundary="${boundary}"`,
    '',
    ...part('text/plain', text),
    ...part('text/html', html),
    `--${boundary}--`,
    '',
  ];
  return lines.join('\r\n');
}
