/** How a login or a registration begins a session, and what its response has of it. */

import type { Step } from '../dynamodb/client.ts';
import { config, hasSessions } from '../settings.ts';
import type { Source } from '../source.ts';
import { day, seconds } from '../time.ts';
import type { StoredUser } from '../users/items.ts';
import { firstSession, makeSessionId, storeSession } from '../users/sessions.ts';
import { firstRefreshToken } from './refresh-token.ts';
import { issueToken } from './token.ts';

/** The tokens that the client gets. */
export interface Tokens {
  readonly token: string;
  /** Where there are sessions. */
  readonly refreshToken?: string;
}

/**
 * The time at which a session ends by itself: SESSION_DAYS after it began, or SESSION_IDLE_DAYS after
 * its last refresh.
 * @param created milliseconds since 1970
 * @returns seconds since 1970
 */
export const sessionEnd = (created: number, now: Date): number =>
  Math.min(
    seconds(now) + config.sessionIdleDays * day,
    Math.floor(created / 1000) + config.sessionDays * day,
  );

/** Bytes of a user agent that a session keeps. */
const maxAgent = 120;

/** As much of a text as fits into some bytes. */
const cut = (text: string, bytes: number): string =>
  text.slice(0, new TextEncoder().encodeInto(text, new Uint8Array(bytes)).read);

const prepare = async (user: StoredUser, { ip_address, user_agent }: Source) => {
  const now = new Date();
  const [id, created] = [makeSessionId(), now.getTime()];
  const { refreshToken, refresh } = firstRefreshToken(user.id, id);
  const token = await issueToken(user, { session: id, pair: refresh.pair, now });
  const session = {
    id,
    epoch: user.session_epoch ?? 0,
    created,
    used: created,
    until: sessionEnd(created, now),
    ip_address,
    user_agent: cut(user_agent, maxAgent),
    refresh,
  };
  return { session, tokens: { token, refreshToken } };
};

/**
 * Begins a session of a user who logs in.
 * @param user as read before the password was checked, so that no later change is missed
 * @throws {DomainError} TOKEN_FAULT, STORAGE_FAULT
 */
export const beginSession = async (user: StoredUser, source: Source): Promise<Tokens> => {
  if (!hasSessions(config)) return { token: await issueToken(user) };
  const { session, tokens } = await prepare(user, source);
  await storeSession(user, session);
  return tokens;
};

/**
 * The first session of a user who registers.
 * @returns its tokens, and its write for the transaction that stores the user
 * @throws {DomainError} TOKEN_FAULT
 */
export const prepareFirstSession = async (
  user: StoredUser,
  source: Source,
): Promise<{ tokens: Tokens; writes: Step[] }> => {
  if (!hasSessions(config)) return { tokens: { token: await issueToken(user) }, writes: [] };
  const { session, tokens } = await prepare(user, source);
  return { tokens, writes: [firstSession(user, session)] };
};
