/** The user who is signed in, and the listeners that are called when this changes. */
import type { User } from './user.ts';

/** Why the user has changed. `read`: the user was read from the storage. `ended`: the service ended the session. */
export type Reason = 'read' | 'loggedIn' | 'loggedOut' | 'ended' | 'changed';

export type Listener<Declared extends object = object> = (
  user: User<Declared> | null,
  reason: Reason,
) => void;

export interface Watched {
  /** Undefined until it is read. The object is the same until something changes. */
  user: User | null | undefined;
  readonly listeners: Set<Listener>;
}

export function watchedUser(): Watched {
  return { user: undefined, listeners: new Set() };
}

/** @returns a function that ends the subscription */
export function subscribe({ listeners }: Watched, listener: Listener): () => void {
  // The same function may listen twice.
  const own: Listener = (...happened) => listener(...happened);
  listeners.add(own);
  return () => void listeners.delete(own);
}

/**
 * Notes who is signed in, and calls the listeners if that has changed, or if somebody has logged in.
 * @param reason the reason, if it is known
 */
export function settle(watched: Watched, user: User | null, reason?: Reason): void {
  const before = watched.user;
  const isSame = before !== undefined && JSON.stringify(before) === JSON.stringify(user);
  if (isSame && reason !== 'loggedIn') return;
  watched.user = user;
  const happened = reason ?? reasonOf(before, user);
  for (const listener of [...watched.listeners]) tell(() => listener(user, happened));
}

/** An error of one listener does not keep the others from being called; it is reported like any uncaught error. */
export function tell(listener: () => void): void {
  try {
    listener();
  } catch (error) {
    setTimeout(() => {
      throw error;
    });
  }
}

function reasonOf(before: User | null | undefined, after: User | null): Reason {
  if (before === undefined) return 'read';
  if (!after) return 'loggedOut';
  return before?.id === after.id ? 'changed' : 'loggedIn';
}
