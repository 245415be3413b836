/** Finds the caller of a request where there are sessions (functions/README.md, Sessions). */
import { Overtaken, untilWritten } from '../../dynamodb/client.ts';
import { DomainError } from '../../ground/errors.ts';
import { describeFault, logError } from '../../ground/log.ts';
import { longestDelay } from '../../ground/time.ts';
import type { Belonging } from '../../keys/token.ts';
import type { StoredUser } from '../../users/item.ts';
import { rewriteUser } from '../../users/write.ts';
import {
  findOpenSession,
  findSessions,
  requireNotEndedWithOthers,
  type Session,
  type WithSessions,
  writeSession,
} from './sessions.ts';

/** A caller as stored, with the session of the request. */
export type Bearer = StoredUser & { readonly session: Session };

/**
 * Reads the caller of a verified token.
 * @param token the protected header of the token
 * @returns undefined when the user was deleted
 * @throws {DomainError} TOKEN_INVALID when the token has no session, its session has ended, or its pair was replaced
 */
export function findBearer(id: number, token: Partial<Belonging>): Promise<Bearer | undefined> {
  const use = async (read: WithSessions | undefined) => {
    if (!read) return undefined;
    const session = findOpenSession(read, token.session, new Date());
    if (!session || Number(token.pair) < session.refresh.oldest) {
      throw new DomainError('TOKEN_INVALID');
    }
    const { pair, isUsed } = session.refresh;
    // The first pair is never replaced, because no token came before it.
    const isNoted = token.pair !== pair || pair === 0 || isUsed;
    if (!isNoted) await noteUse(read, session);
    return { ...read.user, session };
  };
  return untilWritten(() => findSessions(id), use);
}

/**
 * Changes a caller as {@link rewriteUser} does, unless all sessions of the user, including the session of the request,
 * were ended since it was read.
 * @param known the caller for the first attempt, as last read
 * @throws {DomainError} TOKEN_INVALID, USER_NOT_FOUND, and the errors of the change
 */
export function rewriteCaller<T>(
  caller: Bearer,
  change: (user: StoredUser) => Promise<T>,
  known: StoredUser = caller,
): Promise<T> {
  const changeOpen = async (user: StoredUser) => {
    requireNotEndedWithOthers(user, caller.session);
    return change(user);
  };
  return rewriteUser(caller.id, changeOpen, known);
}

/**
 * Records that an access token of a session's newest pair was used; from then on, no other pair replaces the newest
 * pair (functions/README.md, Refresh). A fault is logged, and the request continues.
 * @throws {Overtaken} when others have written the session since it was read
 */
async function noteUse(read: WithSessions, session: Session): Promise<void> {
  const refresh = { ...session.refresh, isUsed: true } as const;
  try {
    await writeSession(read, { ...session, refresh }, { timeout: longestDelay() });
  } catch (error) {
    if (error instanceof Overtaken) throw error;
    logError('token-use-not-noted', describeFault(error));
  }
}
