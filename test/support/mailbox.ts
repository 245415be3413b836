/** Stands in for Amazon SES, and for Lambda if a function is invoked without the local service. */
import type { IncomingHttpHeaders } from 'node:http';
import { afterAll, vi } from 'vitest';
import type { MailMessage } from '../../lib/options/mails/hand-over.ts';
import { type AcceptanceService, serviceForThisFile } from './acceptance.ts';
import { startLoopback } from './loopback.ts';
import { proxiedTablesForThisFile } from './own-tables.ts';
import { until } from './until.ts';

export interface ReceivedMail {
  readonly from: string;
  readonly to: readonly string[];
  readonly subject: string;
  readonly text: string;
  readonly html: string;
}

export type Mailbox = Awaited<ReturnType<typeof startMailbox>>;

/** The page that mailed links lead to. */
export const resetUrl = 'https://app.example.com/reset';

/** The page to which links lead that verify addresses. */
export const verifyUrl = 'https://app.example.com/verify';

/** The settings with which a service sends mails. */
export const mailSettings = { MAIL_FROM: 'accounts@example.com', RESET_URL: resetUrl };

// biome-ignore lint/suspicious/noExplicitAny: the JSON of a request to SES
const toMail = ({ FromEmailAddress, Destination, Content }: any): ReceivedMail => ({
  from: FromEmailAddress,
  to: Destination.ToAddresses,
  subject: Content.Simple.Subject.Data,
  text: Content.Simple.Body.Text.Data,
  html: Content.Simple.Body.Html.Data,
});

export const startMailbox = async () => {
  const mails: ReceivedMail[] = [];
  const messages: MailMessage[] = [];
  const headers: IncomingHttpHeaders[] = [];
  let failures: (number | string)[] = [];
  const keep = (url: string | undefined, body: string): number => {
    if (url !== '/invoke') {
      mails.push(toMail(JSON.parse(body)));
      return 200;
    }
    messages.push(JSON.parse(body));
    return 202;
  };
  const { url, stop } = await startLoopback((request, body, response) => {
    if (request.url === '/invoke') headers.push(request.headers);
    const outcome = failures.shift() ?? keep(request.url, body);
    const [status, errorType] =
      typeof outcome === 'number'
        ? [outcome, {}]
        : [400, { 'x-amzn-errortype': outcome.split(' ')[0] }];
    response.writeHead(status, { 'content-type': 'application/json', ...errorType });
    // The refusals of SES quote the refused request.
    response.end(JSON.stringify({ MessageId: 'some-id', message: `${outcome}: ${body}` }));
  });
  return {
    /** The variables that direct the mails of a service to this server. */
    environment: { AWS_ENDPOINT_URL_SESV2: url },
    /** The variable with which a function hands messages over to this server, which keeps them and mails nothing. */
    handOver: { MAIL_FUNCTION_URL: `${url}/invoke` },
    mails,
    messages,
    /** The headers of the requests that handed messages over. */
    headers,
    /** Sets the statuses of the next responses, or the names of SES's refusals; later requests succeed. */
    fail: (...next: readonly (number | string)[]) => {
      failures = [...next];
    },
    /** Waits for a number of mails to an address. */
    mailsTo: (address: string, count = 1): Promise<readonly ReceivedMail[]> =>
      until(() => {
        const found = mails.filter(({ to }) => to.includes(address));
        return found.length >= count && found;
      }, `${address} has no ${count} mails`),
    stop,
  };
};

/** The token of the link in a mail, which is the same in both forms of the mail. */
export const tokenIn = ({ text, html }: Pick<ReceivedMail, 'text' | 'html'>): string => {
  const [inText, ...inHtml] = [text, html].flatMap((form) =>
    [...form.matchAll(/#token=([\w.-]+)/g)].map(([, token = '']) => token),
  );
  if (!inText || inHtml.some((token) => token !== inText)) throw new Error('The mail has no token');
  return inText;
};

export interface MailingService extends AcceptanceService {
  readonly mailbox: Mailbox;
  /** Requests a mail with a link that resets a password. @returns the token of the link */
  requestToken(email: string): Promise<string>;
}

/** The mailbox of all services of one file; it ends with the process of the file. */
let shared: Promise<Mailbox> | undefined;

/** A service with password reset, for the tests of one file. */
export const mailingServiceForThisFile = async (
  environment: Readonly<Record<string, string>> = {},
): Promise<MailingService> => {
  shared ??= startMailbox();
  const mailbox = await shared;
  const service = await serviceForThisFile({
    ...mailSettings,
    ...mailbox.environment,
    // A file requests more links than one address may request.
    LOGIN_FAILURES_PER_ADDRESS: '0',
    ...environment,
  });
  const requestToken = async (email: string) => {
    const links = () =>
      mailbox.mails.filter(({ to, text }) => to.includes(email) && text.includes('/reset#token='));
    const { length } = links();
    await service.api('POST', '/api/password-resets', { json: { email } });
    return tokenIn(await until(() => links()[length], `${email} has no link`));
  };
  return { ...service, mailbox, requestToken };
};

/**
 * Makes what a function that sends mails needs, so that the tests of one file can invoke the function by itself.
 * @param settings the settings of the function besides the names of its tables; they depend on the mailbox
 */
export const mailingFunctionForThisFile = async (
  settings: (mailbox: Mailbox) => Readonly<Record<string, string>>,
) => {
  const mailbox = await startMailbox();
  const { proxy, ...tables } = await proxiedTablesForThisFile();
  for (const [name, value] of Object.entries(settings(mailbox))) vi.stubEnv(name, value);
  /** The log of the function. */
  const logged = vi.spyOn(console, 'error').mockReturnValue();
  afterAll(async () => {
    vi.unstubAllEnvs();
    logged.mockRestore();
    await mailbox.stop();
  });
  return { proxy, mailbox, tables, logged };
};
