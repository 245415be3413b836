/**
 * Begins sessions at a login or a registration, and makes and checks the tokens of sessions (functions/README.md,
 * Refresh). A session stores a hash of its newest refresh token, a salt and a key. Each refresh token is derived from
 * the previous token and the salt. So a client that lost a response gets the same token again, and nobody can make a
 * valid token from the data in the table. A refresh token and the access tokens that were issued with it are a pair.
 */
import { createHash, createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import { DomainError } from '../../ground/errors.ts';
import { config, hasSessions } from '../../ground/settings.ts';
import type { Source } from '../../ground/source.ts';
import { day, seconds } from '../../ground/time.ts';
import { issueToken, type Tokens } from '../../keys/token.ts';
import type { StoredUser } from '../../users/item.ts';
import { isUserId } from '../../users/user.ts';
import { attributeClaims } from '../attributes/attributes.ts';
import { roleIn } from '../second-factor/state.ts';
import {
  type FactorUsed,
  firstSessionStored,
  makeSessionId,
  type RefreshState,
  type Session,
  storeSession,
} from './sessions.ts';

export interface RefreshToken {
  readonly userId: number;
  readonly sessionId: string;
  readonly secret: string;
  readonly tag: string;
}

/** How a refresh token relates to its session. */
export type TokenCheck =
  /**
   * The newest token is good. As long as no token of the newest pair was used, the token before it is also good,
   * because the client has lost the response.
   */
  | { readonly is: 'good' | 'reused' | 'unknown' }
  /** The token before the newest token, if {@link grace} has not passed since its use. */
  | { readonly is: 'repeated'; readonly refreshToken: string };

const form = /^([1-9]\d{0,15})\.([\w-]{22})\.([\w-]{43})([\w-]{22})$/;

/** @throws {DomainError} REFRESH_TOKEN_INVALID */
export function readRefreshToken(token: string): RefreshToken {
  const [, id, sessionId = '', secret = '', tag = ''] = form.exec(token) ?? [];
  if (!isUserId(Number(id))) throw new DomainError('REFRESH_TOKEN_INVALID');
  return { userId: Number(id), sessionId, secret, tag };
}

/**
 * The token that follows a good token, and the state that the session stores from then on. If the given token is not
 * the newest token, the newest pair is replaced: it is not known who has the access tokens of the replaced pair, so
 * they become void, and all older access tokens too.
 */
export function nextRefreshToken(
  { userId, sessionId, secret }: RefreshToken,
  { key, newest, ...before }: RefreshState,
): { refreshToken: string; refresh: RefreshState } {
  const salt = random(32);
  const next = following(secret, salt);
  const refreshToken = tokenOf(userId, sessionId, next, key);
  const pair = before.pair + 1;
  const oldest = hashOf(secret) === newest ? before.oldest : pair;
  return { refreshToken, refresh: { key, newest: hashOf(next), salt, pair, oldest } };
}

/** Milliseconds after the use of a refresh token within which the same token gets the same next token again. */
const grace = 60_000;

export function checkRefreshToken(
  { userId, sessionId, secret, tag }: RefreshToken,
  { refresh, used }: Session,
  now: Date,
): TokenCheck {
  const { key, newest, salt, isUsed } = refresh;
  if (!timingSafeEqual(Buffer.from(tag), Buffer.from(tagOf(secret, key)))) return { is: 'unknown' };
  if (hashOf(secret) === newest) return { is: 'good' };
  const next = salt === undefined ? '' : following(secret, salt);
  if (hashOf(next) !== newest) return { is: 'reused' };
  if (now.getTime() - used > grace) return { is: isUsed ? 'reused' : 'good' };
  return { is: 'repeated', refreshToken: tokenOf(userId, sessionId, next, key) };
}

/**
 * Begins a session of a user who logs in.
 * @param user the user as read before the password was checked, so that no later change is missed
 */
export async function beginSession(
  user: StoredUser,
  source: Source,
  began?: FactorUsed,
): Promise<Tokens> {
  if (!hasSessions(config)) return tokenAlone(user);
  const { session, tokens } = await prepare(user, source, began);
  await storeSession(user, session);
  return tokens;
}

/**
 * Issues an access token of a session. The token has the role that the user has in this session, and not the stored
 * role, because other services rely on the role in the token.
 */
export function issueAccessToken(
  user: StoredUser,
  session: Omit<Session, 'version'>,
  now: Date,
): Promise<string> {
  const { id, email } = user;
  const belonging = { session: session.id, pair: session.refresh.pair };
  const claims = attributeClaims(user); // attributes
  return issueToken({ id, email, role: roleIn(user, session) }, { ...belonging, claims, now });
}

export function firstRefreshToken(
  userId: number,
  sessionId: string,
): { refreshToken: string; refresh: RefreshState } {
  const [secret, key] = [random(32), random(16)];
  const refreshToken = tokenOf(userId, sessionId, secret, key);
  return { refreshToken, refresh: { key, newest: hashOf(secret), pair: 0, oldest: 0 } };
}

/** The end of a session in seconds since 1970. @param created milliseconds since 1970 */
export function endTimeOf(created: number, now: Date): number {
  return Math.min(
    seconds(now) + config.sessionIdleDays * day,
    Math.floor(created / 1000) + config.sessionDays * day,
  );
}

/** The tokens of the first session of a user who registers, and the change that stores it with the user. */
export async function prepareFirstSession(user: StoredUser, source: Source) {
  if (!hasSessions(config)) return { tokens: await tokenAlone(user), stored: {} };
  const { session, tokens } = await prepare(user, source);
  return { tokens, stored: firstSessionStored(user, session) };
}

function random(bytes: number): string {
  return randomBytes(bytes).toString('base64url');
}

function following(secret: string, salt: string): string {
  return createHmac('sha256', secret).update(salt).digest('base64url');
}

function tokenOf(userId: number, sessionId: string, secret: string, key: string): string {
  return `${userId}.${sessionId}.${secret}${tagOf(secret, key)}`;
}

/** 16 bytes that prove that the service issued a token, even if it has issued many tokens since then. */
function tagOf(secret: string, key: string): string {
  return createHmac('sha256', key).update(secret).digest().subarray(0, 16).toString('base64url');
}

function hashOf(secret: string): string {
  return createHash('sha256').update(secret).digest('base64url');
}

async function tokenAlone(user: StoredUser): Promise<Tokens> {
  return { token: await issueToken(user, { claims: attributeClaims(user) }) }; // attributes
}

/** The most bytes of a user agent that a session stores. */
const maxAgent = 160;

async function prepare(user: StoredUser, { ip_address, user_agent }: Source, began?: FactorUsed) {
  const now = new Date();
  const [id, created] = [makeSessionId(), now.getTime()];
  const { refreshToken, refresh } = firstRefreshToken(user.id, id);
  const session = {
    id,
    epoch: user.session_epoch ?? 0,
    ...(began ? { began } : {}),
    created,
    used: created,
    until: endTimeOf(created, now),
    ip_address,
    user_agent: cut(user_agent, maxAgent),
    refresh,
  };
  const token = await issueAccessToken(user, session, now);
  return { session, tokens: { token, refreshToken } };
}

/** The longest beginning of a text that fits into a number of bytes. */
function cut(text: string, bytes: number): string {
  return text.slice(0, new TextEncoder().encodeInto(text, new Uint8Array(bytes)).read);
}
