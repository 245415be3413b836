import { DomainError, namedError } from '../errors.ts';
import { describeFault, logError, noticeNotHandedOver } from '../log.ts';
import { config } from '../settings.ts';
import { post } from '../signed-request.ts';
import type { Source } from '../source.ts';

// Messages to the function that mails. They hold no token, password or hash.

/** The request that a message is for: where it came from, and when. */
interface Asked extends Source {
  /** ISO 8601, UTC. */
  readonly time: string;
}

/** A link for the account of an address, if there is one. */
export interface ResetMessage extends Asked {
  readonly kind: 'reset';
  readonly email: string;
  /** Somebody tried to register the address; nobody asked for a new password. */
  readonly isTaken?: true;
}

/** A link by which a user verifies an address. */
export interface VerificationMessage extends Asked {
  readonly kind: 'verification';
  readonly user_id: number;
  readonly email: string;
  /** The user wants to have the address, and has another one. */
  readonly isNew?: true;
  /** The id of the session in which the user asked for another address. */
  readonly session_id?: string | undefined;
}

export type LinkMessage = ResetMessage | VerificationMessage;

/** The notice to an account that its password, address or second factor was changed. */
export interface NoticeMessage extends Asked {
  readonly kind: 'notice';
  /** The user of the account. */
  readonly user_id: number;
  /** The address that the account had before. */
  readonly email: string;
  readonly changed: readonly ('email' | 'password' | 'secondFactor')[];
}

export type MailMessage = LinkMessage | NoticeMessage;

/**
 * Hands a message to the function that mails by an asynchronous invocation (Lambda's API reference,
 * Invoke): Lambda runs it later, and again if it fails.
 */
const invoke = async (body: string): Promise<void> => {
  const { status } = await post({
    url: config.mailFunctionUrl,
    service: 'lambda',
    headers: { 'content-type': 'application/json', 'x-amz-invocation-type': 'Event' },
    body,
  });
  if (status !== 202) throw namedError(`Http${status}`);
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

/** Never throws: a message that is lost is logged. */
const handOverOrLog = async (message: MailMessage): Promise<void> => {
  try {
    await handOver(message);
  } catch (error) {
    logError(noticeNotHandedOver, { requestId: message.request_id, ...describeFault(error) });
  }
};

/**
 * Requests a notice to an account, where the service sends mails. Never throws: the change is made,
 * and a notice that is lost is logged.
 */
const notice = async (
  { id: user_id, email }: { readonly id: number; readonly email: string },
  changed: NoticeMessage['changed'],
  source: Source,
  now: Date,
): Promise<void> => {
  if (config.mailFunctionUrl === '' || changed.length === 0) return;
  const time = now.toISOString();
  await handOverOrLog({ kind: 'notice', user_id, email, changed, ...source, time });
};

/** Requests a {@link notice} to the old address of an account that was changed. */
export const notifyOfChange = (
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
  return notice(before, changed, source, now);
};

/** Requests a {@link notice} that a second factor was enabled, removed, or got new recovery codes. */
export const notifyOfFactor = (
  user: { readonly id: number; readonly email: string },
  source: Source,
): Promise<void> => notice(user, ['secondFactor'], source, new Date());

/** A message that asks for a link by which a user verifies an address. */
export const verificationOf = (
  { id: user_id, email }: { readonly id: number; readonly email: string },
  source: Source,
): VerificationMessage => ({
  kind: 'verification',
  user_id,
  email,
  ...source,
  time: new Date().toISOString(),
});

/**
 * Requests a mail by which a user verifies an address, unless it is verified already. Never throws:
 * the user can ask again.
 */
export const remindToVerify = async (
  user: {
    readonly id: number;
    readonly email: string;
    readonly email_verified?: boolean | undefined;
  },
  source: Source,
): Promise<void> => {
  if (config.emailVerification === 'off' || user.email_verified) return;
  await handOverOrLog(verificationOf(user, source));
};

/** Requests a mail to whoever has an address with which somebody registers. Never throws. */
export const tellHolder = (email: string, source: Source): Promise<void> =>
  handOverOrLog({ kind: 'reset', email, isTaken: true, ...source, time: new Date().toISOString() });
