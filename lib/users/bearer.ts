/** The caller of a request, where there are sessions (functions/README.md, Sessions). */
import { DomainError } from '../errors.ts';
import { describeFault, logError } from '../log.ts';
import { config } from '../settings.ts';
import { patiently } from '../time.ts';
import type { StoredUser } from './items.ts';
import {
  type Belonging,
  type NamedSession,
  openSession,
  type RefreshState,
  readSessions,
  type Sessions,
  sessionsKey,
  updateUnchanged,
} from './sessions.ts';

/** A caller as stored, with the session of the request. */
export type Bearer = StoredUser & { readonly session: NamedSession };

/** Milliseconds by which a slow store may delay a response. */
const notingTimeout = 1000;

/**
 * Notes that an access token of a session's newest pair was used, so that no other pair replaces that
 * one (functions/README.md, Refresh).
 * @returns the sessions as they are, if that pair is the newest no more, or was noted meanwhile
 */
const noteUse = async (
  userId: number,
  sessionId: string,
  refresh: RefreshState,
): Promise<true | Sessions> => {
  const update = {
    TableName: config.usersTable,
    Key: sessionsKey(userId),
    UpdateExpression: 'SET #id.#refresh.isUsed = :true',
    ExpressionAttributeNames: { '#id': sessionId },
    ExpressionAttributeValues: { ':true': true },
  };
  try {
    return await updateUnchanged(update, refresh, { timeout: patiently(notingTimeout) });
  } catch (error) {
    logError('token-use-not-noted', { user_id: userId, ...describeFault(error) });
    return true;
  }
};

/**
 * The open session that a token belongs to.
 * @throws {DomainError} TOKEN_INVALID
 */
const sessionOf = async (
  user: StoredUser,
  sessions: Sessions,
  token: Partial<Belonging>,
): Promise<NamedSession> => {
  const session = openSession(user, sessions, token.session, new Date());
  if (!session) throw new DomainError('TOKEN_INVALID');
  const { id, refresh } = session;
  if (Number(token.pair) < refresh.oldest) throw new DomainError('TOKEN_INVALID');
  // No other pair can replace the first one.
  if (token.pair !== refresh.pair || refresh.pair === 0 || refresh.isUsed) return session;
  const noted = await noteUse(user.id, id, refresh);
  return noted === true ? session : sessionOf(user, noted, token);
};

/**
 * Reads the caller of a verified token.
 * @param token its protected header
 * @returns undefined when the user was deleted
 * @throws {DomainError} TOKEN_INVALID when it has no session, or that has ended, or the token's pair was replaced;
 *   STORAGE_FAULT
 */
export const findBearer = async (
  id: number,
  token: Partial<Belonging>,
): Promise<Bearer | undefined> => {
  const { user, sessions = {} } = (await readSessions(id)) ?? {};
  return user && { ...user, session: await sessionOf(user, sessions, token) };
};
