import { Sha256 } from '@smithy/core/checksum';
import { HttpRequest } from '@smithy/core/protocols';
import { NodeHttpHandler } from '@smithy/node-http-handler';
import { SignatureV4 } from '@smithy/signature-v4';
import { DomainError, namedError } from '../errors.ts';
import { describeFault, logError, noticeNotHandedOver } from '../log.ts';
import { config } from '../settings.ts';

/** What functions ask the one that mails for. No token, password or hash is in it. */

/** Which request it is for, where that came from, and when. */
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

/** Word to an account of what was changed of how it is entered. */
export interface NoticeMessage extends Asked {
  readonly kind: 'notice';
  /** Whose account it is. */
  readonly user_id: number;
  /** The address that the account had before. */
  readonly email: string;
  readonly changed: readonly ('email' | 'password')[];
}

export type MailMessage = ResetMessage | NoticeMessage;

// * Hands messages to the function that mails, which runs by itself: Lambda invokes it later, and
// again when it fails. The SDK's client of Lambda is as large as all else in a bundle; what signs a
// request is in there already.

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
  // Unread, it would keep its connection.
  for await (const _ of response.body);
  if (response.statusCode !== 202) throw namedError(`Http${response.statusCode}`);
};

/**
 * Asks for a mail. When it returns, the message is in safe hands.
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

/** Which request does something, and where it comes from. */
export interface Source {
  readonly request_id: string;
  readonly ip_address: string;
  readonly user_agent: string;
}

/**
 * Has an account mailed, at the address that it had, when its password or its address was changed.
 * Never throws: what was changed is changed, and word that is lost is in the log.
 */
export const noticeChange = async (
  before: { readonly id: number; readonly email: string },
  { email = before.email, password }: { readonly email?: string; readonly password?: string },
  source: Source,
  { now = new Date() }: { now?: Date } = {},
): Promise<void> => {
  // In any letter of it: who reads an address by other rules than ours takes it for another.
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
