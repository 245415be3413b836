/**
 * Users whom an admin invites to choose their first password by a mailed link (functions/README.md, Invitations). The
 * link is a reset link, but it is valid for a longer time, and becomes void as soon as `invited_until` changes.
 */
import type { ErrorCode } from '../../ground/errors.ts';
import { config, hasIdentities, sendsMail } from '../../ground/settings.ts';
import { day } from '../../ground/time.ts';
import type { Change, StoredUser } from '../../users/item.ts';
import { isSuspended, isUnmatchable } from '../../users/user.ts';
import { writeUser } from '../../users/write.ts';
import { makeLinkToken, resetLink } from '../links/mailed-link.ts';

/** The change of an invited user who gets a password: the invitation ends. */
export const invitationAccepted: Change = { fields: { invited_until: undefined } };

/** Seconds for which the link of an invitation is valid. */
const lifetime = 7 * day;

export function invitedFrom(now = new Date()) {
  return { invited_until: new Date(now.getTime() + lifetime * 1000).toISOString() };
}

/** The change that makes the link of an invitation void from now on; the user can be invited again. */
export function invitationLinkVoided({ invited_until }: StoredUser, now = new Date()): Change {
  const time = now.toISOString();
  return invited_until && invited_until > time ? { fields: { invited_until: time } } : {};
}

/** The error if a user cannot be invited, or invited again; undefined: the user can be invited. */
export function whyNotInvitable(user: StoredUser): ErrorCode | undefined {
  const hasIdentity = hasIdentities(config) && user.identities !== undefined;
  if (!isUnmatchable(user.password_hash) || hasIdentity) return 'WAY_IN_EXISTS';
  if (user.role === 'admin') return 'ADMIN_INVITED';
  return isSuspended(user) ? 'INVITED_SUSPENDED' : undefined;
}

/**
 * Whether a user has an unused invitation that is in force. If the service sends no mails, no invitation is in force.
 */
export function isInvited(user: StoredUser): boolean {
  return sendsMail(config) && hasUnusedInvitation(user);
}

/** Whether a user has an unused invitation, even if its link has expired or the service sends no mails. */
export function hasUnusedInvitation(user: StoredUser): boolean {
  const isOpen = [undefined, 'INVITED_SUSPENDED'].includes(whyNotInvitable(user));
  return user.invited_until !== undefined && isOpen;
}

/**
 * Makes the token of an invitation, and makes earlier tokens void.
 * @throws {Overtaken} when others have changed the user since the user was read
 */
export async function makeInvitationToken(user: StoredUser, now = new Date()): Promise<string> {
  const invited = await writeUser(user, { fields: invitedFrom(now) });
  return makeLinkToken({ ...resetLink(invited), lifetime }, now);
}
