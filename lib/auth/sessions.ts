/** One session, where sessions are revocable (functions/README.md, Sessions): a token and its end. */
import { createHash } from 'node:crypto';
import { PutCommand } from '@aws-sdk/lib-dynamodb';
import { config } from '../config.ts';
import { send } from '../dynamodb/client.ts';
import { DomainError } from '../errors.ts';
import { getItems, type ItemKey, type StoredUser, toStoredUser, userKey } from '../users/items.ts';
import { type Claims, sessionOf } from './token.ts';

/** The key of the item that tells a token which was logged out. The token itself is not kept. */
const loggedOutKey = (token: string): ItemKey => ({
  pk: `logged-out#${createHash('sha256').update(token).digest('base64url')}`,
});

/**
 * Reads the user of a verified token, provided that its session has not been ended.
 * @returns undefined when there is no such user any more
 * @throws {DomainError} TOKEN_INVALID when the session was ended, STORAGE_FAULT
 */
export const findSessionUser = async (
  token: string,
  { id }: Pick<Claims, 'id'>,
): Promise<StoredUser | undefined> => {
  const [item, loggedOut] = await getItems([userKey(id), loggedOutKey(token)]);
  const user = item && toStoredUser(item);
  const isEnded = user && sessionOf(token) !== (user.session_number ?? 0);
  if (loggedOut || isEnded) throw new DomainError('TOKEN_INVALID');
  return user;
};

/** Ends the session of a token, which is kept in mind until it expires. */
export const endSession = async (token: string, { exp }: Pick<Claims, 'exp'>): Promise<void> => {
  const Item = { ...loggedOutKey(token), expires_at: exp };
  await send(new PutCommand({ TableName: config.usersTable, Item }));
};
