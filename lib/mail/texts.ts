/**
 * What mails say, as text and as HTML. Of what people chose only the address is in them: a name, or
 * the name of a browser, would let a stranger write to whoever has the address.
 */
import type { NoticeMessage, ResetMessage } from './message.ts';

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

/** One of both forms, of paragraphs, of which the link is one by itself. */
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

/** Where it was asked from, and when. */
const origin = ({ time, ip_address }: Pick<ResetMessage, 'time' | 'ip_address'>): string =>
  `on ${momentOf(time)}, from the IP address ${ip_address}`;

/**
 * The mail with the link.
 * @param email of the account, as it has it
 * @param resetUrl the page of the setting, to which the token is added as a fragment: that is sent
 *   to no server and in no referrer
 */
export const resetMail = (
  message: ResetMessage,
  { email, resetUrl, token }: { email: string; resetUrl: string; token: string },
): Mail => {
  const link = `${resetUrl}#token=${token}`;
  const site = new URL(resetUrl).host;
  const paragraphs = [
    `Somebody asked for a new password for the account ${email} at ${site}, ${origin(message)}.`,
    'If it was you, open this link within 30 minutes and choose a new password. It works once, and only the newest link does.',
    link,
    'If it was not you, there is nothing to do: your password stays as it is, and whoever asked has not seen this mail. Give the link to nobody. Nobody who works for the site will ask for it.',
  ];
  return write('Choose a new password', paragraphs, link);
};

const names = { email: 'email address', password: 'password' } as const;

/** Word of a change. */
export const noticeMail = (message: NoticeMessage, { resetUrl }: { resetUrl: string }): Mail => {
  const { email, changed } = message;
  const site = new URL(resetUrl).host;
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
