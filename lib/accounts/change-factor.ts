/** How second factors are enabled, changed and removed (functions/README.md, Second factor). */
import { recording } from '../audit/record.ts';
import { DomainError } from '../ground/errors.ts';
import type { Source } from '../ground/source.ts';
import { seconds } from '../ground/time.ts';
import { encryptSecret } from '../keys/factor-key.ts';
import { countingGuesses } from '../options/protection/counters.ts';
import {
  enrolmentUri,
  makeRecoveryCodes,
  makeSecret,
  pendingSecret,
  recoveryHashes,
  stepOfCode,
} from '../options/second-factor/factor.ts';
import {
  codeFactorRemoved,
  hasCodes,
  hasFactorIn,
  removalDetails,
  requireFactorOfPasskeyHolder,
} from '../options/second-factor/state.ts';
import { type Bearer, rewriteCaller } from '../options/sessions/bearer.ts';
import { enrolmentNoted, sessionsEnded } from '../options/sessions/sessions.ts';
import { requireVerifiedAddress } from '../options/verified-addresses/address.ts';
import type { Change, StoredUser } from '../users/item.ts';
import { makerForgotten, rewriteUser, writeUser } from '../users/write.ts';
import { requireConfirmed } from './confirmation.ts';
import { ownDeed, recordingAndNotifying, recordingOwn } from './recording.ts';
import { type OwnConfirmation, rewriteConfirmed } from './rewrite-confirmed.ts';
import { allFactorsRemoved } from './ways-in.ts';

/**
 * Begins an enrolment: logins do not ask for codes before a first code has confirmed it.
 * @throws {DomainError} SECOND_FACTOR_ENABLED, EMAIL_NOT_VERIFIED, STORAGE_FAULT, and what the confirmation throws
 */
export async function beginEnrolment(given: OwnConfirmation, issuer: string) {
  const { caller } = given;
  const until = seconds(new Date()) + enrolmentTime;
  const secret = makeSecret();
  const details = { fields: ['second_factor'], second_factor: 'begun' };
  // No notice is mailed, because the function has no permission to send mails.
  await recording(ownDeed(given, details), async () => {
    const confirmedOnce = await requireConfirmed(caller, given);
    requireEnrollable(caller, caller);
    const enrolment = { secret: await encryptSecret(caller.id, secret), until };
    await rewriteCaller(caller, async (user) => {
      await requireConfirmed(user, confirmedOnce);
      requireEnrollable(user, caller);
      await writeUser(user, { fields: { enrolment } });
    });
  });
  return { secret, uri: enrolmentUri(secret, { issuer, label: caller.email }) };
}

interface FirstCode extends OwnConfirmation {
  readonly code: string;
}

/**
 * Confirms an enrolment by its first code. Ends all other sessions of the user, and the permission of the maker
 * (`made_by`) to change the user. The session of the request has a second factor from then on.
 * @returns the recovery codes, which are not stored
 * @throws {DomainError} SECOND_FACTOR_ENABLED, EMAIL_NOT_VERIFIED, SECOND_FACTOR_NOT_FOUND, CODE_WRONG,
 *   TOO_MANY_ATTEMPTS, TOKEN_INVALID, STORAGE_FAULT
 */
export async function confirmEnrolment(given: FirstCode): Promise<string[]> {
  const { caller, source, code } = given;
  const now = new Date();
  const codes = makeRecoveryCodes();
  const details = { fields: ['second_factor'], second_factor: 'enabled' };
  await recordingOwn(given, details, ['secondFactor'], async () => {
    requireEnrollable(caller, caller);
    const factor_secret = pendingSecret(caller, now);
    const check = () => stepOfCode(caller.id, factor_secret, code, now);
    const factor_step = await countingGuesses(source, caller, 'CODE_WRONG', check); // protection
    const recovery_codes = recoveryHashes(caller.id, codes);
    const factor = { factor_secret, factor_step, recovery_codes, enrolment: undefined };
    await rewriteCaller(caller, async (user) => {
      requireEnrollable(user, caller);
      if (pendingSecret(user, now) !== factor_secret) throw new DomainError('CODE_WRONG');
      await writeUser(
        user,
        { fields: factor },
        enrolmentNoted(user.id, caller.session), // sessions
        sessionsEnded(user, caller.session), // sessions
        makerForgotten, // users made by a caller
      );
    });
  });
  return codes;
}

/**
 * Replaces the recovery codes of a user, which are not stored, and ends all other sessions.
 * @throws {DomainError} SECOND_FACTOR_NOT_FOUND, CODE_WRONG, STORAGE_FAULT, and what the confirmation throws
 */
export async function renewRecoveryCodes(given: OwnConfirmation): Promise<string[]> {
  const codes = makeRecoveryCodes();
  const recovery_codes = recoveryHashes(given.caller.id, codes);
  await changeFactor(given, { fields: { recovery_codes } }, { fields: ['recovery_codes'] });
  return codes;
}

/**
 * Removes the second factor of the user, and ends all other sessions.
 * @throws {DomainError} the same as {@link renewRecoveryCodes}
 */
export function removeOwnFactor(given: OwnConfirmation): Promise<void> {
  return changeFactor(given, codeFactorRemoved, removalDetails);
}

/**
 * Removes the second factor and all passkeys of a user, for an admin whose session has a second factor. Ends all
 * sessions of the user.
 * @throws {DomainError} SECOND_FACTOR_REQUIRED, USER_NOT_FOUND, SECOND_FACTOR_NOT_FOUND, STORAGE_FAULT
 */
export async function removeFactor(id: number, admin: Bearer, source: Source): Promise<void> {
  if (!hasFactorIn(admin, admin.session)) throw new DomainError('SECOND_FACTOR_REQUIRED');
  const deed = { source, action: 'UPDATE', by: admin.id, on: id, details: removalDetails } as const;
  const remove = async (user: StoredUser) => {
    const removed = allFactorsRemoved(user);
    if (Object.keys(removed.fields).length === 0) throw new DomainError('SECOND_FACTOR_NOT_FOUND');
    await writeUser(
      user,
      removed, // the codes; passkeys
      sessionsEnded(user), // sessions
    );
    const [own, codes] = hasCodes(user)
      ? [removalDetails, ['secondFactor'] as const]
      : [{ fields: [] }, []];
    const details = { ...own, fields: [...own.fields, ...removed.ways] };
    return { user, details, parts: [...codes, ...removed.ways], byAdmin: true };
  };
  await recordingAndNotifying(deed, () => rewriteUser(id, remove));
}

/** Seconds for which a secret waits for its first code. */
const enrolmentTime = 10 * 60;

function requireEnrollable(user: StoredUser, caller: Bearer): void {
  requireFactorOfPasskeyHolder(user, caller); // passkeys
  if (user.factor_secret !== undefined) throw new DomainError('SECOND_FACTOR_ENABLED');
  requireVerifiedAddress(user); // verified addresses
}

/** Changes a second factor, unless another factor has replaced it. Ends all other sessions of the user. */
async function changeFactor(
  given: OwnConfirmation,
  change: Change,
  details: object,
): Promise<void> {
  const { caller } = given;
  if (caller.factor_secret === undefined) throw new DomainError('SECOND_FACTOR_NOT_FOUND');
  const changeOf = async (user: StoredUser) => {
    if (user.factor_secret !== caller.factor_secret) throw new DomainError('CODE_WRONG');
    await writeUser(
      user,
      change,
      sessionsEnded(user, caller.session), // sessions
    );
  };
  await recordingOwn(given, details, ['secondFactor'], () => rewriteConfirmed(given, changeOf));
}
