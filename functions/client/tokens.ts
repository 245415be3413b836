/**
 * The tokens of the one session of a client. Refresh tokens are used once (functions/README.md, Refresh): tokens are
 * read from the storage before each use, and replaced under a lock that all tabs share.
 */
import { type AccountsError, lost } from './answer.ts';
import { type Exclusive, within } from './lock.ts';
import { place } from './place.ts';
import { endedMark, type Kept } from './storage.ts';
import { readToken, type Times, type Tokens, type User } from './user.ts';
import { type Reason, settle, type Watched } from './watch.ts';

export interface Session extends Tokens, Times {
  readonly user: User;
  /** Milliseconds by which the clock of the service is ahead of the clock of this machine. */
  readonly ahead: number;
}

export interface Keeper {
  readonly kept: Kept;
  readonly exclusive: Exclusive;
  readonly watched: Watched;
  /** Sends a refresh token. @throws {AccountsError} if it gets no tokens */
  readonly exchange: (refreshToken: string, signal: AbortSignal) => Promise<Tokens>;
  /** How often the session has changed so far. */
  changes: number;
  /** The refresh under way, and the token that it replaces. */
  running?: { readonly token: string; readonly outcome: Promise<Outcome> } | undefined;
}

interface Outcome {
  readonly session: Session | null;
  readonly reason?: Reason | undefined;
}

/** The session according to the storage. @param reason the reason of its end, if it has ended */
export async function readSession(keeper: Keeper, reason?: Reason): Promise<Session | null> {
  const before = keeper.changes;
  const session = await load(keeper);
  if (before !== keeper.changes) return readSession(keeper, reason);
  settle(keeper.watched, session?.user ?? null, session ? undefined : reason);
  return session;
}

/** Reads the session, at once if the storage is synchronous. Resolves when the session is read. */
export async function beginReading(keeper: Keeper): Promise<void> {
  const found = keeper.kept.get();
  if (found === null || typeof found === 'string') {
    settle(keeper.watched, sessionIn(found)?.user ?? null);
  } else {
    await readSession(keeper);
  }
}

/** A token is replaced when it expires in at most this number of milliseconds. */
const margin = 60_000;

/**
 * The session with a token that is valid, or that cannot be replaced.
 * @param renew whether the token is replaced in any case
 * @throws {AccountsError} if the token has expired, and could not be replaced
 */
export async function freshSession(keeper: Keeper, renew = false): Promise<Session | null> {
  const session = await readSession(keeper);
  if (!session?.refreshToken || (leftOf(session) > margin && !renew)) return session;
  try {
    return await refresh(keeper, session);
  } catch (error) {
    if (leftOf(session) > 0) return session;
    throw error;
  }
}

/** Milliseconds until a token expires. */
export function leftOf({ ends, ahead }: Session): number {
  return ends - ahead - Date.now();
}

/**
 * Keeps the tokens of a login.
 * @param ahead as in {@link Session}; absent: it follows from the tokens, which have just been issued
 * @throws {TypeError} if they are not tokens of the service
 */
export async function beginSession(keeper: Keeper, tokens: Tokens, ahead?: number): Promise<User> {
  const session = sessionOf(tokens, ahead);
  await change(keeper, () => save(keeper, session, 'loggedIn'));
  return session.user;
}

/**
 * Replaces the tokens, unless they have been replaced already.
 * @param isRefused whether the service has refused the token: the session ends then if the token cannot be replaced
 * @returns the session after that
 * @throws {AccountsError} if no response came, or if the response does not show whether the session has ended
 */
export async function refresh(
  keeper: Keeper,
  used: Session,
  isRefused = false,
): Promise<Session | null> {
  if (keeper.running?.token !== used.token) {
    const outcome = change(keeper, () => replace(keeper, used)).finally(() => {
      keeper.running = undefined;
    });
    keeper.running = { token: used.token, outcome };
  }
  const { session } = await keeper.running.outcome;
  return isRefused && session?.token === used.token ? endSession(keeper, used) : session;
}

/** Forgets the tokens, because the user logs out. */
export async function forget(keeper: Keeper): Promise<void> {
  await change(keeper, () => drop(keeper, 'loggedOut'));
}

async function load({ kept }: Keeper): Promise<Session | null> {
  return sessionIn(await kept.get());
}

/** Makes a change under the lock, which is released before listeners are called, so that they may use the client. */
async function change(keeper: Keeper, make: () => Promise<Outcome>): Promise<Outcome> {
  const outcome = await keeper.exclusive(make);
  keeper.changes += 1;
  settle(keeper.watched, outcome.session?.user ?? null, outcome.reason);
  return outcome;
}

/** Milliseconds that a refresh may take, because other requests wait for it. */
const limit = 10_000;

async function replace(keeper: Keeper, used: Session): Promise<Outcome> {
  // Writes of another tab before it released the lock become visible to this page with a short delay.
  if (place.document) await new Promise((resume) => setTimeout(resume, 50));
  const session = await load(keeper);
  const { refreshToken } = session ?? {};
  if (session?.token !== used.token || !refreshToken) return { session };
  const late = () => lost(new Error('The refresh took too long'));
  const given = await within(limit, late, (signal) => keeper.exchange(refreshToken, signal)).catch(
    (error: AccountsError) => error,
  );
  const next = given instanceof Error ? null : sessionOf(given);
  // Somebody may have logged out meanwhile, or logged in again.
  const now = await load(keeper);
  if (now?.token !== used.token) return { session: now };
  if (next) return save(keeper, next);
  const { status } = given as AccountsError;
  if (status === 401) {
    // The mark tells other tabs that the service has ended the session, and that nobody has logged out.
    await keeper.kept.set(endedMark);
    return drop(keeper, 'ended');
  }
  // The service has no sessions any more.
  if (status === 404) return { session };
  throw given;
}

async function endSession(keeper: Keeper, used: Session): Promise<Session | null> {
  const outcome = await change(keeper, async () => {
    const session = await load(keeper);
    return session?.token === used.token ? drop(keeper, 'ended') : { session };
  });
  return outcome.session;
}

async function save({ kept }: Keeper, session: Session, reason?: Reason): Promise<Outcome> {
  const { token, refreshToken, ahead } = session;
  await kept.set(JSON.stringify({ token, refreshToken, ahead }));
  return { session, reason };
}

async function drop({ kept }: Keeper, reason: Reason): Promise<Outcome> {
  await kept.remove();
  return { session: null, reason };
}

function sessionIn(text: string | null): Session | null {
  try {
    const { ahead = 0, ...tokens } = JSON.parse(text ?? '');
    return sessionOf(tokens, ahead);
  } catch {
    return null;
  }
}

/** The session of tokens. @throws {TypeError} if they are not tokens of the service */
function sessionOf({ token, refreshToken }: Tokens, ahead?: number): Session {
  const read = readToken(token);
  return { ...read, token, refreshToken, ahead: ahead ?? read.issued - Date.now() };
}
