/** Passkeys, if the settings turn them on; their code is loaded when it is needed. */
import type { Passkeys } from '../../client/passkeys.ts';
import type { Passkey } from '../../client/paths.ts';
import { settings } from './api.ts';
import { accounts } from './session.ts';

/** Whether the browser supports passkeys, and the settings allow them on this origin. */
export const canUsePasskeys: boolean =
  (settings.passkeys?.origins ?? []).includes(location.origin) && 'PublicKeyCredential' in window;

/** Whether a passkey can be used to sign in. It cannot if its domain is an earlier value of the setting. */
export const isInForce = ({ rp_id }: Pick<Passkey, 'rp_id'>): boolean =>
  rp_id === settings.passkeys?.rpId;

/** The passkeys of the signed-in user. After this call the browser is told of them at each login. */
export const ownPasskeys = async (): Promise<Passkeys> => {
  const { passkeys } = await import('./passkey-code.ts');
  return passkeys(accounts);
};

/** Tells the browser which passkeys the user has, and under which names. A failure has no consequence. */
export const tellBrowser = async (): Promise<void> => {
  if (canUsePasskeys)
    await ownPasskeys()
      .then((own) => own.tellBrowser())
      .catch(() => undefined);
};

/**
 * Deletes the account of the user who is signed in.
 * @param remove deletes it, after which the browser is told that there are no passkeys any more
 */
export const withoutPasskeys = async (remove: () => Promise<void>): Promise<void> => {
  if (!canUsePasskeys) return remove();
  // The account is deleted, whether or not the browser can be told.
  const signals = await import('./passkey-code.ts').catch(() => undefined);
  const own = await signals?.findAccepted(accounts.api);
  await remove();
  if (own) void signals?.tellAccepted({ ...own, allAcceptedCredentialIds: [] });
};
