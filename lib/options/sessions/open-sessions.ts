/** How sessions are shown, and how one, all others or all are ended. */
import { DomainError } from '../../ground/errors.ts';
import type { StoredUser } from '../../users/item.ts';
import { rewriteUser, writeUser } from '../../users/write.ts';
import type { Bearer } from './bearer.ts';
import {
  endSession,
  findSessions,
  openSessions,
  raiseSessionEpoch,
  requireNotEndedWithOthers,
  type Session,
  sessionsEnded,
} from './sessions.ts';

/**
 * The sessions of a user as a response shows them, newest first.
 * @param current the session of the request
 * @throws {DomainError} USER_NOT_FOUND, STORAGE_FAULT
 */
export async function listSessions(id: number, current: Session) {
  return (await readOpen(id))
    .toSorted((a, b) => b.created - a.created)
    .map(({ id, created, used, until, ip_address, user_agent }) => ({
      id,
      created_at: iso(created),
      last_used_at: iso(used),
      expires_at: iso(until * 1000),
      ip_address: ip_address || null,
      user_agent: user_agent || null,
      current: id === current.id,
    }));
}

/**
 * Ends one session of a user.
 * @throws {DomainError} USER_NOT_FOUND, SESSION_NOT_FOUND, STORAGE_FAULT
 */
export async function endOpenSession(id: number, sessionId: string | undefined): Promise<void> {
  const session = (await readOpen(id)).find((each) => each.id === sessionId);
  if (!session) throw new DomainError('SESSION_NOT_FOUND');
  await endSession(id, session.id);
}

/**
 * Ends all sessions of a caller except the session of the request.
 * @throws {DomainError} TOKEN_INVALID when that session was ended meanwhile, USER_NOT_FOUND, STORAGE_FAULT
 */
export async function endOtherSessions(caller: Bearer): Promise<void> {
  const { id, session } = caller;
  const end = async (user: StoredUser) => {
    requireNotEndedWithOthers(user, session);
    await writeUser(user, sessionsEnded(user, session));
  };
  await rewriteUser(id, end, caller);
}

/** Ends all sessions of a user. @throws {DomainError} USER_NOT_FOUND, STORAGE_FAULT */
export async function endAllSessions(id: number): Promise<void> {
  if (!(await raiseSessionEpoch(id))) throw new DomainError('USER_NOT_FOUND');
}

async function readOpen(id: number): Promise<readonly Session[]> {
  const read = await findSessions(id);
  if (!read) throw new DomainError('USER_NOT_FOUND');
  return openSessions(read, new Date());
}

function iso(milliseconds: number): string {
  return new Date(milliseconds).toISOString();
}
