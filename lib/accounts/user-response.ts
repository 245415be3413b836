/** How responses show a user (functions/README.md, Responses). */

import {
  config,
  hasAttributes,
  hasFactors,
  hasIdentities,
  hasPasskeys,
  hasSecondFactors,
  hasSessions,
  sendsMail,
} from '../ground/settings.ts';
import { attributesOf } from '../options/attributes/attributes.ts';
import { domainOf } from '../options/passkeys/passkeys.ts';
import { factorStanding } from '../options/second-factor/state.ts';
import { awaitsLink, verifiedAs } from '../options/verified-addresses/address.ts';
import type { ListedUser, StoredIdentity, StoredPasskey, StoredUser } from '../users/item.ts';
import type { User } from '../users/user.ts';
import { type Caller, seesAll } from './policy.ts';

/**
 * The fields of a user that responses show.
 * @param caller users themselves, admins and auditors also see the address that waits for its link and
 *   whether the user is an auditor; admins and auditors also see whether the user is suspended or invited
 */
export function shownUser(user: ListedUser, caller: Caller = {}): User {
  const { id, name, email, role, created_at, email_verified, pending_email } = user;
  const { suspended_at, invited_until, auditor } = user;
  const isForAll = seesAll(caller);
  const isForOwn = isForAll || caller.id === id;
  return {
    id,
    name,
    email,
    role,
    created_at,
    ...verifiedAs(email_verified === true), // verified addresses
    ...(isForOwn && awaitsLink(user) ? { pending_email } : {}),
    ...(isForAll && suspended_at ? { suspended_at } : {}), // suspension
    ...(isForAll && invited_until && sendsMail(config) ? { invited_until } : {}), // invitations
    ...(isForOwn && hasSessions(config) ? { auditor: auditor === true } : {}), // auditors
  };
}

/** The same for responses that show a whole user: with the attributes, which the index of lists does not have. */
export function shownWithAttributes(user: StoredUser, caller: Caller) {
  const isForOwn = seesAll(caller) || caller.id === user.id;
  const attributes = isForOwn && hasAttributes(config) ? { attributes: attributesOf(user) } : {};
  return { ...shownUser(user, caller), ...attributes };
}

/** The further fields that admins and auditors see in a response about one user, for the options that are on. */
export function shownToReaders(user: StoredUser) {
  return {
    ...(hasSecondFactors(config) ? { second_factor: factorStanding(user) } : {}),
    ...(hasIdentities(config) ? { identities: (user.identities ?? []).map(shownIdentity) } : {}),
    ...(hasPasskeys(config) ? { passkeys: (user.passkeys ?? []).map(listedPasskey) } : {}),
  };
}

/**
 * How a list shows its users, by its parameters: with the attributes or, for admins and auditors who list the admins,
 * with what each admin has as a second factor.
 * @returns whether that needs all data of the users, and the function that shows one
 */
export function shownInList(
  { attributes, role }: { attributes?: 'true' | undefined; role?: 'admin' | undefined },
  caller: Caller,
) {
  const showsAttributes = attributes !== undefined;
  const showsFactors = role === 'admin' && seesAll(caller) && hasFactors(config); // second factor, passkeys
  const show = (user: StoredUser) => ({
    ...(showsAttributes ? shownWithAttributes : shownUser)(user, caller),
    ...(showsFactors ? factorsOf(user) : {}),
  });
  return { isWhole: showsAttributes || showsFactors, show };
}

export function shownIdentity({ id, issuer, email, created_at }: StoredIdentity) {
  return { id, issuer, email, created_at };
}

function factorsOf(user: StoredUser) {
  const { second_factor, passkeys } = shownToReaders(user);
  return { second_factor, passkeys };
}

/** A passkey of another user, without the data of its last use. */
function listedPasskey(passkey: StoredPasskey) {
  const { id, name, created_at } = passkey;
  return { id, name, created_at, rp_id: domainOf(passkey) };
}
