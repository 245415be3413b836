/** How sessions are shown, and ended one by one or all others at once. */
import { retryWrite, updateOnce } from '../dynamodb/client.ts';
import { DomainError } from '../errors.ts';
import { config } from '../settings.ts';
import type { Bearer } from './bearer.ts';
import { type StoredUser, userKey } from './items.ts';
import {
  endingSessions,
  endSession,
  isEnded,
  isOver,
  type NamedSession,
  readSessions,
  type Session,
} from './sessions.ts';

/**
 * The sessions of a user that have not ended, newest first.
 * @throws {DomainError} USER_NOT_FOUND, STORAGE_FAULT
 */
const openSessions = async (id: number): Promise<readonly NamedSession[]> => {
  const now = new Date();
  const found = await readSessions(id);
  if (!found) throw new DomainError('USER_NOT_FOUND');
  return Object.entries(found.sessions)
    .map(([sessionId, session]) => ({ ...session, id: sessionId }))
    .filter((session) => !isOver(found.user, session, now))
    .sort((a, b) => b.created - a.created);
};

const iso = (milliseconds: number): string => new Date(milliseconds).toISOString();

const shown = ({ created, used, until, ip_address, user_agent }: Session) => ({
  created_at: iso(created),
  last_used_at: iso(used),
  expires_at: iso(until * 1000),
  ip_address: ip_address ?? null,
  user_agent: user_agent ?? null,
});

/**
 * The sessions of a user as a response shows them, newest first.
 * @param current the session of the request
 * @throws {DomainError} USER_NOT_FOUND, STORAGE_FAULT
 */
export const listSessions = async (id: number, current: NamedSession) =>
  (await openSessions(id)).map((session) => ({
    id: session.id,
    ...shown(session),
    current: session.id === current.id,
  }));

/**
 * Ends one session of a user.
 * @throws {DomainError} USER_NOT_FOUND, SESSION_NOT_FOUND, STORAGE_FAULT
 */
export const endOpenSession = async (id: number, sessionId: string | undefined): Promise<void> => {
  const session = (await openSessions(id)).find((each) => each.id === sessionId);
  if (!session) throw new DomainError('SESSION_NOT_FOUND');
  await endSession(id, session.id);
};

/** The update that ends all sessions but one, on the condition that nothing ended any meanwhile. */
const endingOthers = (user: StoredUser, session: NamedSession) => {
  const { session_epoch: epoch } = user;
  const condition =
    epoch === undefined
      ? { ConditionExpression: 'attribute_exists(pk) AND attribute_not_exists(session_epoch)' }
      : {
          ConditionExpression: 'session_epoch = :epoch',
          ExpressionAttributeValues: { ':epoch': epoch },
        };
  const key = { TableName: config.usersTable, Key: userKey(user.id) };
  return endingSessions({ ...key, ...condition, UpdateExpression: '' }, { user, session });
};

/**
 * Ends all sessions of a caller but that of the request.
 * @throws {DomainError} TOKEN_INVALID when that one was ended meanwhile, STORAGE_FAULT
 */
export const endOtherSessions = async (caller: Bearer): Promise<void> => {
  const { id, session } = caller;
  const tryOnce = async (attempt: number) => {
    const user = attempt === 0 ? caller : (await readSessions(id))?.user;
    if (!user || isEnded(user, session)) throw new DomainError('TOKEN_INVALID');
    return (await updateOnce(endingOthers(user, session))) || undefined;
  };
  await retryWrite(tryOnce, { attempts: 5 });
};
