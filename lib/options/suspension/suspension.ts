/** Changes the fields of a user's item that suspend a user (functions/README.md, Suspension). */
import type { Change, StoredUser } from '../../users/item.ts';

/** The change that suspends a user from now on, and makes mailed links void. */
export function suspended({ suspensions = 0 }: StoredUser, now: Date): Change {
  return { fields: { suspended_at: now.toISOString(), suspensions: suspensions + 1 } };
}

export const suspensionLifted: Change = { fields: { suspended_at: undefined } };
