/**
 * The identities of users at other issuers (functions/README.md, Identities). The user's item lists them. Each identity
 * also has an item of its own, which ensures that it is linked to only one user. Both items are written in one
 * transaction.
 */
import { randomBytes } from 'node:crypto';
import { itemKey } from '../../dynamodb/tables.ts';
import { DomainError } from '../../ground/errors.ts';
import {
  type Change,
  claiming,
  getItem,
  type IdentityName,
  merged,
  releasing,
  type StoredIdentity,
  type StoredUser,
} from '../../users/item.ts';
import { findStoredUser } from '../../users/store.ts';
import { isUnmatchable } from '../../users/user.ts';

/** The most identities that a user may have, so that the user's item stays small. */
export const mostIdentities = 10;

/** An identity that is linked now, unless another time is given. */
export function makeIdentity({
  issuer,
  subject,
  email = null,
  created_at = new Date().toISOString(),
}: IdentityName & { email?: string | null | undefined; created_at?: string }): StoredIdentity {
  return {
    id: randomBytes(12).toString('base64url'),
    issuer,
    subject,
    email,
    created_at,
  };
}

/** The user to whom an identity is linked, or undefined. */
export async function findUserByIdentity(name: IdentityName): Promise<StoredUser | undefined> {
  const item = await getItem<{ user_id: number }>(identityKey(name));
  const user = item && (await findStoredUser(item.user_id));
  // The identity may have been unlinked between the two reads.
  return user && identityOf(user, name) ? user : undefined;
}

export function identityOf(user: StoredUser, { issuer, subject }: IdentityName) {
  return user.identities?.find((each) => each.issuer === issuer && each.subject === subject);
}

/** The identity of a user with an id. @throws {DomainError} IDENTITY_NOT_FOUND */
export function requireIdentity({ identities = [] }: StoredUser, id: string | undefined) {
  const identity = identities.find((each) => each.id === id);
  if (!identity) throw new DomainError('IDENTITY_NOT_FOUND');
  return identity;
}

/** The change that links identities to a user, on the condition that nobody has them. */
export function identitiesClaimed(
  { id, identities = [] }: StoredUser,
  names: readonly IdentityName[] = identities,
): Change {
  const claim = (name: IdentityName) =>
    claiming({ ...identityKey(name), user_id: id }, 'IDENTITY_LINKED');
  return { steps: names.map(claim) };
}

export function identitiesUnlinked(user: StoredUser): Change {
  if (!user.identities) return {};
  return merged(identitiesReleased(user, user.identities), {
    fields: { identities: undefined },
    ways: ['identities'],
  });
}

/** The change that links another identity to a user, on the condition that nobody has it. */
export function identityLinked(user: StoredUser, identity: StoredIdentity): Change {
  const identities = [...(user.identities ?? []), identity];
  return merged(identitiesClaimed(user, [identity]), { fields: { identities } });
}

/**
 * The change that unlinks an identity from a user.
 * @throws {DomainError} IDENTITY_NOT_FOUND, or LAST_LOGIN when it is the only way in
 */
export function identityUnlinked(user: StoredUser, id: string | undefined): Change {
  const identity = requireIdentity(user, id);
  const rest = user.identities?.filter((each) => each !== identity) ?? [];
  if (rest.length === 0 && isUnmatchable(user.password_hash)) throw new DomainError('LAST_LOGIN');
  const identities = rest.length > 0 ? rest : undefined;
  return merged(identitiesReleased(user, [identity]), { fields: { identities } });
}

function identitiesReleased({ id }: StoredUser, names: readonly IdentityName[]): Change {
  return { steps: names.map((name) => releasing(identityKey(name), id)) };
}

/** Keys are unambiguous, because no name of an issuer contains a number sign. */
function identityKey({ issuer, subject }: IdentityName) {
  return itemKey('identity#*', issuer, subject);
}
