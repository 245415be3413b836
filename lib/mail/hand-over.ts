import { Sha256 } from '@smithy/core/checksum';
import { HttpRequest } from '@smithy/core/protocols';
import { NodeHttpHandler } from '@smithy/node-http-handler';
import { SignatureV4 } from '@smithy/signature-v4';
import { DomainError, namedError } from '../errors.ts';
import { describeFault, logError, noticeNotHandedOver } from '../log.ts';
import { config } from '../settings.ts';

// Messages to the function that mails. They hold no token, password or hash.

/** The request that a message is for: where it came from, and when. */
interface Asked {
  readonly request_id: string;
  readonly ip_address: string;
  readonly user_agent: string;
  /** ISO 8601, UTC. */
  readonly time: string;
}

/** A link for the account of an address, if there is one. */
export interface ResetMessage extends Asked {
  readonly kind: 'reset';
  readonly email: string;
}

/** The notice to an account that its password or address was changed. */
export interface NoticeMessage extends Asked {
  readonly kind: 'notice';
  /** The user of the account. */
  readonly user_id: number;
  /** The address that the account had before. */
  readonly email: string;
  readonly changed: readonly ('email' | 'password')[];
}

export type MailMessage = ResetMessage | NoticeMessage;

// Messages are handed to the function that mails by an asynchronous invocation: Lambda runs it
// later, and again if it fails. The request is signed here, because the SDK's client for Lambda is
// as large as everything else in a bundle, and the code that signs is in the bundle already.

/** Milliseconds for one attempt. */
const requestTime = 1000;

/** The client of this process; absent until something is handed over. */
let http: NodeHttpHandler | undefined;

const credentials = () => {
  const { AWS_ACCESS_KEY_ID = '', AWS_SECRET_ACCESS_KEY = '', AWS_SESSION_TOKEN } = process.env;
  return {
    accessKeyId: AWS_ACCESS_KEY_ID,
    secretAccessKey: AWS_SECRET_ACCESS_KEY,
    ...(AWS_SESSION_TOKEN ? { sessionToken: AWS_SESSION_TOKEN } : {}),
  };
};

/** An asynchronous invocation (Lambda's API reference, Invoke). */
const invocation = async (body: string) => {
  const { protocol, hostname, port, host, pathname } = new URL(config.mailFunctionUrl);
  const request = new HttpRequest({
    ...{ method: 'POST', protocol, hostname, path: pathname, body },
    ...(port ? { port: Number(port) } : {}),
    headers: {
      host,
      'content-type': 'application/json',
      'content-length': String(Buffer.byteLength(body)),
      'x-amz-invocation-type': 'Event',
    },
  });
  const region = process.env.AWS_REGION ?? '';
  const signer = new SignatureV4({
    ...{ credentials: credentials(), region, service: 'lambda', sha256: Sha256 },
  });
  return (await signer.sign(request)) as HttpRequest;
};

const invoke = async (body: string): Promise<void> => {
  const requestTimeout = requestTime * config.storagePatience;
  http ??= new NodeHttpHandler({
    connectionTimeout: requestTimeout / 2,
    requestTimeout,
    throwOnRequestTimeout: true,
    socketTimeout: requestTimeout,
  });
  const { response } = await http.handle(await invocation(body));
  // An unread body would keep the connection busy.
  for await (const _ of response.body);
  if (response.statusCode !== 202) throw namedError(`Http${response.statusCode}`);
};

/**
 * Requests a mail. When this returns, Lambda has the message.
 * @throws {DomainError} MAIL_FAULT
 */
export const handOver = async (message: MailMessage): Promise<void> => {
  const body = JSON.stringify(message);
  await invoke(body)
    // A second attempt, and no more. If the message comes twice, a link is mailed once.
    .catch(() => invoke(body))
    .catch((cause: unknown) => {
      throw new DomainError('MAIL_FAULT', { cause });
    });
};

/** The request that makes a change, and where it comes from. */
export interface Source {
  readonly request_id: string;
  readonly ip_address: string;
  readonly user_agent: string;
}

/**
 * Requests a notice to the old address of an account when its password or address was changed,
 * where the service sends mails. Never throws: the change is made, and a notice that is lost is
 * logged.
 */
export const noticeChange = async (
  before: { readonly id: number; readonly email: string },
  { email = before.email, password }: { readonly email?: string; readonly password?: string },
  source: Source,
  { now = new Date() }: { now?: Date } = {},
): Promise<void> => {
  // A change of letter case counts: a mail system may take the result for another address.
  const isMoved = email !== before.email;
  const changed = [
    ...(password === undefined ? [] : (['password'] as const)),
    ...(isMoved ? (['email'] as const) : []),
  ];
  if (config.mailFunctionUrl === '' || changed.length === 0) return;
  try {
    const time = now.toISOString();
    const { id: user_id, email: address } = before;
    await handOver({ kind: 'notice', user_id, email: address, changed, ...source, time });
  } catch (error) {
    logError(noticeNotHandedOver, { requestId: source.request_id, ...describeFault(error) });
  }
};
