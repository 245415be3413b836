/**
 * How sessions are ended (functions/README.md, Sessions). All of this file is code of the option Sessions, except the
 * audit entry of a logout.
 */
import { recording } from '../audit/record.ts';
import { DomainError } from '../ground/errors.ts';
import type { Source } from '../ground/source.ts';
import { type Bearer, rewriteCaller } from '../options/sessions/bearer.ts';
import { readOpenSessions } from '../options/sessions/open-sessions.ts';
import {
  endSession,
  isSessionId,
  raiseSessionEpoch,
  sessionsEnded,
} from '../options/sessions/sessions.ts';
import { writeUser } from '../users/write.ts';

interface Ending {
  readonly on: number;
  readonly by: number;
  readonly source: Source;
}

/**
 * Ends the session of the request. There is none if the user was deleted, or without sessions.
 * @throws {DomainError} STORAGE_FAULT
 */
export async function logOut(bearer: Bearer | undefined, ending: Ending): Promise<void> {
  await recording({ ...ending, action: 'LOGOUT' }, async () => {
    if (bearer) await endSession(bearer.id, bearer.session.id);
  });
}

/**
 * Ends one session of a user.
 * @throws {DomainError} USER_NOT_FOUND, SESSION_NOT_FOUND, STORAGE_FAULT
 */
export async function endOpenSession(id: string | undefined, ending: Ending): Promise<void> {
  const details = isSessionId(id) ? { session: id } : undefined;
  await recording({ ...ending, action: 'LOGOUT', details }, async () => {
    const session = (await readOpenSessions(ending.on)).find((each) => each.id === id);
    if (!session) throw new DomainError('SESSION_NOT_FOUND');
    await endSession(ending.on, session.id);
  });
}

/**
 * Ends all sessions of a user. When callers end their own sessions, the session of the request stays open.
 * @throws {DomainError} TOKEN_INVALID when the session of the request was ended meanwhile, USER_NOT_FOUND,
 *   STORAGE_FAULT
 */
export async function endOtherSessions(caller: Bearer, ending: Omit<Ending, 'by'>): Promise<void> {
  const isOwn = ending.on === caller.id;
  const details = { scope: isOwn ? 'others' : 'all' };
  await recording({ ...ending, action: 'LOGOUT', by: caller.id, details }, async () => {
    if (isOwn) {
      await rewriteCaller(caller, (user) => writeUser(user, sessionsEnded(user, caller.session)));
    } else if (!(await raiseSessionEpoch(ending.on))) throw new DomainError('USER_NOT_FOUND');
  });
}
