/** The verification of addresses by mailed links (functions/README.md, Verified addresses). */

import { audited } from '../audit/record.ts';
import { requirePassword } from '../auth/own-change.ts';
import { retryWrite } from '../dynamodb/client.ts';
import { DomainError } from '../errors.ts';
import { mailPendingLink, notifyOfChange } from '../mail/hand-over.ts';
import { config, hidesAccounts } from '../settings.ts';
import type { Source } from '../source.ts';
import { changeDetails } from '../users/audit-details.ts';
import { isWaiting, waitingForLink } from '../users/items.ts';
import type { UserChanges } from '../users/schema.ts';
import { findUserByEmail, readUser } from '../users/store.ts';
import type { Permission, UserUpdate } from '../users/update.ts';
import { findLink, useVerification } from './store.ts';

/** The fields by which a user begins or ends to wait for the link to another address; empty: neither. */
type Waiting = Pick<UserUpdate, 'pending_email' | 'pending_until' | 'pending_id'>;

/**
 * Takes another address of one's own out of a change, where addresses are verified: the user gets it by
 * the link that {@link mailWaiting} requests. Where nobody may know who has an account, the address is
 * not looked up here, and its mail tells its holder.
 * The present address, sent back, ends the wait for another one.
 * @param permission of the change; absent: the user is read
 * @returns the rest of the change, and the fields by which the user waits for the link
 * @throws {DomainError} USER_NOT_FOUND, EMAIL_REGISTERED unless nobody may know, STORAGE_FAULT
 */
export const postponeMove = async (
  id: number,
  changes: UserChanges,
  permission: Permission | undefined,
): Promise<{ atOnce: UserChanges; waiting: Waiting }> => {
  const { email, ...rest } = changes;
  const all = { atOnce: changes, waiting: {} };
  if (config.emailVerification === 'off' || email === undefined) return all;
  const user = permission?.user ?? (await readUser(id));
  if (email === user.email) {
    return isWaiting(user) ? { ...all, waiting: { pending_email: undefined } } : all;
  }
  if (!hidesAccounts(config)) {
    const holder = await findUserByEmail(email);
    if (holder && holder.id !== id) throw new DomainError('EMAIL_REGISTERED');
  }
  return { atOnce: rest, waiting: waitingForLink(user, email) };
};

/** Requests the mail with the link for which a user waits, once that is stored. Never throws. */
export const mailWaiting = async (
  id: number,
  { pending_email: email, pending_id: pendingId }: Waiting,
  { permission, source }: { permission: Permission | undefined; source: Source },
): Promise<void> => {
  if (email === undefined) return;
  const sessionId = permission?.session?.id;
  await mailPendingLink({ id, email }, source, { pendingId, sessionId });
};

/** Attempts to use a link, between which others change its user. */
const maxAttempts = 3;

/**
 * One attempt at verifying an address.
 * @returns undefined when others changed the user meanwhile, and false for a repetition
 */
const tryToVerify = async (
  { token, password }: { token: string; password: string },
  source: Source,
  entry: object,
) => {
  const link = await findLink('verification', token);
  if (!link) throw new DomainError('VERIFICATION_TOKEN_INVALID');
  const { user, email, isUsed: isRepeated } = link;
  const { id } = user;
  const moved = email === user.email ? {} : { email };
  const { fields, ...values } = changeDetails(user, moved);
  const details = { fields: [...fields, 'email_verified'], by: 'verification', ...values };
  Object.assign(entry, { user_id: id, resource_id: id, details });
  await requirePassword(user, { currentPassword: password, sourceIp: source.ip_address });
  if (isRepeated) return false;
  return (await useVerification(link)) ? { user, moved } : undefined;
};

/**
 * Marks an address as verified by a token, which is valid once, and the password of the account:
 * whoever opens the link of an account that somebody else made with the address verifies nothing. A
 * repetition of what was done needs the password too, and changes, records and mails nothing.
 * @throws {DomainError} VERIFICATION_TOKEN_INVALID, CURRENT_PASSWORD_WRONG, TOO_MANY_ATTEMPTS,
 *   EMAIL_REGISTERED, STORAGE_FAULT
 */
export const verifyEmail = async (
  link: { token: string; password: string },
  source: Source,
): Promise<void> => {
  const change = { ...source, action: 'UPDATE', details: { by: 'verification' } } as const;
  const verified = await audited(change, (entry) =>
    retryWrite(() => tryToVerify(link, source, entry), { attempts: maxAttempts }),
  );
  if (verified) await notifyOfChange(verified.user, verified.moved, source);
};
