/**
 * Writes mails, as text and as HTML, in the language of the request that causes them, and sends them. Of the texts that
 * people enter, mails quote only the address: otherwise a stranger could put a message to the recipient into a name, or
 * into the name of a browser.
 */
import { SESv2Client, SendEmailCommand } from '@aws-sdk/client-sesv2';
import { faultName } from '../../ground/errors.ts';
import { senderIn } from '../../ground/rules.ts';
import { config, type Language } from '../../ground/settings.ts';
import { patiently } from '../../ground/time.ts';
import type { MailMessage, NoticeMessage, ResetMessage, VerificationMessage } from './hand-over.ts';
import { de } from './texts/de.ts';
import { en, type Facts, type Text, type Texts } from './texts/en.ts';

export interface Mail {
  readonly subject: string;
  readonly text: string;
  readonly html: string;
}

/** Milliseconds for one attempt; three attempts end before the function times out. */
const requestTimeout = 5000;

let client: SESv2Client | undefined;

/** A refusal by SES. Its text is dropped, because it may quote the mail. */
class Refusal extends Error {
  /** Whether the mail would be refused again, because the cause is the mail itself and not the AWS account. */
  readonly isFinal: boolean;

  constructor(error: unknown) {
    super();
    this.name = faultName(error);
    // SES also uses MessageRejected for an identity that is not verified, for example in its sandbox.
    const isUnverified = error instanceof Error && /not verified/i.test(error.message);
    this.isFinal =
      this.name === 'BadRequestException' || (this.name === 'MessageRejected' && !isUnverified);
  }
}

export interface OutgoingMail extends Mail {
  readonly from: string;
  readonly to: string;
}

let transport = bySes;

/** @param text the name of the text, which depends on why the user gets the mail */
export function resetMail(
  message: ResetMessage,
  text: 'reset' | 'resetByAdmin' | 'taken' | 'invitation',
  { email, link }: { email: string; link: string },
): Mail {
  return write(message, { email, url: link, link }, (texts, facts) => texts[text](facts, link));
}

/** The mail with the link that verifies an address. */
export function verificationMail(
  message: VerificationMessage,
  { email, link }: { email: string; link: string },
): Mail {
  return write(message, { email, url: link, link }, (texts, facts) =>
    texts.verification(facts, link),
  );
}

export function noticeMail(message: NoticeMessage, { resetUrl: url }: { resetUrl: string }): Mail {
  const { email, changed, byAdmin = false } = message;
  const parts = changed.filter((each) => each !== 'account');
  return write(message, { email, url }, (texts, facts) =>
    changed.includes('account')
      ? texts.deleted(facts, byAdmin)
      : texts.changed(facts, parts, byAdmin),
  );
}

export function isFinal(error: unknown): boolean {
  return error instanceof Refusal && error.isFinal;
}

/** Replaces Amazon SES for the delivery of mails: on one machine, mails are written into a folder. */
export function deliverBy(other: typeof bySes): void {
  transport = other;
}

/** Sends a mail. @throws {Error} with the name of SES's error, unless SES has confirmed that it accepts the mail */
export async function send(to: string, mail: Mail): Promise<void> {
  await transport({ from: sender(config.mailFrom), to, ...mail }).catch((error: unknown) => {
    throw new Refusal(error);
  });
}

const languages: Readonly<Record<Language, Texts>> = { en, de };

/** @param url the URL of the page that the mail is about */
function write(
  { language = config.mailLanguage, time, ip_address }: MailMessage,
  { email, url, link }: { email: string; url: string; link?: string },
  choose: (texts: Texts, facts: Facts) => Text,
): Mail {
  const iso = new Date(time).toISOString();
  const site = config.productName || new URL(url).host;
  const facts = { email, site, date: iso.slice(0, 10), time: iso.slice(11, 16), ip_address };
  const { subject, paragraphs } = choose(languages[language], facts);
  const html = paragraphs.map((each) =>
    each === link
      ? `<p><a href="${escaped(each)}">${escaped(each)}</a></p>`
      : `<p>${escaped(each)}</p>`,
  );
  const head = `<!doctype html><html lang="${language}"><head><meta charset="utf-8"><title>${escaped(subject)}</title></head>`;
  return {
    subject,
    text: `${paragraphs.join('\n\n')}\n`,
    html: `${head}<body>\n${html.join('\n')}\n</body></html>\n`,
  };
}

function escaped(text: string): string {
  return text.replace(/[&<>"']/g, (one) => `&#${one.charCodeAt(0)};`);
}

async function bySes({ from, to, subject, text, html }: OutgoingMail): Promise<void> {
  client ??= openClient();
  const command = new SendEmailCommand({
    FromEmailAddress: from,
    Destination: { ToAddresses: [to] },
    Content: {
      Simple: { Subject: utf8(subject), Body: { Text: utf8(text), Html: utf8(html) } },
    },
  });
  await client.send(command);
}

function openClient() {
  const timeout = patiently(requestTimeout);
  return new SESv2Client({
    maxAttempts: 3,
    requestHandler: {
      connectionTimeout: patiently(1000),
      requestTimeout: timeout,
      throwOnRequestTimeout: true,
      socketTimeout: timeout,
    },
  });
}

function utf8(Data: string) {
  return { Data, Charset: 'UTF-8' };
}

/** The sender in a header (RFC 5322, section 3.4). A name that is not ASCII is encoded (RFC 2047). */
function sender(mailFrom: string): string {
  const { name, address } = senderIn(mailFrom);
  if (!name) return address;
  const isAscii = /^[ -~]*$/.test(name);
  const word = isAscii ? `"${name}"` : `=?UTF-8?B?${Buffer.from(name).toString('base64')}?=`;
  return `${word} <${address}>`;
}
