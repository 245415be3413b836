/** Who is signed in. The tokens are kept in the tab and are deleted with it. */
import { createClient } from '../../client/client.ts';
import type { User } from '../../client/user.ts';
import { keepClock, reach } from './service.ts';
import { createStore } from './store.ts';

interface SignedIn {
  /** The user who is signed in, or whose session is over. */
  readonly session?: User | undefined;
  /** Whether the session is over: its user can sign in again and continue. */
  readonly isOver: boolean;
  /** The first sentence of the form to sign in. */
  readonly notice?: string;
}

export const signedIn = createStore<SignedIn>({ isOver: false });

/** Whether the session is an admin's. Auditors, and admins without a second factor, change only themselves. */
export const isAdmin = (): boolean => signedIn.get().session?.role === 'admin';

const tabKey = 'accounts-console-tab';
const tab = sessionStorage.getItem(tabKey);
/** The name that this tab holds for as long as its page is open. */
let ownTab = tab ?? String(Math.random());

/** Milliseconds in which a reloaded page gets the lock of the page before. */
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
 * Makes sure that the tab has its own tokens. A duplicated tab begins with a copy of another tab's tokens, and
 * forgets the copy, because a refresh token that both use would end the session. It also forgets the tokens of a
 * user who was not let in.
 */
const claimTab = async (): Promise<void> => {
  if (!tab) sessionStorage.clear();
  // On plain http there are no locks, except on localhost.
  if (!('locks' in navigator)) return;
  try {
    await hold(ownTab);
  } catch {
    ownTab = String(Math.random());
    sessionStorage.clear();
    signedIn.set({
      isOver: false,
      notice: 'This tab was a copy of another one. Sign in here too.',
    });
    await hold(ownTab);
  }
};

const claimed = claimTab();

export const accounts = createClient({
  url: location.origin,
  name: 'console',
  fetch: reach,
  storage: {
    get: async (key) => {
      await claimed;
      return sessionStorage.getItem(key);
    },
    set: (key, tokens) => {
      sessionStorage.setItem(key, tokens);
      keepClock();
    },
    remove: () => sessionStorage.clear(),
  },
});

/** `enter` lets in users who have logged in. Typed text is kept in case the same user signs in again. */
accounts.subscribe((user, reason) => {
  const { session, isOver } = signedIn.get();
  const isIn = session && !isOver;
  if (user && (reason === 'read' || isIn)) signedIn.set({ session: user, isOver: false });
  if (user || !isIn) return;
  const notice = 'Your session is over. Sign in again to go on.';
  if (reason === 'ended') signedIn.set({ session, isOver: true, notice });
  else signedIn.set({ isOver: false, notice: 'You are signed out.' });
});

export const enter = (): void => {
  sessionStorage.setItem(tabKey, ownTab);
  signedIn.set({ session: accounts.user ?? undefined, isOver: false });
};

/** The user's address has changed since the token was issued, and the user signs in with the new address. */
export const renameSession = (email: string): void => {
  const { session, ...rest } = signedIn.get();
  if (session) signedIn.set({ ...rest, session: { ...session, email } });
};

/** Forgets the user and everything that the console showed. @returns whether the service has ended the session */
export const leave = async (notice: string): Promise<boolean> => {
  signedIn.set({ isOver: false, notice });
  // A page that is reloaded before the service responds forgets the tokens, because the tab has no name any more.
  sessionStorage.removeItem(tabKey);
  return (await accounts.logOut()).error === null;
};

/** Refreshes the token before it expires. If that fails, a request shows whether the session has ended. */
export const keepSession = async (): Promise<void> => {
  if (!(await accounts.getToken())) await accounts.api.GET('/api/profile');
};
