/**
 * The passkeys of users (functions/README.md, Passkeys). The user's item lists them. Each passkey also has an item of
 * its own, which holds its public key and its last use, and ensures that it belongs to only one user. Both items are
 * written in one transaction.
 */
import { randomBytes } from 'node:crypto';
import { untilWritten, updateOnce } from '../../dynamodb/client.ts';
import { itemKey } from '../../dynamodb/tables.ts';
import { DomainError } from '../../ground/errors.ts';
import type { PasskeySettings } from '../../ground/rules.ts';
import { config, hasPasskeys } from '../../ground/settings.ts';
import {
  type Change,
  claiming,
  getItem,
  getItems,
  releasing,
  type StoredPasskey,
  type StoredUser,
} from '../../users/item.ts';
import { findStoredUser } from '../../users/store.ts';
import { writeUser } from '../../users/write.ts';
import type { Session } from '../sessions/sessions.ts';

export interface Credential {
  /** In base64url. */
  readonly credential_id: string;
  /** In COSE (RFC 9052). */
  readonly public_key: Uint8Array;
  /** The number of its signatures; 0 if its authenticator does not count them. */
  readonly counter: number;
  /** Whether the credential is backed up outside its authenticator. */
  readonly backed_up: boolean;
}

export interface StoredCredential extends Omit<Credential, 'credential_id'> {
  readonly user_id: number;
  /** The time of the last login, as in `created_at`; null: there was none. */
  readonly last_used_at: string | null;
}

/** The most passkeys that a user may have for the domain in force. */
export const mostPasskeys = 10;

/** The domain and the origins of passkeys, from PASSKEYS. */
export function relyingParty(): PasskeySettings {
  return JSON.parse(config.passkeys);
}

/** A passkey that version 1.0.0 stored is of the domain in force, until a login stores its domain. */
export function domainOf({ rp_id = relyingParty().rpId }: StoredPasskey): string {
  return rp_id;
}

/**
 * The passkeys of a user that are in force: the passkeys of the domain in force. While PASSKEYS is not set, none is.
 */
export function passkeysInForce({ passkeys = [] }: StoredUser): readonly StoredPasskey[] {
  if (!hasPasskeys(config)) return [];
  return passkeys.filter((passkey) => domainOf(passkey) === relyingParty().rpId);
}

export function makeHandle(): string {
  return randomBytes(32).toString('base64url');
}

/** A passkey that is added now. @param rp_id the domain for which it was made */
export function makePasskey(
  { credential_id }: Pick<Credential, 'credential_id'>,
  name: string,
  rp_id: string,
): StoredPasskey {
  const id = randomBytes(12).toString('base64url');
  return { id, credential_id, name, created_at: new Date().toISOString(), rp_id };
}

/** A passkey of a user. @throws {DomainError} PASSKEY_NOT_FOUND */
export function requirePasskey(
  { passkeys = [] }: StoredUser,
  id: string | undefined,
): StoredPasskey {
  const passkey = passkeys.find((each) => each.id === id);
  if (!passkey) throw new DomainError('PASSKEY_NOT_FOUND');
  return passkey;
}

export function hasPasskey(user: StoredUser): boolean {
  return passkeysInForce(user).length > 0;
}

/** Whether a session began with a passkey that its user still has and that is in force. */
export function beganByPasskey(user: StoredUser, { began }: Pick<Session, 'began'>): boolean {
  if (typeof began !== 'object') return false;
  return passkeysInForce(user).some(({ id }) => id === began.passkey);
}

/** The user and the item of a credential, or undefined. */
export async function findByCredential(credentialId: string) {
  const credential = await getItem<StoredCredential>(passkeyKey(credentialId));
  const user = credential && (await findStoredUser(credential.user_id));
  // The passkey may have been removed between the two reads.
  const passkey = user?.passkeys?.find(({ credential_id }) => credential_id === credentialId);
  return user && passkey && { user, passkey, credential };
}

export async function shownPasskeys(passkeys: readonly StoredPasskey[] = []) {
  const items = await getItems(passkeys.map(({ credential_id }) => passkeyKey(credential_id)));
  return passkeys.map((passkey, i) =>
    shownPasskey(passkey, items[i] as StoredCredential | undefined),
  );
}

/** A passkey as responses show it. @param item the item of the passkey; absent: it was removed meanwhile */
export function shownPasskey(
  passkey: StoredPasskey,
  { last_used_at = null, backed_up = false }: Partial<StoredCredential> = {},
) {
  const { id, name, created_at, credential_id } = passkey;
  const rp_id = domainOf(passkey);
  return { id, name, created_at, last_used_at, backed_up, credential_id, rp_id };
}

/** The change that adds a passkey to a user, on the condition that nobody has its credential. */
export function passkeyAdded(
  { id, passkeys = [] }: StoredUser,
  passkey: StoredPasskey,
  { credential_id, ...credential }: Credential,
): Change {
  const stored: StoredCredential = { ...credential, user_id: id, last_used_at: null };
  return {
    fields: { passkeys: [...passkeys, passkey] },
    steps: [claiming({ ...passkeyKey(credential_id), ...stored }, 'PASSKEY_REGISTERED')],
  };
}

export function passkeysRemoved(user: StoredUser, removed = user.passkeys ?? []): Change {
  if (removed.length === 0) return {};
  const rest = user.passkeys?.filter((each) => !removed.includes(each));
  return {
    fields: { passkeys: rest?.length ? rest : undefined },
    steps: removed.map(({ credential_id }) => releasing(passkeyKey(credential_id), user.id)),
    ways: ['passkeys'],
  };
}

/**
 * Records that a user has logged in by a credential. A counter of 0 is not stored: it means that the authenticator does
 * not count signatures, even if another authenticator with the same passkey does.
 * @returns false if the credential was removed, or if its counter is not higher than the stored one
 */
export function noteLogin(
  { id }: StoredUser,
  { credential_id, counter, backed_up }: Omit<Credential, 'public_key'>,
  now = new Date(),
): Promise<boolean> {
  const last_used_at = now.toISOString();
  const isCounting = counter > 0;
  const update = {
    TableName: config.usersTable,
    Key: passkeyKey(credential_id),
    UpdateExpression: `SET backed_up = :backed, last_used_at = :now${isCounting ? ', #counter = :counter' : ''}`,
    ConditionExpression: `user_id = :user${isCounting ? ' AND #counter < :counter' : ''}`,
    ...(isCounting && { ExpressionAttributeNames: { '#counter': 'counter' } }),
    ExpressionAttributeValues: {
      ...(isCounting && { ':counter': counter }),
      ':backed': backed_up,
      ':now': last_used_at,
      ':user': id,
    },
  };
  return updateOnce(update, (item) => item.last_used_at === last_used_at);
}

/** Stores the domain of a passkey that version 1.0.0 stored: a login has just proved that it is the one in force. */
export async function noteDomain(user: StoredUser, passkey: StoredPasskey): Promise<void> {
  if (passkey.rp_id !== undefined) return;
  const { rpId: rp_id } = relyingParty();
  const note = async (read: StoredUser | undefined) => {
    const noted = (each: StoredPasskey) => (each.id === passkey.id ? { ...each, rp_id } : each);
    if (read?.passkeys) await writeUser(read, { fields: { passkeys: read.passkeys.map(noted) } });
  };
  await untilWritten(() => findStoredUser(user.id), note, user);
}

function passkeyKey(credentialId: string) {
  return itemKey('passkey#*', credentialId);
}
