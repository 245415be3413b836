/**
 * Browsers are told which passkeys a user has, and under which names, so that they offer no other passkeys of this
 * user. They are never told that a passkey is unknown, because another service of the domain may know it.
 */
import type { Api } from './api.ts';

interface Signals {
  signalAllAcceptedCredentials?(accepted: Accepted): Promise<void>;
  signalCurrentUserDetails?(details: object): Promise<void>;
}

export interface Accepted {
  readonly rpId: string;
  readonly userId: string;
  readonly allAcceptedCredentialIds: readonly string[];
}

const { PublicKeyCredential: signals = {} } = globalThis as unknown as {
  readonly PublicKeyCredential?: Signals;
};

/** Passes on only the latest list, and none during a change: the browser forgets each passkey that a list lacks. */
export function tellerOf(api: Api) {
  let changes = 0;
  let turn = 0;
  return {
    /** Tells the browser which passkeys the user who is signed in has. If that fails, the browser changes nothing. */
    tell() {
      turn += 1;
      const own = turn;
      return tellBrowser(api, () => changes === 0 && turn === own);
    },
    /** Makes a change of the passkeys. A list that was read before the change ended is not passed on to the browser. */
    async changing<Result>(change: () => Promise<Result>) {
      changes += 1;
      try {
        return await change();
      } finally {
        changes -= 1;
        turn += 1;
      }
    },
  };
}

/**
 * The passkeys of the user who is signed in, in the form in which browsers are told.
 * @returns undefined if the browser does not support signals, or the user never had passkeys
 */
export async function findAccepted(api: Api): Promise<Accepted | undefined> {
  if (!signals.signalAllAcceptedCredentials) return undefined;
  const { data } = await api.GET('/api/passkeys');
  if (!data?.user_handle) return undefined;
  const { rp_id: rpId, user_handle: userId } = data;
  const inForce = data.data.filter((passkey) => passkey.rp_id === rpId);
  return {
    rpId,
    userId,
    allAcceptedCredentialIds: inForce.map((passkey) => passkey.credential_id),
  };
}

export function tellAccepted(accepted: Accepted): Promise<void> {
  return attempt(signals.signalAllAcceptedCredentials?.(accepted));
}

/** @param isCurrent whether the list that was read is still true */
async function tellBrowser(api: Api, isCurrent: () => boolean): Promise<void> {
  const own = await findAccepted(api);
  if (!own || !isCurrent()) return;
  await tellAccepted(own);
  const { data: profile } = await api.GET('/api/profile');
  if (!profile || !isCurrent()) return;
  const { email: name, name: displayName } = profile.data;
  const { rpId, userId } = own;
  await attempt(signals.signalCurrentUserDetails?.({ rpId, userId, name, displayName }));
}

async function attempt(signal: Promise<void> | undefined): Promise<void> {
  try {
    await signal;
  } catch {
    // Nothing that the user has asked for depends on the signal.
  }
}
