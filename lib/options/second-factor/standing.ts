/** What a session may by the second factor that was used in it (functions/README.md, Second factor). */
import { config } from '../../ground/settings.ts';
import type { StoredUser } from '../../users/item.ts';
import type { Role } from '../../users/user.ts';
import { beganByPasskey } from '../passkeys/passkeys.ts';
import type { Session } from '../sessions/sessions.ts';
import { hasFactor } from './state.ts';

/** How a session got its second factor, if it has one. */
export type FactorUse = Pick<Session, 'began' | 'enrolled'>;

/** Whether a code was given in a session: it began by one, or its user enabled TOTP in it. */
export function usedCode({ began, enrolled }: FactorUse): boolean {
  return began === 'code' || enrolled === true;
}

/** Whether a session has a second factor: by a code while its user has TOTP, or by a passkey that is still there. */
export function hasFactorIn(user: StoredUser, session: FactorUse): boolean {
  return (hasFactor(user) && usedCode(session)) || beganByPasskey(user, session);
}

/** Whether a user is neither admin nor auditor in a session, because it lacks the second factor that both need. */
export function lacksFactorIn(user: StoredUser, session: FactorUse): boolean {
  return config.secondFactor === 'admins' && !hasFactorIn(user, session);
}

/** The role of a user in a session. */
export function roleIn(user: StoredUser, session: FactorUse): Role {
  return lacksFactorIn(user, session) ? 'user' : user.role;
}
