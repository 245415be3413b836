/**
 * The sessions of a user (functions/README.md, Sessions): one item, with an attribute for each session. Each session
 * has a version of its own, and is written on the condition that this version is unchanged, so that devices do not wait
 * for each other. `session_epoch` of the user item counts how often all sessions were ended. A session has the epoch
 * that was read before the password was checked. So one write of the user item ends all sessions, even the sessions of
 * logins that are not finished yet.
 */
import { randomBytes } from 'node:crypto';
import { Overtaken, updateOnce } from '../../dynamodb/client.ts';
import { itemKey } from '../../dynamodb/tables.ts';
import { DomainError } from '../../ground/errors.ts';
import { config, hasSessions } from '../../ground/settings.ts';
import { day, seconds } from '../../ground/time.ts';
import {
  type Change,
  getItem,
  getItems,
  newVersion,
  type StoredUser,
  updateIf,
  userKey,
} from '../../users/item.ts';
import { noteSeen, seenKey } from './seen.ts';

/** The state of a session's refresh tokens; see lib/options/sessions/session-tokens.ts. */
export interface RefreshState {
  /** The key for the tags of all tokens of the session. */
  readonly key: string;
  /** The hash of the newest token's secret. */
  readonly newest: string;
  /** The newest token is derived from this salt and the token before it; absent until the first refresh. */
  readonly salt?: string;
  /** The number of the newest token's pair, and of the oldest pair whose access tokens are valid. */
  readonly pair: number;
  readonly oldest: number;
  /** An access token of the newest pair was used. */
  readonly isUsed?: true;
}

/** The second factor with which a session began: a code, or the passkey with an id. */
export type FactorUsed = 'code' | { readonly passkey: string };

export interface Session {
  readonly id: string;
  readonly epoch: number;
  /** Absent: the session began with a password or an identity alone. */
  readonly began?: FactorUsed;
  /** The user has enabled TOTP in this session. */
  readonly enrolled?: true;
  /** When it began, and when it was last used for a new token, in milliseconds since 1970. */
  readonly created: number;
  readonly used: number;
  /** When it ends by itself, in seconds since 1970. */
  readonly until: number;
  readonly ip_address: string;
  readonly user_agent: string;
  readonly refresh: RefreshState;
  /** Each write sets a new version; absent until the first write. */
  readonly version?: string;
}

/** A user with all sessions as read, including sessions that have ended. */
export interface WithSessions {
  readonly user: StoredUser;
  readonly sessions: readonly Session[];
}

export function makeSessionId(): string {
  return randomBytes(16).toString('base64url');
}

/**
 * Requires that not all sessions of the user, including the session of the request, were ended since it was read. If
 * only this session was ended, the next request is the first to be refused.
 * @throws {DomainError} TOKEN_INVALID
 */
export function requireNotEndedWithOthers(user: StoredUser, session: Session): void {
  if (isEnded(user, session)) throw new DomainError('TOKEN_INVALID');
}

/** The session with an id; undefined if there is none, or if it has ended. */
export function findOpenSession(read: WithSessions, id: unknown, now: Date): Session | undefined {
  return openSessions(read, now).find((session) => session.id === id);
}

export function openSessions({ user, sessions }: WithSessions, now: Date): readonly Session[] {
  return sessions.filter((session) => session.until > seconds(now) && !isEnded(user, session));
}

/** Reads a user and the user's sessions in one request; undefined when the user is not stored. */
export async function findSessions(id: number): Promise<WithSessions | undefined> {
  const [user, item] = await getItems([userKey(id), sessionsKey(id)]);
  return user && withSessions(user as StoredUser, item);
}

export function sessionsKey(id: number) {
  return itemKey('sessions#*', id);
}

export function withSessions(user: StoredUser, item: object = {}): WithSessions {
  const entries = Object.entries(item).filter(([id]) => isSessionId(id));
  return { user, sessions: entries.map(([id, session]) => ({ ...session, id })) };
}

export function isSessionId(text: string | undefined): text is string {
  return /^[\w-]{22}$/.test(text ?? '');
}

/**
 * Stores a session that begins, and notes at the same time that its user is here.
 * @param user the user as read before the password was checked
 */
export async function storeSession(user: StoredUser, session: Session): Promise<void> {
  const read = withSessions(user, await getItem(sessionsKey(user.id)));
  const written = writeSession(read, session);
  const noted = noteSeen(user.id, read.sessions);
  await written.finally(() => noted);
}

/**
 * Writes a session: adds it, or replaces the session with the same id. Outdated sessions are removed from the item. The
 * item expires after the last of its sessions, even if another write adds that session at the same time.
 * @param read the sessions as they were read
 * @throws {Overtaken} when others have written or ended this session since it was read
 */
export async function writeSession(
  read: WithSessions,
  { id, version: versionRead, ...session }: Session,
  limits: { timeout?: number } = {},
): Promise<void> {
  const { user, sessions } = read;
  const now = new Date();
  const version = newVersion();
  const others = sessions.filter((other) => other.id !== id);
  const ended = outdated({ user, sessions: others }, { id, ...session }, now);
  const longest = seconds(now) + config.sessionIdleDays * day;
  const update = {
    TableName: config.usersTable,
    Key: sessionsKey(user.id),
    UpdateExpression: [
      'SET #id = :session, expires_at = :end',
      ...(ended.length > 0 ? [`REMOVE ${ended.map((_, i) => `#ended${i}`).join(', ')}`] : []),
    ].join(' '),
    ...(versionRead ? { ConditionExpression: '#id.version = :read' } : {}),
    ExpressionAttributeNames: {
      '#id': id,
      ...Object.fromEntries(ended.map((session, i) => [`#ended${i}`, session.id])),
    },
    ExpressionAttributeValues: {
      ':session': { ...session, version },
      ':end': Math.max(longest, ...sessions.map(({ until }) => until)),
      ...(versionRead ? { ':read': versionRead } : {}),
    },
  };
  const isOurs = (item: object) =>
    (item as Readonly<Record<string, Session | undefined>>)[id]?.version === version;
  if (!(await updateOnce(update, isOurs, limits))) throw new Overtaken();
}

export function firstSessionStored(user: StoredUser, { id, ...session }: Session): Change {
  const kept = { [id]: { ...session, version: newVersion() }, expires_at: session.until };
  const Put = { TableName: config.usersTable, Item: { ...sessionsKey(user.id), ...kept } };
  return { steps: [[{ Put }]] };
}

/**
 * The change that records in a session that its user enables TOTP in it. The session gets a new version, so that a
 * write of the session as read before cannot overwrite the record.
 */
export function enrolmentNoted(userId: number, { id }: Session): Change {
  const update = {
    TableName: config.usersTable,
    Key: sessionsKey(userId),
    UpdateExpression: 'SET #id.enrolled = :true, #id.version = :version',
    ConditionExpression: 'attribute_exists(#id)',
    ExpressionAttributeNames: { '#id': id },
    ExpressionAttributeValues: { ':true': true, ':version': newVersion() },
  };
  return { steps: [[{ Update: update }, 'TOKEN_INVALID']] };
}

/** The change that ends all sessions of a user. @param kept the session that stays open; absent: none */
export function sessionsEnded(user: StoredUser, kept?: Session): Change {
  if (!hasSessions(config)) return {};
  const session_epoch = (user.session_epoch ?? 0) + 1;
  const kept_session = kept && keptMark(session_epoch, kept.id);
  return { fields: { session_epoch, kept_session } };
}

/** The change that deletes the sessions of a user who is deleted, and the day on which the user was last seen. */
export function sessionsDeleted({ id }: StoredUser): Change {
  if (!hasSessions(config)) return {};
  const TableName = config.usersTable;
  return { steps: [sessionsKey(id), seenKey(id)].map((Key) => [{ Delete: { TableName, Key } }]) };
}

/**
 * Ends all sessions of a user without reading the user: afterwards all sessions have an earlier epoch than the user.
 * @returns false when there is no such user
 */
export function raiseSessionEpoch(id: number): Promise<boolean> {
  return updateIf(userKey(id), {
    UpdateExpression: 'SET version = :version ADD session_epoch :one',
    ConditionExpression: 'attribute_exists(pk)',
    ExpressionAttributeValues: { ':version': newVersion(), ':one': 1 },
  });
}

/** Ends one session without reading it. @returns false when another request has already ended it */
export function endSession(userId: number, id: string): Promise<boolean> {
  const update = {
    TableName: config.usersTable,
    Key: sessionsKey(userId),
    UpdateExpression: 'REMOVE #id',
    ConditionExpression: 'attribute_exists(#id)',
    ExpressionAttributeNames: { '#id': id },
  };
  return updateOnce(update, (item) => !(id in item));
}

function isEnded(user: StoredUser, { epoch, id }: Session): boolean {
  const { session_epoch = 0, kept_session } = user;
  return epoch < session_epoch && kept_session !== keptMark(session_epoch, id);
}

/** The mark has the epoch, so that the next time all sessions are ended, the kept session ends too. */
function keptMark(epoch: number, id: string): string {
  return `${epoch}.${id}`;
}

/** The most bytes of a user's sessions (about 50 sessions), which each request reads. */
const maxBytes = 24_000;

/** These are ended sessions and, if the item is too large, the sessions that were not used for the longest time. */
function outdated(read: WithSessions, fresh: Session, now: Date): readonly Session[] {
  let bytes = sizeOf(fresh);
  const newestFirst = openSessions(read, now).toSorted((a, b) => b.used - a.used);
  const kept = newestFirst.filter((session) => {
    bytes += sizeOf(session);
    return bytes <= maxBytes;
  });
  return read.sessions.filter((session) => !kept.includes(session));
}

function sizeOf(session: Session): number {
  return Buffer.byteLength(JSON.stringify(session));
}
