/**
 * The sessions of a user (functions/README.md, Sessions): one item, in
 * which each session is an attribute named by its id. `session_epoch` of the user item is how often
 * all sessions were ended, and each session has the epoch of the user who began it, as read before
 * the password was checked. So one write of the user item ends all sessions, and those of logins
 * under way.
 */
import { randomBytes } from 'node:crypto';
import { UpdateCommand, type UpdateCommandInput } from '@aws-sdk/lib-dynamodb';
import {
  conditionItem,
  isConditionFailure,
  type Step,
  send,
  sendIf,
  transact,
} from '../dynamodb/client.ts';
import { DomainError } from '../errors.ts';
import { config, hasSessions } from '../settings.ts';
import { day, seconds } from '../time.ts';
import { getItem, getItems, newVersion, type StoredUser, userKey } from './items.ts';

/** What a session keeps of its refresh tokens; see lib/auth/refresh-token.ts. */
export interface RefreshState {
  /** The key of the tags of all its tokens. */
  readonly key: string;
  /** The hash of the newest token's secret. */
  readonly newest: string;
  /**
   * The newest token is derived from this and the token before it; absent until the first
   * refresh.
   */
  readonly salt?: string;
  /** The number of the newest token's pair, and of the oldest pair whose access tokens are valid. */
  readonly pair: number;
  readonly oldest: number;
  /** An access token of the newest pair was used. */
  readonly isUsed?: true;
}

/** A session as stored. */
export interface Session {
  readonly epoch: number;
  /** When it began, and when it was last used for a new token, in milliseconds since 1970. */
  readonly created: number;
  readonly used: number;
  /** When it ends by itself, in seconds since 1970. */
  readonly until: number;
  readonly ip_address?: string;
  readonly user_agent?: string;
  readonly refresh: RefreshState;
}

/** The sessions of an item by their ids, also those that have ended. */
export type Sessions = Readonly<Record<string, Session>>;

/** What a token belongs to; the parameters of its protected header. */
export interface Belonging {
  /** The id of its session. */
  readonly session: string;
  /** The number of its pair in the session. */
  readonly pair: number;
}

/** A session with its id. */
export type NamedSession = Session & { readonly id: string };

/** Bytes for a user's sessions (about 50), which each request reads. */
const maxBytes = 24_000;
const maxAgentBytes = 120;

export const sessionsKey = (id: number) => ({ pk: `sessions#${id}` });

export const makeSessionId = (): string => randomBytes(16).toString('base64url');
export const isSessionId = (value: unknown): value is string =>
  typeof value === 'string' && /^[\w-]{22}$/.test(value);

export const toSessions = (item: Readonly<Record<string, unknown>> = {}): Sessions =>
  Object.fromEntries(
    Object.entries(item).filter((entry): entry is [string, Session] => isSessionId(entry[0])),
  );

/**
 * The value of `kept_session`. It names the epoch, so that the next end of all sessions ends this
 * one too.
 */
const keptMark = (epoch: number, id: string): string => `${epoch}.${id}`;

/** Whether a session was ended with all others of its user. */
export const isEnded = (user: StoredUser, session: NamedSession): boolean => {
  const { session_epoch: epoch = 0, kept_session } = user;
  return session.epoch < epoch && kept_session !== keptMark(epoch, session.id);
};

/** @throws {DomainError} TOKEN_INVALID when the session was ended with all others of its user */
export const requireOpen = (user: StoredUser, session: NamedSession): void => {
  if (isEnded(user, session)) throw new DomainError('TOKEN_INVALID');
};

export const isOver = (user: StoredUser, session: NamedSession, now: Date): boolean =>
  session.until <= seconds(now) || isEnded(user, session);

/** The session with an id, unless it is not there or has ended. */
export const openSession = (
  user: StoredUser,
  sessions: Sessions,
  id: unknown,
  now: Date,
): NamedSession | undefined => {
  const stored = isSessionId(id) ? sessions[id] : undefined;
  const session = stored && { ...stored, id: id as string };
  return session && !isOver(user, session, now) ? session : undefined;
};

/**
 * Reads a user and its sessions by one request.
 * @returns undefined when the user is not stored
 * @throws {DomainError} STORAGE_FAULT
 */
export const readSessions = async (
  id: number,
): Promise<{ user: StoredUser; sessions: Sessions } | undefined> => {
  const [user, sessions] = await getItems([userKey(id), sessionsKey(id)]);
  return user && { user: user as StoredUser, sessions: toSessions(sessions) };
};

/** As much of a text as fits into some bytes. */
const cut = (text: string, bytes: number): string =>
  text.slice(0, new TextEncoder().encodeInto(text, new Uint8Array(bytes)).read);

/** A session that begins. */
export const makeSession = (
  user: StoredUser,
  { ip_address, user_agent }: { ip_address?: string | undefined; user_agent?: string | undefined },
  { until, refresh, now }: Pick<Session, 'until' | 'refresh'> & { now: Date },
): Session => ({
  epoch: user.session_epoch ?? 0,
  created: now.getTime(),
  used: now.getTime(),
  until,
  refresh,
  ...(ip_address ? { ip_address } : {}),
  ...(user_agent ? { user_agent: cut(user_agent, maxAgentBytes) } : {}),
});

/** The bytes that a session takes, or a few more. */
const sizeOf = (session: Session): number => 22 + Buffer.byteLength(JSON.stringify(session));

/**
 * The ids of the sessions that leave the item: those that ended, and those unused longest if it is
 * full.
 */
const outdated = (
  user: StoredUser,
  { id: own, ...fresh }: NamedSession,
  others: Sessions,
): string[] => {
  const now = new Date(fresh.used);
  const newestFirst = Object.entries(others)
    .filter(([id]) => id !== own)
    .sort(([, a], [, b]) => b.used - a.used);
  let bytes = sizeOf(fresh);
  return newestFirst.flatMap(([id, session]) => {
    if (isOver(user, { ...session, id }, now)) return [id];
    bytes += sizeOf(session);
    return bytes > maxBytes ? [id] : [];
  });
};

/** The clause of an update that removes sessions. */
const removing = (ids: readonly string[]) => ({
  expression: ids.length > 0 ? `REMOVE ${ids.map((_, i) => `#ended${i}`).join(', ')}` : '',
  names: Object.fromEntries(ids.map((id, i) => [`#ended${i}`, id])),
});

/** Seconds for which a session lasts at most without a refresh. */
export const sessionLifetime = (): number => config.sessionIdleDays * day;

/** The write of a user's first session, for the transaction that stores the user. */
export const firstSession = (user: StoredUser, id: string, session: Session): Step => [
  {
    Put: {
      TableName: config.usersTable,
      Item: { ...sessionsKey(user.id), [id]: session, expires_at: session.until },
    },
  },
];

/**
 * The update that writes a session. Ended ones leave the item, which stays for as long as any session,
 * also one that another write adds meanwhile.
 * @param sessions as read
 */
const writing = (user: StoredUser, sessions: Sessions, { id, ...session }: NamedSession) => {
  const ended = removing(outdated(user, { id, ...session }, sessions));
  const ends = Object.values(sessions).map(({ until }) => until);
  const longest = seconds(new Date(session.used)) + sessionLifetime();
  return {
    TableName: config.usersTable,
    Key: sessionsKey(user.id),
    UpdateExpression: `SET #id = :session, expires_at = :end ${ended.expression}`,
    ExpressionAttributeNames: { '#id': id, ...ended.names },
    ExpressionAttributeValues: { ':session': session, ':end': Math.max(longest, ...ends) },
  };
};

/**
 * Stores a session that begins.
 * @param user as read before the password was checked
 * @throws {DomainError} STORAGE_FAULT
 */
export const storeSession = async (user: StoredUser, id: string, session: Session) => {
  const sessions = toSessions(await getItem(sessionsKey(user.id)));
  await send(new UpdateCommand(writing(user, sessions, { ...session, id })));
};

/**
 * Sends an update of the sessions of a user, on the condition that its `#id.#refresh` is as it was
 * read.
 * @returns the sessions as they are, if it is not
 * @throws {DomainError} STORAGE_FAULT
 */
export const updateUnchanged = async (
  update: UpdateCommandInput,
  refresh: RefreshState | undefined,
  limits?: { timeout: number },
): Promise<true | Sessions> => {
  const command = new UpdateCommand({
    ...update,
    ConditionExpression: '#id.#refresh = :refresh',
    ExpressionAttributeNames: { ...update.ExpressionAttributeNames, '#refresh': 'refresh' },
    ExpressionAttributeValues: { ...update.ExpressionAttributeValues, ':refresh': refresh },
    ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
  });
  try {
    await send(command, limits);
    return true;
  } catch (error) {
    if (!isConditionFailure(error)) throw error;
    return toSessions(conditionItem(error));
  }
};

/**
 * Replaces a session whose refresh tokens are as they were read.
 * @returns the sessions as they are, if they are not
 * @throws {DomainError} STORAGE_FAULT
 */
export const replaceSession = (
  user: StoredUser,
  sessions: Sessions,
  id: string,
  fresh: Session,
): Promise<true | Sessions> =>
  updateUnchanged(writing(user, sessions, { ...fresh, id }), sessions[id]?.refresh);

/** What a write sets in a user item to end all sessions of the user, except one that goes on. */
export const endedSessions = (user: StoredUser, kept?: NamedSession) => {
  if (!hasSessions(config)) return {};
  const session_epoch = (user.session_epoch ?? 0) + 1;
  return { session_epoch, kept_session: kept && keptMark(session_epoch, kept.id) };
};

/**
 * Ends all sessions of a user, who is not read.
 * @returns false when there is no such user
 * @throws {DomainError} STORAGE_FAULT
 */
export const endSessions = (id: number): Promise<boolean> =>
  sendIf(
    new UpdateCommand({
      TableName: config.usersTable,
      Key: userKey(id),
      UpdateExpression: 'SET version = :version ADD session_epoch :one',
      ConditionExpression: 'attribute_exists(pk)',
      ExpressionAttributeValues: { ':version': newVersion(), ':one': 1 },
    }),
  );

/** The update that removes one session, on the condition that it is there. */
const removal = (userId: number, id: string) => ({
  TableName: config.usersTable,
  Key: sessionsKey(userId),
  UpdateExpression: 'REMOVE #id',
  ConditionExpression: 'attribute_exists(#id)',
  ExpressionAttributeNames: { '#id': id },
});

/**
 * Ends one session.
 * @returns false when it has ended already
 * @throws {DomainError} STORAGE_FAULT
 */
export const endSession = (userId: number, id: string): Promise<boolean> =>
  sendIf(new UpdateCommand(removal(userId, id)));

/**
 * Ends a session whose refresh token was used again, in a transaction: its response may be lost.
 * @returns false when it has ended already
 * @throws {DomainError} STORAGE_FAULT
 */
export const endReusedSession = (userId: number, id: string): Promise<boolean> =>
  transact([[{ Update: removal(userId, id) }]]);
