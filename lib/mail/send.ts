import { SESv2Client, SendEmailCommand } from '@aws-sdk/client-sesv2';
import { config } from '../config.ts';
import { faultName } from '../errors.ts';
import type { Mail } from './texts.ts';

/** Milliseconds for one attempt; three of them end before the function does. */
const requestTimeout = 5000;

const openClient = () => {
  const patience = config.storagePatience;
  return new SESv2Client({
    maxAttempts: 3,
    requestHandler: {
      connectionTimeout: 1000 * patience,
      requestTimeout: requestTimeout * patience,
      throwOnRequestTimeout: true,
      socketTimeout: requestTimeout * patience,
    },
  });
};

/** The client of this process; absent until something is sent. */
let client: SESv2Client | undefined;

/**
 * One address and no more, for whoever reads it as a header: what has a comma, a bracket or a quote
 * in it may be a list of them, or a name with another address. What is not ASCII may look like
 * another one, or be made into it on the way.
 */
const plainAddress = /^(?=[!-~]+$)[^\s@,;:<>()[\]"\\]+@[^\s@,;:<>()[\]"\\]+$/;

/** An encoded-word (RFC 2047), which a reader of the header may decode into another address. */
const encodedWord = /=\?[^?]*\?[bq]\?.*\?=/i;

/** Whether an address can be mailed to; what else an account may have is no address elsewhere. */
export const isMailable = (address: string): boolean =>
  plainAddress.test(address) && !encodedWord.test(address);

const utf8 = (Data: string) => ({ Data, Charset: 'UTF-8' });

/** A refusal of SES. Its text is left out, as it may quote the mail. */
class Refusal extends Error {
  /** Whether it would be refused again: it is the mail's fault, and not that of the account in AWS. */
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

/** Sends a mail by Amazon SES. @throws {Error} named as SES's, when it is not known to be sent */
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
