/** `accounts-client/react`: a hook of React for the user who is signed in. */
import { useSyncExternalStore } from 'react';
import type { Accounts } from './client.ts';
import type { User } from './user.ts';

/** Who is signed in; null: nobody; undefined: not known yet, as on a server. */
export function useUser<Declared extends object>(
  accounts: Accounts<Declared>,
): User<Declared> | null | undefined {
  return useSyncExternalStore(accounts.subscribe, accounts.getSnapshot, () => undefined);
}
