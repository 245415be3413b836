/**
 * The passkeys of users (functions/README.md, Passkeys). The user's item names them, and each has an item of
 * its own, by which it belongs to one user alone, with its key and what its last use has left. Both are
 * written in one transaction.
 */
import { randomBytes } from 'node:crypto';
import { type Step, updateOnce } from '../../dynamodb/client.ts';
import { itemKey } from '../../dynamodb/tables.ts';
import { DomainError } from '../../ground/errors.ts';
import { config, hasPasskeys } from '../../ground/settings.ts';
import {
  claiming,
  getItem,
  getItems,
  releasing,
  type StoredPasskey,
  type StoredUser,
} from '../../users/item.ts';
import { findStoredUser } from '../../users/store.ts';
import type { Change } from '../../users/write.ts';
import type { Session } from '../sessions/sessions.ts';

/** A credential as its authenticator has made it. */
export interface Credential {
  /** In base64url. */
  readonly credential_id: string;
  /** In COSE (RFC 9052). */
  readonly public_key: Uint8Array;
  /** The number of its signatures; 0 if its authenticator does not count them. */
  readonly counter: number;
  /** Whether its authenticator has a copy of it elsewhere. */
  readonly backed_up: boolean;
}

/** The item of a passkey. */
export interface StoredCredential extends Omit<Credential, 'credential_id'> {
  readonly user_id: number;
  /** The time of the last login, as in `created_at`; null: there was none. */
  readonly last_used_at: string | null;
}

/** Passkeys that a user may have. */
export const mostPasskeys = 10;

/** A new name under which authenticators keep the passkeys of a user. */
export function makeHandle(): string {
  return randomBytes(32).toString('base64url');
}

/** A passkey that is added now. */
export function makePasskey(
  { credential_id }: Pick<Credential, 'credential_id'>,
  name: string,
): StoredPasskey {
  const id = randomBytes(12).toString('base64url');
  return { id, credential_id, name, created_at: new Date().toISOString() };
}

/** A passkey of a user. @throws {DomainError} PASSKEY_NOT_FOUND */
export function findPasskey({ passkeys = [] }: StoredUser, id: string | undefined): StoredPasskey {
  const passkey = passkeys.find((each) => each.id === id);
  if (!passkey) throw new DomainError('PASSKEY_NOT_FOUND');
  return passkey;
}

/** Whether a user has passkeys; false while PASSKEYS is not set. */
export function hasPasskey({ passkeys = [] }: StoredUser): boolean {
  return hasPasskeys(config) && passkeys.length > 0;
}

/** Whether a session began by a passkey that its user still has. */
export function beganByPasskey(user: StoredUser, { began }: Pick<Session, 'began'>): boolean {
  if (!hasPasskey(user) || typeof began !== 'object') return false;
  return user.passkeys?.some(({ id }) => id === began.passkey) ?? false;
}

/** The user and the item of a credential, or undefined. @throws {DomainError} STORAGE_FAULT */
export async function findByCredential(credentialId: string) {
  const credential = await getItem<StoredCredential>(passkeyKey(credentialId));
  const user = credential && (await findStoredUser(credential.user_id));
  // It may have been removed between the two reads.
  const passkey = user?.passkeys?.find(({ credential_id }) => credential_id === credentialId);
  return user && passkey && { user, passkey, credential };
}

/** Passkeys as responses show them. @throws {DomainError} STORAGE_FAULT */
export async function shownPasskeys(passkeys: readonly StoredPasskey[] = []) {
  const items = await getItems(passkeys.map(({ credential_id }) => passkeyKey(credential_id)));
  return passkeys.map((passkey, i) =>
    shownPasskey(passkey, items[i] as StoredCredential | undefined),
  );
}

/** A passkey as responses show it. @param item absent: it was removed meanwhile */
export function shownPasskey(
  { id, name, created_at, credential_id }: StoredPasskey,
  { last_used_at = null, backed_up = false }: Partial<StoredCredential> = {},
) {
  return { id, name, created_at, last_used_at, backed_up, credential_id };
}

/** The change that adds a passkey to a user, on the condition that nobody has its credential. */
export function adding(
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

/** The change that removes passkeys of a user. */
export function removing(user: StoredUser, removed = user.passkeys ?? []): Change {
  if (removed.length === 0) return { fields: {} };
  const rest = user.passkeys?.filter((each) => !removed.includes(each)) ?? [];
  return {
    fields: { passkeys: rest.length > 0 ? rest : undefined },
    steps: removed.map((passkey) => forgetting(user, passkey)),
    ways: ['passkeys'],
  };
}

/** The steps by which the passkeys of a user go with the user. */
export function forgottenPasskeys(user: StoredUser): readonly Step[] {
  return (user.passkeys ?? []).map((passkey) => forgetting(user, passkey));
}

/**
 * Notes that a user has logged in by a credential.
 * @returns false if it was removed, or if its counter did not grow: then a copy of it may have signed
 * @throws {DomainError} STORAGE_FAULT
 */
export function noteLogin(
  { id }: StoredUser,
  { credential_id, counter, backed_up }: Omit<Credential, 'public_key'>,
  now = new Date(),
): Promise<boolean> {
  const last_used_at = now.toISOString();
  const update = {
    TableName: config.usersTable,
    Key: passkeyKey(credential_id),
    UpdateExpression: 'SET #counter = :counter, backed_up = :backed, last_used_at = :now',
    // Most authenticators do not count, and say 0.
    ConditionExpression: `user_id = :user AND #counter ${counter === 0 ? '=' : '<'} :counter`,
    ExpressionAttributeNames: { '#counter': 'counter' },
    ExpressionAttributeValues: {
      ':counter': counter,
      ':backed': backed_up,
      ':now': last_used_at,
      ':user': id,
    },
  };
  return updateOnce(update, (item) => item.last_used_at === last_used_at);
}

function forgetting({ id }: StoredUser, { credential_id }: StoredPasskey): Step {
  return releasing(passkeyKey(credential_id), id);
}

function passkeyKey(credentialId: string) {
  return itemKey('passkey#*', credentialId);
}
