import { DomainError, namedError } from '../../ground/errors.ts';
import { describeFault, logError, logMailWithheld, mailNotHandedOver } from '../../ground/log.ts';
import { config, handsMailsOver } from '../../ground/settings.ts';
import type { Source } from '../../ground/source.ts';
import { post } from '../../keys/signed-request.ts';
import type { Claims } from '../../keys/token.ts';
import type { StoredUser, UserFields } from '../../users/item.ts';
import { isOtherAddress } from '../../users/user.ts';
import { countForSource, type MailCause } from './sources.ts';
import type { Part } from './texts/en.ts';

// Messages to the function that sends mails. They hold no token, password or hash. Two kinds of functions hand a
// message over: functions named `request…` throw, and functions named `tryTo…` never throw. Both count the mail for the
// source of the request (sources.ts), except notices to a verified address; limits.ts counts the mail for the address
// to which it is sent.

interface Asked extends Source {
  /** ISO 8601, UTC. */
  readonly time: string;
}

export interface ResetMessage extends Asked {
  readonly kind: 'reset';
  readonly email: string;
  /** Somebody tried to register the address; nobody requested a new password. */
  readonly isTaken?: true;
  /** The id of the user whom an admin invites; nobody requested a new password. */
  readonly invites?: number;
  /** The id of the user who requested the link; absent: the user is not known. */
  readonly asked_by?: number | undefined;
  /** Whether the user who requested the link is an admin. */
  readonly byAdmin?: true;
}

export interface VerificationMessage extends Asked {
  readonly kind: 'verification';
  readonly user_id: number;
  readonly email: string;
  /** The user's `pending_id`, if the user has another address and requested this one. */
  readonly pending_id?: string | undefined;
  /** The id of the session in which the user requested another address. */
  readonly session_id?: string | undefined;
}

export interface NoticeMessage extends Asked {
  readonly kind: 'notice';
  /** The address that the account had before. */
  readonly email: string;
  /** Whether the address is verified: then only its account can cause notices. */
  readonly isVerified?: true;
  readonly byAdmin?: true;
  readonly changed: readonly (Part | 'account')[];
}

export type MailMessage = ResetMessage | VerificationMessage | NoticeMessage;

/**
 * Requests a mail. If the source of the request has requested too many mails, the mail is withheld; this is logged, but
 * not reported to the caller.
 * @param cause the cause under which the mail is counted; 'counted': it was already counted (announced-limits.ts)
 * @throws {DomainError} MAIL_FAULT
 */
export async function requestMail(
  message: MailMessage,
  cause: MailCause | 'counted' = 'other',
): Promise<void> {
  if (await isBeyondLimit(message, cause)) return logMailWithheld(message);
  await handOver(message);
}

/** The same as {@link requestMail}, but never throws: the loss of a message is logged. */
export async function tryToMail(...mail: Parameters<typeof requestMail>): Promise<void> {
  const [message] = mail;
  try {
    await requestMail(...mail);
  } catch (error) {
    logError(mailNotHandedOver, { requestId: message.request_id, ...describeFault(error) });
  }
}

export type Recipient = Pick<StoredUser, 'id' | 'email' | 'email_verified'>;

/**
 * If addresses are verified, requests the link that verifies an address for a user who has not verified it. Never
 * throws, because the user can request the link again.
 */
export async function tryToRemind(
  user: Recipient,
  source: Source,
  cause?: MailCause,
): Promise<void> {
  if (config.emailVerification === 'off' || user.email_verified) return;
  await tryToMail(verificationMessage(user, source), cause);
}

/**
 * If the service sends mails, requests a notice of a change to the address that the account had before. Never throws,
 * because the change is already made.
 */
export async function tryToNotify(
  { email, email_verified }: Recipient,
  changed: NoticeMessage['changed'],
  source: Source,
  { now, byAdmin = false }: { now?: Date; byAdmin?: boolean } = {},
): Promise<void> {
  if (!handsMailsOver() || changed.length === 0) return;
  const verifies = config.emailVerification !== 'off';
  const isVerified = verifies && email_verified === true;
  // The address of a deleted account may belong to a stranger, unless it is verified.
  if (changed.includes('account') && verifies && !isVerified) return;
  const verified = isVerified ? ({ isVerified } as const) : {};
  const admins = byAdmin ? ({ byAdmin } as const) : {};
  const message = { kind: 'notice', email, ...verified, ...admins, changed } as const;
  await tryToMail({ ...message, ...asked(source, now) }, byAdmin ? 'admin' : 'other');
}

export function changedParts(
  before: Recipient,
  changes: Pick<UserFields, 'email'> & { readonly password?: string | undefined },
): Part[] {
  return [
    ...(changes.password === undefined ? [] : (['password'] as const)),
    ...(isOtherAddress(before, changes.email) ? (['email'] as const) : []),
  ];
}

/**
 * A request for a link that sets the password of the account with an address, if there is an account. It is looked up
 * later, so that the time of the response does not reveal whether there is one.
 * @param asker the caller, if the caller is known
 */
export function resetMessage(
  email: string,
  source: Source,
  asker?: Pick<Claims, 'id' | 'role'>,
): ResetMessage {
  const byAdmin = asker?.role === 'admin' ? ({ byAdmin: true } as const) : {};
  return { kind: 'reset', email, asked_by: asker?.id, ...byAdmin, ...asked(source) };
}

export function takenMessage(email: string, source: Source): ResetMessage {
  return { kind: 'reset', email, isTaken: true, ...asked(source) };
}

/** The link by which an invited user sets a first password. Its language may differ from the language of the admin. */
export function invitationMessage(
  { id: invites, email }: Recipient,
  source: Source,
  language = config.mailLanguage,
): ResetMessage {
  return { ...resetMessage(email, source), invites, language };
}

/** A link by which a user verifies the address of the account. */
export function verificationMessage(
  { id: user_id, email }: Recipient,
  source: Source,
): VerificationMessage {
  return { kind: 'verification', user_id, email, ...asked(source) };
}

/** The link for which a user's new address waits. */
export function pendingMessage(
  { id, pending_email: email = '', pending_id }: StoredUser,
  source: Source,
  session_id: string | undefined,
): VerificationMessage {
  return { ...verificationMessage({ id, email }, source), pending_id, session_id };
}

type Invoke = (body: string) => Promise<void>;

/**
 * Accepts a message as JSON. After it has returned, the function that sends mails will run, and run again if it fails.
 */
let invoke: Invoke = byLambda;

/** Replaces Lambda as the receiver of messages: on one machine, the process of the service receives them. */
export function invokeBy(other: Invoke): void {
  invoke = other;
}

async function isBeyondLimit(message: MailMessage, cause: MailCause | 'counted'): Promise<boolean> {
  // Notices to a verified address are not counted: otherwise a thief could use up the limit, and then change the
  // account unnoticed.
  const isOwnNotice = message.kind === 'notice' && message.isVerified;
  if (cause === 'counted' || isOwnNotice) return false;
  return (await countForSource(cause, message)) > 0;
}

/** When this function returns, Lambda has the message. @throws {DomainError} MAIL_FAULT */
async function handOver(message: MailMessage): Promise<void> {
  const body = JSON.stringify(message);
  await invoke(body)
    // There are only two attempts. If both messages arrive, only one mail is sent.
    .catch(() => invoke(body))
    .catch((cause: unknown) => {
      throw new DomainError('MAIL_FAULT', { cause });
    });
}

function asked(source: Source, now = new Date()): Asked {
  return {
    ...source,
    time: now.toISOString(),
  };
}

/** An asynchronous invocation (Lambda's API reference, Invoke): Lambda runs the function later. */
async function byLambda(body: string): Promise<void> {
  const { status } = await post({
    url: config.mailFunctionUrl,
    service: 'lambda',
    headers: { 'content-type': 'application/json', 'x-amz-invocation-type': 'Event' },
    body,
  });
  if (status !== 202) throw namedError(`Http${status}`);
}
