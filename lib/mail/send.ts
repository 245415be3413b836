/**
 * The mails, as text and as HTML, and how they are sent. The address is all that they quote of what
 * people enter: by a name, or the name of a browser, a stranger could write to the recipient.
 */
import { SESv2Client, SendEmailCommand } from '@aws-sdk/client-sesv2';
import { faultName } from '../errors.ts';
import { config } from '../settings.ts';
import { patiently } from '../time.ts';
import type { NoticeMessage, ResetMessage, VerificationMessage } from './hand-over.ts';

export interface Mail {
  readonly subject: string;
  readonly text: string;
  readonly html: string;
}

const escaped = (text: string): string =>
  text.replace(/[&<>"']/g, (one) => `&#${one.charCodeAt(0)};`);

/** As in `2026-11-21 at 09:05 UTC`. */
const momentOf = (time: string): string => {
  const iso = new Date(time).toISOString();
  return `${iso.slice(0, 10)} at ${iso.slice(11, 16)} UTC`;
};

/** A mail of some paragraphs in both forms. The link is a paragraph by itself. */
const write = (subject: string, paragraphs: readonly string[], link?: string): Mail => {
  const html = paragraphs.map((each) =>
    each === link
      ? `<p><a href="${escaped(each)}">${escaped(each)}</a></p>`
      : `<p>${escaped(each)}</p>`,
  );
  const head = `<!doctype html><html lang="en"><head><meta charset="utf-8"><title>${escaped(subject)}</title></head>`;
  return {
    subject,
    text: `${paragraphs.join('\n\n')}\n`,
    html: `${head}<body>\n${html.join('\n')}\n</body></html>\n`,
  };
};

/** Where a request came from, and when. */
const origin = ({ time, ip_address }: Pick<ResetMessage, 'time' | 'ip_address'>): string =>
  `on ${momentOf(time)}, from the IP address ${ip_address}`;

/**
 * The mail with the link.
 * @param email the address of the account
 * @param resetUrl the page that sets passwords. The token is added as a fragment, which browsers
 *   send to no server and in no referrer
 */
export const resetMail = (
  message: ResetMessage,
  { email, resetUrl, token }: { email: string; resetUrl: string; token: string },
): Mail => {
  const link = `${resetUrl}#token=${token}`;
  const site = new URL(resetUrl).host;
  // Whoever has registered, and does so again before the address is confirmed, gets this mail too.
  const [asked, advice, effect] = message.isTaken
    ? ([
        `for an account with the address ${email} at ${site}, which has one`,
        'log in as usual, or ',
        'That also finishes a registration whose address is not confirmed yet. ',
      ] as const)
    : ([`for a new password for the account ${email} at ${site}`, '', ''] as const);
  const paragraphs = [
    `Somebody asked ${asked}, ${origin(message)}.`,
    `If it was you, ${advice}open this link within 30 minutes and choose a new password. ${effect}It works once, and only the newest link does.`,
    link,
    'If it was not you, there is nothing to do: your password stays as it is, and whoever asked has not seen this mail. Give the link to nobody. Nobody who works for the site will ask for it.',
  ];
  return write('Choose a new password', paragraphs, link);
};

/**
 * The mail with the link that verifies an address.
 * @param verifyUrl the page that asks for the password of the account; the token as in a reset
 */
export const verificationMail = (
  message: VerificationMessage,
  { email, verifyUrl, token }: { email: string; verifyUrl: string; token: string },
): Mail => {
  const link = `${verifyUrl}#token=${token}`;
  const site = new URL(verifyUrl).host;
  const paragraphs = [
    `Somebody gave ${email} as the address of an account at ${site}, ${origin(message)}.`,
    'If it was you, open this link within 30 minutes and enter the password of the account. It works once, and only the newest link does.',
    link,
    'If it was not you, there is nothing to do: without this link nobody can show that the address is theirs. Give it to nobody. Nobody who works for the site will ask for it.',
  ];
  return write('Confirm your email address', paragraphs, link);
};

const names = {
  email: 'email address',
  password: 'password',
  secondFactor: 'second factor',
  account: 'account',
} as const;

/** The notice of a change, or of a deletion. */
export const noticeMail = (message: NoticeMessage, { resetUrl }: { resetUrl: string }): Mail => {
  const { email, changed } = message;
  const site = new URL(resetUrl).host;
  if (changed.includes('account')) {
    return write('Your account was deleted', [
      `The account ${email} at ${site} was deleted ${origin(message)}.`,
      'If you asked for it, there is nothing to do.',
      `If you did not, write to those who run ${site} at once.`,
    ]);
  }
  const things = changed.map((field) => names[field]).join(' and the ');
  const verb = changed.length > 1 ? 'were' : 'was';
  const advice = changed.includes('email')
    ? `If it was not you, write to those who run ${site} at once: this address may not lead to the account any more.`
    : `If it was not you, ask for a new password at ${site} at once.`;
  return write(`Your ${things} ${verb} changed`, [
    `The ${things} of the account ${email} at ${site} ${verb} changed ${origin(message)}.`,
    'If it was you, there is nothing to do.',
    advice,
  ]);
};

/** Milliseconds for one attempt; three of them end before the function does. */
const requestTimeout = 5000;

const openClient = () => {
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
};

/** The client of this process; absent until something is sent. */
let client: SESv2Client | undefined;

/**
 * Text that every reader of the header takes for exactly one address. Text with a comma, a bracket or
 * a quote may be a list of addresses, or a name with another address. Text beyond ASCII may look like
 * another address, or be converted into one on the way.
 */
const plainAddress = /^(?=[!-~]+$)[^\s@,;:<>()[\]"\\]+@[^\s@,;:<>()[\]"\\]+$/;

/** An encoded-word (RFC 2047), which readers of the header may decode into another address. */
const encodedWord = /=\?[^?]*\?[bq]\?.*\?=/i;

/**
 * Whether an address can be mailed to. Registration also accepts text that is no address for mail
 * systems.
 */
export const isMailable = (address: string): boolean =>
  plainAddress.test(address) && !encodedWord.test(address);

const utf8 = (Data: string) => ({ Data, Charset: 'UTF-8' });

/** A refusal by SES. Its text is left out, because it may quote the mail. */
class Refusal extends Error {
  /** Whether the mail would be refused again, because of itself and not of the account in AWS. */
  readonly isFinal: boolean;

  constructor(error: unknown) {
    super();
    this.name = faultName(error);
    // An identity that is not verified, as in the sandbox, is a rejected message too.
    const isUnverified = error instanceof Error && /not verified/i.test(error.message);
    this.isFinal =
      this.name === 'BadRequestException' || (this.name === 'MessageRejected' && !isUnverified);
  }
}

export const isFinal = (error: unknown): boolean => error instanceof Refusal && error.isFinal;

/**
 * Sends a mail by Amazon SES.
 * @throws {Error} with the name of SES's error, when it is not known to be sent
 */
export const send = async (address: string, { subject, text, html }: Mail): Promise<void> => {
  client ??= openClient();
  const command = new SendEmailCommand({
    FromEmailAddress: config.mailFrom,
    Destination: { ToAddresses: [address] },
    Content: {
      Simple: { Subject: utf8(subject), Body: { Text: utf8(text), Html: utf8(html) } },
    },
  });
  await client.send(command).catch((error: unknown) => {
    throw new Refusal(error);
  });
};
