import { SESv2Client, SendEmailCommand } from '@aws-sdk/client-sesv2';
import { config } from '../config.ts';
import type { Mail } from './texts.ts';

/** Milliseconds for one attempt; three of them end before the function does. */
const requestTimeout = 5000;

const openClient = () =>
  new SESv2Client({
    maxAttempts: 3,
    requestHandler: {
      connectionTimeout: 1000,
      requestTimeout,
      throwOnRequestTimeout: true,
      socketTimeout: requestTimeout,
    },
  });

/** The client of this process; absent until something is sent. */
let client: SESv2Client | undefined;

/**
 * One address and no more, for whoever reads it as a header: what has a comma, a bracket or a quote
 * in it may be a list of them, or a name with another address.
 */
const plainAddress = /^[^\s@,;:<>()[\]"\\]+@[^\s@,;:<>()[\]"\\]+$/;

/** Whether an address can be mailed to; what else an account may have is no address elsewhere. */
export const isMailable = (address: string): boolean => plainAddress.test(address);

const utf8 = (Data: string) => ({ Data, Charset: 'UTF-8' });

/** Sends a mail by Amazon SES. @throws {Error} the SDK's, when it is not known to be sent */
export const send = async (address: string, { subject, text, html }: Mail): Promise<void> => {
  client ??= openClient();
  const command = new SendEmailCommand({
    FromEmailAddress: config.mailFrom,
    Destination: { ToAddresses: [address] },
    Content: {
      Simple: { Subject: utf8(subject), Body: { Text: utf8(text), Html: utf8(html) } },
    },
  });
  await client.send(command);
};
