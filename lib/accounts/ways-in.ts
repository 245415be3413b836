/** The ways in that a user may have beside the password, where options give some. */
import type { Step } from '../dynamodb/client.ts';
import { unlinkedAll, unlinking } from '../options/identities/identities.ts';
import type { StoredUser } from '../users/item.ts';
import type { Change } from '../users/write.ts';

/**
 * The change after which the password is the only way in: for a reset and for a password that somebody else
 * sets, because whoever knew the one before may have added another way.
 */
export function withoutOtherWays(user: StoredUser): Change {
  return unlinkedAll(user); // identities
}

/** The steps by which other ways in go with a user who is deleted. */
export function otherWaysGone(user: StoredUser): readonly Step[] {
  return unlinking(user); // identities
}
