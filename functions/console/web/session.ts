/** Who is signed in. The token is kept in the tab and goes with it; no refresh token is kept. */
import { createStore } from './store.ts';

export interface Session {
  readonly token: string;
  readonly id: number;
  readonly email: string;
  readonly role: 'user' | 'admin';
  /** Milliseconds since 1970. */
  readonly expiresAt: number;
}

const key = 'accounts-console-token';

/** What a token says of its user. Whether it is valid only the service knows. */
export const sessionOf = (token: string): Session => {
  const payload = token.split('.')[1]?.replaceAll('-', '+').replaceAll('_', '/') ?? '';
  const bytes = Uint8Array.from(atob(payload), (character) => character.charCodeAt(0));
  const { id, email, role, exp } = JSON.parse(new TextDecoder().decode(bytes));
  return { token, id, email, role, expiresAt: exp * 1000 };
};

const readSession = (): Session | undefined => {
  const token = sessionStorage.getItem(key);
  const session = token ? sessionOf(token) : undefined;
  return session && session.expiresAt > Date.now() ? session : undefined;
};

interface SignedIn {
  readonly session?: Session | undefined;
  /** Whether the session is over: its user signs in again and goes on. */
  readonly isOver: boolean;
  /** What the form to sign in says first. */
  readonly notice?: string;
}

export const signedIn = createStore<SignedIn>({ session: readSession(), isOver: false });

let timer: number | undefined;

const expireInTime = ({ expiresAt }: Session): void => {
  clearTimeout(timer);
  timer = setTimeout(endSession, expiresAt - Date.now());
};

export const beginSession = (session: Session): void => {
  sessionStorage.setItem(key, session.token);
  signedIn.set({ session, isOver: false });
  expireInTime(session);
};

/** The session is over. What the user has typed stays, for when the same user has signed in again. */
export const endSession = (): void => {
  const { session, isOver } = signedIn.get();
  sessionStorage.removeItem(key);
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
  sessionStorage.removeItem(key);
  clearTimeout(timer);
  signedIn.set({ isOver: false, ...(notice ? { notice } : {}) });
};

const { session } = signedIn.get();
if (session) expireInTime(session);
