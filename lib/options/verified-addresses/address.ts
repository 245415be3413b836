/** Reads and changes the fields of a user's item about verified addresses (functions/README.md, Verified addresses). */
import { DomainError } from '../../ground/errors.ts';
import { config } from '../../ground/settings.ts';
import { seconds } from '../../ground/time.ts';
import type { Change, StoredUser, UserFields } from '../../users/item.ts';
import type { User } from '../../users/user.ts';

export const noAddressAwaited: Change = {
  fields: { pending_email: undefined, pending_until: undefined, pending_id: undefined },
};

/** The field of a user whose address is verified, whatever EMAIL_VERIFICATION is. */
export const verifiedAddress = { email_verified: true } as const satisfies UserFields;

/** The field of a user whose address is not verified: it is absent. */
export const unverifiedAddress = { email_verified: undefined } as const satisfies UserFields;

/** The field that says whether an address is verified, where EMAIL_VERIFICATION is not off. */
export function verifiedAs(isVerified: boolean): Pick<User, 'email_verified'> {
  return config.emailVerification === 'off' ? {} : { email_verified: isVerified };
}

/** Whether a user must verify the address before any login. */
export function mustVerify(user: StoredUser): boolean {
  return config.emailVerification === 'required' && isUnverified(user);
}

/** Whether the service verifies addresses, and the address of a user is not verified. */
export function isUnverified({ email_verified }: Pick<User, 'email_verified'>): boolean {
  return config.emailVerification !== 'off' && !email_verified;
}

/**
 * Requires that the address of a user is verified, if the service verifies addresses: whoever registers somebody else's
 * address must neither keep a way in nor lock out the holder of the mailbox.
 */
export function requireVerifiedAddress(user: StoredUser): void {
  if (isUnverified(user)) throw new DomainError('EMAIL_NOT_VERIFIED');
}

export function awaitsLink(
  { pending_until = 0 }: Pick<StoredUser, 'pending_until'>,
  now = new Date(),
): boolean {
  return config.emailVerification !== 'off' && pending_until > seconds(now);
}
