/** The item of a user's newest link of a kind. */
import { config } from '../../ground/settings.ts';
import { hour, seconds } from '../../ground/time.ts';
import type { ItemKey } from '../../users/item.ts';

/** The purpose of a mailed link: to set a password, or to verify an address. */
export type LinkKind = 'reset' | 'address';

/** Seconds for which a mailed link is valid. */
export const linkLifetime = 30 * 60;

/** The update that makes the link of a user void, for a transaction. */
export function voidLink(kind: LinkKind, id: number, now = new Date()) {
  return {
    TableName: config.usersTable,
    Key: linkKey(kind, id),
    UpdateExpression:
      'SET expires_at = if_not_exists(expires_at, :end) REMOVE token_hash, token_expires_at, user_state',
    ExpressionAttributeValues: { ':end': seconds(now) + hour },
  };
}

/** The key of the item that holds a user's newest link of a kind. */
export function linkKey(kind: LinkKind, id: number): ItemKey {
  return { pk: `${kind}#${id}` };
}
