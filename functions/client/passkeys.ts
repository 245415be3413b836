/** `accounts-client/passkeys`: logins by passkeys, and the passkeys of the user (functions/README.md, Passkeys). */
import { AccountsError, type Answer, type ApiAnswer, answered, mapped } from './answer.ts';
import type { Api, CallOptions } from './api.ts';
import { askToMake, askToUse, canAutofill, hasPasskeys } from './authenticator.ts';
import type { Accounts } from './client.ts';
import type {
  AccountDeletion,
  Passkey,
  PasskeyConfirmation,
  PasskeyCreationOptions,
  UsedCredential,
} from './paths.ts';
import { findAccepted, tellAccepted, tellerOf } from './signals.ts';
import type { User } from './user.ts';

export interface Passkeys<Declared extends object = object> {
  /** Whether the browser has passkeys at all. */
  readonly isSupported: boolean;
  /**
   * Logs in with a passkey. The browser asks for it, or with `autofill` offers it among the suggestions of an address
   * field. Such an offer lasts until a session begins or ends, or until the next call of `logInByPasskey` or
   * `addPasskey`. If no passkey is chosen, the error has the code `ABORTED`.
   */
  logInByPasskey(
    options?: CallOptions & { readonly autofill?: boolean },
  ): Promise<Answer<{ readonly user: User<Declared>; readonly message: string }>>;
  /** @param confirmation the current password, with the code of a second factor; or an ID token with its nonce */
  addPasskey(
    name: string,
    confirmation: PasskeyConfirmation,
    options?: CallOptions,
  ): Promise<Answer<Passkey>>;
  listPasskeys(options?: CallOptions): Promise<Answer<readonly Passkey[]>>;
  removePasskey(
    passkey: string,
    confirmation: PasskeyConfirmation,
    options?: CallOptions,
  ): Promise<Answer<undefined>>;
  /** Deletes the account of the user, and tells the browser not to offer this user's passkeys any more. */
  deleteAccount(confirmation: AccountDeletion, options?: CallOptions): Promise<Answer<undefined>>;
  /**
   * Tells the browser the user's passkeys and names. An app needs to call it only after the user's name has changed;
   * the client itself does so after logins, other changes of the user, and changes of passkeys.
   */
  tellBrowser(): Promise<void>;
}

const known = new WeakMap<object, Passkeys<never>>();

/** The passkeys of a client's users. Every call for the same client returns the same object. */
export function passkeys<Declared extends object>(
  accounts: Accounts<Declared>,
): Passkeys<Declared> {
  const found = known.get(accounts) as Passkeys<Declared> | undefined;
  const made = found ?? passkeysOf(accounts);
  known.set(accounts, made as Passkeys<never>);
  return made;
}

function passkeysOf<Declared extends object>(accounts: Accounts<Declared>): Passkeys<Declared> {
  const { api } = accounts;
  const offer: Offer = { end: () => undefined };
  const { tell, changing } = tellerOf(api);
  const andTell = async <Data>(data: Data) => {
    await tell();
    return data;
  };
  accounts.subscribe((user, reason) => {
    if (reason !== 'changed') offer.end();
    if (user && reason !== 'read') void tell();
  });
  return {
    isSupported: hasPasskeys(),
    async logInByPasskey({ autofill = false, signal } = {}) {
      offer.end();
      const credential = await answered(() =>
        autofill ? offered(api, offer, signal) : asked(api, signal),
      );
      if (credential.error) return credential;
      const body = { credential: credential.data };
      return mapped(api.POST('/api/login/passkey', { body, signal }), ({ message }) => ({
        message,
        user: accounts.user as User<Declared>,
      }));
    },
    async addPasskey(name, body, { signal } = {}) {
      offer.end();
      const options = await api.POST('/api/passkeys/options', { body, signal });
      if (options.error) return options;
      const added = changing(() => addMade(api, options.data, name, signal));
      return mapped(added, andTell);
    },
    listPasskeys: (options) => mapped(api.GET('/api/passkeys', options), ({ data }) => data),
    removePasskey(passkey, body, options) {
      const given = { params: { path: { passkey } }, body, ...options };
      const removed = changing(() => api.POST('/api/passkeys/{passkey}/removals', given));
      return mapped(removed, andTell);
    },
    async deleteAccount(body, options) {
      const own = await findAccepted(api);
      const deleted = changing(() => api.POST('/api/account-deletions', { body, ...options }));
      return mapped(deleted, async () => {
        if (own) await tellAccepted({ ...own, allAcceptedCredentialIds: [] });
        return undefined;
      });
    },
    tellBrowser: tell,
  };
}

/** An offer among the suggestions of a field. Browsers allow one offer at a time, and none during another request. */
interface Offer {
  end: () => void;
}

/** Milliseconds after which the browser gets new options: the service accepts options for five minutes. */
const optionsTime = 240_000;

/** @throws {AccountsError} with the code ABORTED when the offer ends or fails */
async function offered(api: Api, offer: Offer, signal?: AbortSignal): Promise<UsedCredential> {
  const standing = new AbortController();
  const end = () => standing.abort();
  offer.end = end;
  signal?.addEventListener('abort', end);
  while (!standing.signal.aborted && !signal?.aborted && (await canAutofill())) {
    const { data: options } = await api.POST('/api/login/passkey-options', { signal });
    if (!options || standing.signal.aborted) break;
    const round = new AbortController();
    const endRound = () => round.abort();
    standing.signal.addEventListener('abort', endRound);
    const timer = setTimeout(endRound, optionsTime);
    const chosen = await answered(() => askToUse(options, round.signal, 'conditional'));
    clearTimeout(timer);
    if (chosen.data) return chosen.data;
    if (!round.signal.aborted) break;
  }
  // The user has not asked for the offer, and so need not be told that it failed.
  throw new AccountsError('ABORTED', { message: 'No passkey was chosen' });
}

/** @throws {AccountsError} if no passkey was used */
async function asked(api: Api, signal?: AbortSignal): Promise<UsedCredential> {
  const { data, error } = await api.POST('/api/login/passkey-options', { signal });
  if (error) throw error;
  return askToUse(data, signal);
}

async function addMade(
  api: Api,
  options: PasskeyCreationOptions,
  name: string,
  signal?: AbortSignal,
): Promise<ApiAnswer<Passkey>> {
  const credential = await answered(() => askToMake(options, signal));
  if (credential.error) return credential;
  const body = { credential: credential.data, ...(name.trim() && { name }) };
  return api.POST('/api/passkeys', { body, signal });
}
