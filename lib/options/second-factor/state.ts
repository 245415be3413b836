/** The second factor in the fields of a user's item and of a session (functions/README.md, Second factor). */
import { DomainError } from '../../ground/errors.ts';
import { config } from '../../ground/settings.ts';
import type { Change, StoredUser } from '../../users/item.ts';
import type { Role } from '../../users/user.ts';
import { beganByPasskey, hasPasskey } from '../passkeys/passkeys.ts';
import type { Session } from '../sessions/sessions.ts';

export const codeFactorRemoved: Change = {
  fields: {
    factor_secret: undefined,
    factor_step: undefined,
    recovery_codes: undefined,
    enrolment: undefined,
  },
};

export const removalDetails = { fields: ['second_factor'], second_factor: 'removed' } as const;

/** The fields that say how a session got its second factor, if it has one. */
type FactorFields = Pick<Session, 'began' | 'enrolled'>;

/**
 * Requires that the session has a second factor, if the user must have a second factor and has a passkey. Somebody who
 * controls only the mailbox, and thus the password, must not get a factor of their own.
 * @param user the caller as last read
 */
export function requireFactorOfPasskeyHolder(
  user: StoredUser,
  { session }: { readonly session: FactorFields },
): void {
  if (!mustHaveFactor(user) || !hasPasskey(user)) return;
  // hasFactorIn is not called, because here a code counts even if the user has removed TOTP since then.
  if (hadCode(session) || beganByPasskey(user, session)) return;
  throw new DomainError('SECOND_FACTOR_REQUIRED');
}

/** Whether a user needs a second factor to act as an admin or auditor. */
export function mustHaveFactor({ role, auditor }: StoredUser): boolean {
  return config.secondFactor === 'admins' && (role === 'admin' || auditor === true);
}

export function roleIn(user: StoredUser, session: FactorFields): Role {
  return lacksFactorIn(user, session) ? 'user' : user.role;
}

/** Without the second factor that they need, admins and auditors have the rights of neither. */
export function lacksFactorIn(user: StoredUser, session: FactorFields): boolean {
  return config.secondFactor === 'admins' && !hasFactorIn(user, session);
}

/** Whether a session has a second factor: a code, while its user has TOTP, or a passkey that the user still has. */
export function hasFactorIn(user: StoredUser, session: FactorFields): boolean {
  return (hasCodes(user) && hadCode(session)) || beganByPasskey(user, session);
}

/** Whether a user logs in with a code. No user does while SECOND_FACTOR is off. */
export function hasCodes({ factor_secret }: StoredUser): boolean {
  return config.secondFactor !== 'off' && factor_secret !== undefined;
}

export function factorStanding({ factor_secret, recovery_codes }: StoredUser) {
  return {
    enabled: factor_secret !== undefined,
    recovery_codes_left: recovery_codes?.size ?? 0,
  };
}

/** Whether a session had a code: it began with a code, or its user enabled TOTP in it. */
function hadCode({ began, enrolled }: FactorFields): boolean {
  return began === 'code' || enrolled === true;
}
