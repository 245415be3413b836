/** How a refresh token is exchanged for new tokens (functions/README.md, Refresh). */
import { recordFailure, recordingFaults } from '../audit/record.ts';
import { untilWritten } from '../dynamodb/client.ts';
import { DomainError } from '../ground/errors.ts';
import { logWarning, refreshTokenReused } from '../ground/log.ts';
import type { Source } from '../ground/source.ts';
import type { Tokens } from '../keys/token.ts';
import { noteSeen } from '../options/sessions/seen.ts';
import {
  checkRefreshToken,
  endTimeOf,
  issueAccessToken,
  nextRefreshToken,
  type RefreshToken,
  readRefreshToken,
} from '../options/sessions/session-tokens.ts';
import {
  endSession,
  findOpenSession,
  findSessions,
  type WithSessions,
  writeSession,
} from '../options/sessions/sessions.ts';

/**
 * Exchanges a refresh token for new tokens. The session is written before the access token is signed: if signing
 * fails, the client sends the same refresh token again, and within a minute gets the same next token. Suspensions need
 * no check, because a suspension ends all sessions. A success is not recorded.
 * @throws {DomainError} REFRESH_TOKEN_INVALID, TOKEN_FAULT, STORAGE_FAULT
 */
export async function refreshSession(token: string, source: Source): Promise<Tokens> {
  const now = new Date();
  const given = readRefreshToken(token);
  const next = await untilWritten(
    () => findSessions(given.userId),
    (read) => rotate(read, given, source, now),
  );
  const { user, session, refreshToken } = next;
  try {
    return { token: await issueAccessToken(user, session, now), refreshToken };
  } catch (error) {
    await recordFailure(refusedRefresh(given, 'no_token', source));
    throw error;
  }
}

/**
 * Exchanges a refresh token for the next one: compares the token with the session as read, and writes the session.
 * @returns the user, the session after the exchange, and the next token
 * @throws {Overtaken} when another request has written the session since it was read
 */
async function rotate(
  read: WithSessions | undefined,
  given: RefreshToken,
  source: Source,
  now: Date,
) {
  const session = read && findOpenSession(read, given.sessionId, now);
  if (!session) throw new DomainError('REFRESH_TOKEN_INVALID');
  const { user } = read;

  const checked = checkRefreshToken(given, session, now);
  if (checked.is === 'unknown') throw new DomainError('REFRESH_TOKEN_INVALID');
  if (checked.is === 'reused') return refuseReused(given, source);
  if (checked.is === 'repeated') {
    await noteSeen(user.id, read.sessions, now);
    return { user, session, refreshToken: checked.refreshToken };
  }

  const { refreshToken, refresh } = nextRefreshToken(given, session.refresh);
  const until = endTimeOf(session.created, now);
  const fresh = { ...session, used: now.getTime(), until, refresh };
  const written = writeSession(read, fresh);
  const noted = noteSeen(user.id, read.sessions, now);
  await written.finally(() => noted);
  return { user, session: fresh, refreshToken };
}

/** Ends the session of a refresh token that was used before: somebody else may have that token. */
async function refuseReused(given: RefreshToken, source: Source): Promise<never> {
  const { userId, sessionId } = given;
  const reuse = refusedRefresh(given, 'refresh_token_reused', source);
  const isEndedNow = await recordingFaults(reuse, () => endSession(userId, sessionId));
  // Of parallel requests only the one that ends the session records it.
  if (isEndedNow) {
    await recordFailure(reuse);
    logWarning(refreshTokenReused, { requestId: source.request_id, user_id: userId });
  }
  throw new DomainError('REFRESH_TOKEN_INVALID');
}

function refusedRefresh({ userId: id }: RefreshToken, reason: string, source: Source) {
  return { source, action: 'LOGIN', by: id, on: id, details: { reason } } as const;
}
