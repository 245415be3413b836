/** The second factor in the fields of a user's item, and of a session (functions/README.md, Second factor). */
import { DomainError } from '../../ground/errors.ts';
import { config } from '../../ground/settings.ts';
import type { Change, StoredUser } from '../../users/item.ts';
import type { Role } from '../../users/user.ts';
import { beganByPasskey, hasPasskey } from '../passkeys/passkeys.ts';
import type { Session } from '../sessions/sessions.ts';

/** The change after which a user has no second factor. */
export const codeFactorRemoved: Change = {
  fields: {
    factor_secret: undefined,
    factor_step: undefined,
    recovery_codes: undefined,
    enrolment: undefined,
  },
};

/** The details of the audit entry of a removal. */
export const removalDetails = { fields: ['second_factor'], second_factor: 'removed' } as const;

/** How a session got its second factor, if it has one. */
type FactorUse = Pick<Session, 'began' | 'enrolled'>;

/**
 * Requires, of a user who needs a second factor and has a passkey, a session that began by one, or with a code, or
 * in which TOTP was enabled: whoever has only the mailbox, and so the password, must not get a factor of their own.
 * @param user the caller as last read
 * @throws {DomainError} SECOND_FACTOR_REQUIRED
 */
export function requirePasskeyHolderSession(
  user: StoredUser,
  { session }: { readonly session: FactorUse },
): void {
  const hadFactor = hadCode(session) || beganByPasskey(user, session);
  if (!mustHaveFactor(user) || !hasPasskey(user) || hadFactor) return;
  throw new DomainError('SECOND_FACTOR_REQUIRED');
}

/** Whether a user needs a second factor to act as an admin or auditor. */
export function mustHaveFactor({ role, auditor }: StoredUser): boolean {
  return config.secondFactor === 'admins' && (role === 'admin' || auditor === true);
}

/** The role of a user in a session. */
export function roleIn(user: StoredUser, session: FactorUse): Role {
  return lacksFactorIn(user, session) ? 'user' : user.role;
}

/**
 * Whether a session lacks the second factor that admins and auditors need: its user has the rights of neither in
 * it.
 */
export function lacksFactorIn(user: StoredUser, session: FactorUse): boolean {
  return config.secondFactor === 'admins' && !hasFactorIn(user, session);
}

/** Whether a session has a second factor: a code while its user has TOTP, or a passkey that is still there. */
export function hasFactorIn(user: StoredUser, session: FactorUse): boolean {
  return (hasCodes(user) && hadCode(session)) || beganByPasskey(user, session);
}

/** Whether a user logs in with a code. Never while SECOND_FACTOR is off. */
export function hasCodes({ factor_secret }: StoredUser): boolean {
  return config.secondFactor !== 'off' && factor_secret !== undefined;
}

/** The part of a second factor that responses show. */
export function factorStanding({ factor_secret, recovery_codes }: StoredUser) {
  return {
    enabled: factor_secret !== undefined,
    recovery_codes_left: recovery_codes?.size ?? 0,
  };
}

/** Whether a session had a code: it began by one, or its user enabled TOTP in it. */
function hadCode({ began, enrolled }: FactorUse): boolean {
  return began === 'code' || enrolled === true;
}
