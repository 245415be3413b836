/** How a refresh token is exchanged for new tokens (functions/README.md, Refresh). */

import { audited } from '../audit/record.ts';
import { DomainError } from '../errors.ts';
import { logWarning, refreshTokenReused } from '../log.ts';
import type { Source } from '../source.ts';
import type { StoredUser } from '../users/items.ts';
import {
  endReusedSession,
  isOver,
  readSessions,
  replaceSession,
  type Session,
  type Sessions,
} from '../users/sessions.ts';
import { sessionEnd, type Tokens } from './new-session.ts';
import {
  nextRefreshToken,
  parseRefreshToken,
  type RefreshToken,
  standingOf,
} from './refresh-token.ts';
import { issueToken } from './token.ts';

/** Ends the session of a token that was used before: somebody else may have it. */
const endReused = async ({ userId, sessionId }: RefreshToken, source: Source): Promise<void> => {
  const reuse = {
    ...source,
    action: 'LOGIN',
    user_id: userId,
    resource_id: userId,
    result: 'FAILURE',
    details: { reason: 'refresh_token_reused' },
  } as const;
  const isEnded = await audited(reuse, () => endReusedSession(userId, sessionId));
  if (isEnded) logWarning(refreshTokenReused, { requestId: source.request_id, user_id: userId });
};

/** The user and the sessions as read for a refresh. */
interface Found {
  readonly user: StoredUser;
  readonly sessions: Sessions;
}

/**
 * Exchanges a token for the next one by one conditional write. Where another request was first, what
 * that one wrote decides.
 * @returns the next token, and the number of its pair
 */
const exchange = async (
  given: RefreshToken,
  { user, sessions }: Found,
  source: Source,
  now: Date,
): Promise<{ refreshToken: string; pair: number }> => {
  const { sessionId } = given;
  const session: Session | undefined = sessions[sessionId];
  if (!session || isOver(user, { ...session, id: sessionId }, now)) {
    throw new DomainError('REFRESH_TOKEN_INVALID');
  }
  const standing = standingOf(given, session, now);
  if (standing.is === 'repeated') {
    return { refreshToken: standing.refreshToken, pair: session.refresh.pair };
  }
  if (standing.is === 'good') {
    const { refreshToken, refresh } = nextRefreshToken(given, session.refresh);
    const until = sessionEnd(session.created, now);
    const fresh = { ...session, used: now.getTime(), until, refresh };
    const written = await replaceSession(user, sessions, sessionId, fresh);
    return written === true
      ? { refreshToken, pair: refresh.pair }
      : exchange(given, { user, sessions: written }, source, now);
  }
  if (standing.is === 'reused') await endReused(given, source);
  throw new DomainError('REFRESH_TOKEN_INVALID');
};

/**
 * Exchanges a refresh token for new tokens.
 * @param refreshToken the field of the body
 * @throws {DomainError} REFRESH_TOKEN_REQUIRED, REFRESH_TOKEN_INVALID, TOKEN_FAULT, STORAGE_FAULT
 */
export const refreshSession = async (refreshToken: unknown, source: Source): Promise<Tokens> => {
  const now = new Date();
  const given = parseRefreshToken(refreshToken);
  const found = await readSessions(given.userId);
  if (!found) throw new DomainError('REFRESH_TOKEN_INVALID');
  const { pair, ...next } = await exchange(given, found, source, now);
  const token = await issueToken(found.user, { session: given.sessionId, pair, now });
  return { token, ...next };
};
