/** Who is signed in. The tokens are kept in the tab and go with it. */
import { keepClock, now, setClock } from './clock.ts';
import { createStore } from './store.ts';

export interface Session {
  readonly token: string;
  /** Where there are sessions. */
  readonly refreshToken?: string | undefined;
  readonly id: number;
  readonly email: string;
  readonly role: 'user' | 'admin';
  /** Milliseconds since 1970, by the clock of the service. */
  readonly expiresAt: number;
}

const key = 'accounts-console-token';
const refreshKey = 'accounts-console-refresh-token';

/** Whether the session is that of an admin. In others users change only themselves: auditors, and who lacks a second factor. */
export const isAdmin = (): boolean => signedIn.get().session?.role === 'admin';

/** The session that a token describes. Only the service knows whether the token is valid. */
export const sessionOf = ({
  token,
  refreshToken,
}: Pick<Session, 'token' | 'refreshToken'>): Session => {
  const payload = token.split('.')[1]?.replaceAll('-', '+').replaceAll('_', '/') ?? '';
  const bytes = Uint8Array.from(atob(payload), (character) => character.charCodeAt(0));
  const { id, email, role, exp } = JSON.parse(new TextDecoder().decode(bytes));
  return { token, refreshToken, id, email, role, expiresAt: exp * 1000 };
};

const readSession = (): Session | undefined => {
  const token = sessionStorage.getItem(key);
  const refreshToken = sessionStorage.getItem(refreshKey) ?? undefined;
  const session = token ? sessionOf({ token, refreshToken }) : undefined;
  return session && (refreshToken || session.expiresAt > now()) ? session : undefined;
};

interface SignedIn {
  readonly session?: Session | undefined;
  /** Whether the session is over: its user signs in again and goes on. */
  readonly isOver: boolean;
  /** The first sentence of the form to sign in. */
  readonly notice?: string;
}

export const signedIn = createStore<SignedIn>({ session: readSession(), isOver: false });

let timer: number | undefined;

/** Milliseconds before the end of a token in which it is exchanged. */
const margin = 60_000;

const expireInTime = ({ expiresAt, refreshToken }: Session): void => {
  clearTimeout(timer);
  const left = expiresAt - now();
  timer = refreshToken ? setTimeout(refresh, left - margin) : setTimeout(endSession, left);
};

const exchange = async ({ refreshToken }: Session): Promise<void> => {
  const headers = { 'Content-Type': 'application/json' };
  const body = JSON.stringify({ refreshToken });
  const response = await fetch('/api/refresh', { method: 'POST', headers, body });
  setClock(response);
  if (signedIn.get().session?.refreshToken !== refreshToken) return;
  if (response.ok) beginSession(sessionOf(await response.json()));
  if (response.status === 401) endSession();
};

const tabKey = 'accounts-console-tab';
const tab = sessionStorage.getItem(tabKey) ?? undefined;
/** Held by this tab, for as long as its page is there. */
let ownTab = '';

const keepTab = (): void => {
  if (ownTab) sessionStorage.setItem(tabKey, ownTab);
};

/** Milliseconds in which a page that is loaded again gets the lock of the one before. */
const handover = 1000;

/** @throws if another tab holds the name */
const hold = (name: string): Promise<void> =>
  new Promise((held, refused) => {
    const forever = () => {
      held();
      return new Promise(() => undefined);
    };
    const signal = AbortSignal.timeout(handover);
    navigator.locks.request(`${tabKey} ${name}`, { signal }, forever).catch(refused);
  });

/**
 * Has the tab tokens of its own. A duplicated tab begins with a copy of the tokens of another one: a refresh token
 * that both use would end the session, so that the copy is forgotten.
 */
const claimTab = async (): Promise<void> => {
  // Plain http has no locks, but for localhost.
  if (!('locks' in navigator)) return;
  try {
    ownTab = tab ?? crypto.randomUUID();
    await hold(ownTab);
  } catch {
    ownTab = crypto.randomUUID();
    forgetSession('This tab was a copy of another one. Sign in here too.');
    await hold(ownTab);
  }
  keepTab();
};

const claimed = claimTab();

let exchanging: Promise<void> | undefined;

/** Exchanges the tokens of the session where they are about to expire. Where that fails, they stay. */
export const refresh = async (): Promise<void> => {
  const { session } = signedIn.get();
  if (session && session.expiresAt - now() <= margin) await renew();
};

/** Exchanges the tokens of the session, whose role may be another one by now. Where that fails, they stay. */
export const renew = async (): Promise<void> => {
  await claimed;
  const { session, isOver } = signedIn.get();
  if (isOver || !session?.refreshToken) return;
  exchanging ??= exchange(session).finally(() => {
    exchanging = undefined;
  });
  await exchanging.catch(() => undefined);
};

export const beginSession = (session: Session): void => {
  sessionStorage.setItem(key, session.token);
  if (session.refreshToken) sessionStorage.setItem(refreshKey, session.refreshToken);
  keepClock();
  keepTab();
  signedIn.set({ session, isOver: false });
  expireInTime(session);
};

/** The session is over. What the user has typed stays, for when the same user has signed in again. */
export const endSession = (): void => {
  const { session, isOver } = signedIn.get();
  sessionStorage.clear();
  if (!session || isOver) return;
  signedIn.set({ session, isOver: true, notice: 'Your session is over. Sign in again to go on.' });
};

/** The user has another address than the token says, and signs in by that. */
export const renameSession = (email: string): void => {
  const { session, ...rest } = signedIn.get();
  if (session) signedIn.set({ ...rest, session: { ...session, email } });
};

/** Forgets the user with all that the console showed. */
export const forgetSession = (notice?: string): void => {
  sessionStorage.clear();
  clearTimeout(timer);
  signedIn.set({ isOver: false, ...(notice ? { notice } : {}) });
};

const { session } = signedIn.get();
if (session) expireInTime(session);
