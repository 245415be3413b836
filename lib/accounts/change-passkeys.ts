/** How users add, name and remove passkeys (functions/README.md, Passkeys). */
import { DomainError } from '../ground/errors.ts';
import { nonceUsed } from '../keys/nonce.ts';
import {
  creationOptions,
  forAdding,
  type Made,
  verifyMade,
} from '../options/passkeys/credential.ts';
import {
  makeHandle,
  makePasskey,
  mostPasskeys,
  passkeyAdded,
  passkeysInForce,
  passkeysRemoved,
  relyingParty,
  requirePasskey,
  shownPasskey,
} from '../options/passkeys/passkeys.ts';
import { requireFactorOfPasskeyHolder } from '../options/second-factor/state.ts';
import { type Bearer, rewriteCaller } from '../options/sessions/bearer.ts';
import { sessionsEnded } from '../options/sessions/sessions.ts';
import { requireVerifiedAddress } from '../options/verified-addresses/address.ts';
import type { StoredPasskey, StoredUser } from '../users/item.ts';
import { makerForgotten, writeUser } from '../users/write.ts';
import { type Own, recordingOwn } from './recording.ts';
import { type OwnConfirmation, rewriteConfirmed } from './rewrite-confirmed.ts';

/**
 * The options by which a browser makes a passkey for a caller. The first time, the caller also gets a handle.
 * @throws {DomainError} SECOND_FACTOR_REQUIRED, EMAIL_NOT_VERIFIED, TOO_MANY_PASSKEYS, STORAGE_FAULT, and what the
 *   confirmation throws
 */
export async function beginPasskey(given: OwnConfirmation, product: string) {
  const { caller } = given;
  requireRoom(caller, caller);
  const handle = await rewriteConfirmed(given, async (user) => {
    requireRoom(user, caller);
    if (user.passkey_handle) return user.passkey_handle;
    const passkey_handle = makeHandle();
    await writeUser(user, { fields: { passkey_handle } });
    return passkey_handle;
  });
  return creationOptions(caller, handle, product);
}

/**
 * Adds a passkey that a browser has made by the options of {@link beginPasskey}. Ends all other sessions, and the
 * permission of the maker (`made_by`) to change the caller.
 * @returns the passkey as responses show it
 * @throws {DomainError} PASSKEY_INVALID, SECOND_FACTOR_REQUIRED, EMAIL_NOT_VERIFIED, TOO_MANY_PASSKEYS,
 *   PASSKEY_REGISTERED, TOKEN_INVALID, USER_NOT_FOUND, STORAGE_FAULT
 */
export async function addPasskey(own: Own & { credential: Made; name?: string | undefined }) {
  const { caller, name = 'Passkey' } = own;
  const found = await verifyMade(own.credential, forAdding(caller));
  if (!found) throw new DomainError('PASSKEY_INVALID');
  const { credential, nonce } = found;
  const passkey = makePasskey(credential, name, relyingParty().rpId);
  const add = (user: StoredUser) => {
    requireRoom(user, caller);
    return writeUser(
      user,
      passkeyAdded(user, passkey, credential),
      nonceUsed(nonce, 'PASSKEY_INVALID'),
      sessionsEnded(user, caller.session), // sessions
      makerForgotten, // users made by a caller
    );
  };
  const details = detailsOf({ added: passkey.id });
  await recordingOwn(own, details, ['passkeys'], () => rewriteCaller(caller, add));
  return shownPasskey(passkey, credential);
}

/**
 * Gives a passkey of a caller another name.
 * @throws {DomainError} PASSKEY_NOT_FOUND, TOKEN_INVALID, USER_NOT_FOUND, STORAGE_FAULT
 */
export async function renamePasskey(
  id: string | undefined,
  own: Own & { name: string },
): Promise<StoredPasskey> {
  const { caller, name } = own;
  const details = detailsOf({ renamed: requirePasskey(caller, id).id });
  const rename = async (user: StoredUser) => {
    const passkey = requirePasskey(user, id);
    const renamed = { ...passkey, name };
    const passkeys = user.passkeys?.map((each) => (each === passkey ? renamed : each));
    await writeUser(user, { fields: { passkeys } });
    return renamed;
  };
  return recordingOwn(own, details, [], () => rewriteCaller(caller, rename));
}

/**
 * Removes a passkey of a caller, and ends all other sessions.
 * @throws {DomainError} PASSKEY_NOT_FOUND, SECOND_FACTOR_REQUIRED, STORAGE_FAULT, and what the confirmation throws
 */
export async function removePasskey(id: string | undefined, given: OwnConfirmation): Promise<void> {
  const { caller } = given;
  const details = detailsOf({ removed: requirePasskey(caller, id).id });
  requireFactorOfPasskeyHolder(caller, caller); // second factor
  const remove = (user: StoredUser) => {
    requireFactorOfPasskeyHolder(user, caller); // second factor
    return writeUser(
      user,
      passkeysRemoved(user, [requirePasskey(user, id)]),
      sessionsEnded(user, caller.session), // sessions
    );
  };
  await recordingOwn(given, details, ['passkeys'], () => rewriteConfirmed(given, remove));
}

function detailsOf(said: object) {
  return { fields: ['passkeys'], ...said };
}

function requireRoom(user: StoredUser, caller: Bearer): void {
  requireFactorOfPasskeyHolder(user, caller); // second factor
  requireVerifiedAddress(user); // verified addresses
  if (passkeysInForce(user).length >= mostPasskeys) throw new DomainError('TOO_MANY_PASSKEYS');
}
