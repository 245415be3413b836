/** Verified addresses in the fields of a user's item (functions/README.md, Verified addresses). */
import { randomUUID } from 'node:crypto';
import { config } from '../../ground/settings.ts';
import { seconds } from '../../ground/time.ts';
import type { StoredUser } from '../../users/item.ts';
import type { User } from '../../users/user.ts';
import type { Change, Fields } from '../../users/write.ts';
import { linkLifetime, voidLink } from '../links/item.ts';

/** The fields of a user who waits for no link. */
export const waitingForNone = {
  pending_email: undefined,
  pending_until: undefined,
  pending_id: undefined,
} as const satisfies Fields;

/** The field of a user whose address is verified, whatever the setting. */
export const verified = { email_verified: true } as const satisfies Fields;

/** The field that says whether an address is verified, where EMAIL_VERIFICATION is not off. */
export function verifiedAs(isVerified: boolean): Pick<User, 'email_verified'> {
  return config.emailVerification === 'off' ? {} : { email_verified: isVerified };
}

/** Whether nobody may log in as a user before the address is verified. */
export function mustVerify(user: StoredUser): boolean {
  return config.emailVerification === 'required' && isUnverified(user);
}

/** Whether addresses are verified, and that of a user is not. */
export function isUnverified({ email_verified }: Pick<User, 'email_verified'>): boolean {
  return config.emailVerification !== 'off' && !email_verified;
}

/**
 * The change for a user who asks for another address: it waits for its link, and the link before it is void
 * before anything is mailed, so that it does not tell whether the address is free. If the same address
 * waits already, its link stays valid.
 */
export function waitingFor(user: StoredUser, email: string, now = new Date()): Change {
  const fields = { pending_email: email, pending_until: seconds(now) + linkLifetime };
  if (isWaiting(user, now) && user.pending_id !== undefined && user.pending_email === email) {
    return { fields };
  }
  return {
    fields: { ...fields, pending_id: randomUUID() },
    steps: [[{ Update: voidLink('address', user.id) }]],
  };
}

/** Whether another address of a user waits for its link. */
export function isWaiting(
  { pending_email, pending_until = 0 }: Pick<StoredUser, 'pending_email' | 'pending_until'>,
  now = new Date(),
): boolean {
  return (
    config.emailVerification !== 'off' &&
    pending_email !== undefined &&
    pending_until > seconds(now)
  );
}
