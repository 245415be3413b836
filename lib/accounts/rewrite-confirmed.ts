/**
 * How callers change their own account: with an open session, their current password or, if they have no password, an
 * ID token, and their code (functions/README.md, Current password, Identities, Second factor). Every line is for
 * sessions, or for the option named at its end.
 */
import { DomainError, missingField } from '../ground/errors.ts';
import { countingGuesses, countingReuse } from '../options/protection/counters.ts';
import { checkCode, useCode } from '../options/second-factor/factor.ts';
import { hasCodes } from '../options/second-factor/state.ts';
import { type Bearer, rewriteCaller } from '../options/sessions/bearer.ts';
import type { StoredUser } from '../users/item.ts';
import {
  type Confirmation,
  checkConfirmation,
  requireConfirmed,
  useNonceUp,
} from './confirmation.ts';

export interface OwnConfirmation extends Confirmation {
  readonly caller: Bearer;
}

/**
 * Changes a caller who confirms the change by every proof that the account has, and uses up the code. If others have
 * changed the user meanwhile, the user is read again: the session must still be open then, and if others have changed
 * the password, the given password must match the new one.
 * @throws {DomainError} USER_NOT_FOUND, TOKEN_INVALID, CODE_REQUIRED, CODE_WRONG, STORAGE_FAULT, what
 *   {@link requireConfirmed} throws, and what the change throws
 */
export async function rewriteConfirmed<T>(
  given: OwnConfirmation,
  change: (user: StoredUser) => Promise<T>,
): Promise<T> {
  const { caller } = given;
  if (hasCodes(caller) && !given.code) throw missingField('CODE_REQUIRED', 'code'); // second factor
  await checkConfirmation(caller, given);
  const withoutCode = await useFactor(caller, given); // second factor
  await useNonceUp(caller, given); // identities
  const confirmedOnce = { ...given, matchedHash: caller.password_hash };
  const changeConfirmed = async (user: StoredUser) => {
    await requireConfirmed(user, confirmedOnce);
    return change(user);
  };
  return rewriteCaller(caller, changeConfirmed, withoutCode);
}

/** @returns the user without the code, which is used up */
async function useFactor(user: StoredUser, given: Confirmation): Promise<StoredUser> {
  const { code = '', source } = given;
  if (!hasCodes(user)) return user;
  const proof = await countingGuesses(source, user, 'CODE_WRONG', () => checkCode(user, code)); // protection
  return countingReuse(source, user, 'CODE_WRONG', (wrong) =>
    useCode(user, proof, wrong, new DomainError('USER_NOT_FOUND')),
  ); // protection
}
