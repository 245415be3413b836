/** How second factors are enabled, changed and removed (functions/README.md, Second factor). */

import { audited } from '../audit/record.ts';
import { DomainError, missingField } from '../errors.ts';
import { notifyOfPart } from '../mail/hand-over.ts';
import {
  checkCode,
  enrolmentUri,
  factorRemoved,
  makeRecoveryCodes,
  makeSecret,
  readCode,
  recoveryHashes,
  stepOf,
  useCode,
  withoutFactor,
} from '../second-factor/factor.ts';
import { decryptSecret, encryptSecret } from '../second-factor/key.ts';
import type { Source } from '../source.ts';
import { seconds } from '../time.ts';
import type { Bearer } from '../users/bearer.ts';
import { hasFactor, type StoredUser } from '../users/items.ts';
import { endedSessions, requireOpen } from '../users/sessions.ts';
import { type Fields, rewriteUser, writeUser } from '../users/write.ts';
import { type Confirmation, passwordCheck, requireRight, requireVerified } from './confirmation.ts';
import { loginCounters } from './counters.ts';

/** Seconds for which a secret waits for its first code. */
const enrolmentTime = 10 * 60;

/** Requires a right code of a user, and uses it up, whatever comes of the request. */
const requireCode = async (user: StoredUser, sourceIp: string, code: string): Promise<StoredUser> =>
  requireRight(
    await loginCounters(user.email, sourceIp, user),
    'CODE_WRONG',
    () => checkCode(user, code),
    (proof) => useCode(user, proof),
  );

/**
 * Checks what users ask for of themselves, by their password and, if they have a second factor, by a
 * code, which is used up.
 * @returns the user as read last, and the check of the password for when the user is read again
 * @throws {DomainError} TOKEN_INVALID, CODE_REQUIRED, CODE_WRONG, CURRENT_PASSWORD_REQUIRED,
 *   CURRENT_PASSWORD_WRONG, TOO_MANY_ATTEMPTS, STORAGE_FAULT
 */
export const confirm = async (caller: Bearer, confirmation: Confirmation) => {
  const { code, sourceIp } = confirmation;
  const check = passwordCheck(caller, confirmation);
  if (hasFactor(caller) && !code) throw missingField('CODE_REQUIRED', 'code');
  let user: StoredUser = caller;
  await check(caller, async () => {
    if (hasFactor(caller) && code) user = await requireCode(caller, sourceIp, code);
  });
  return { user, check };
};

/** The user who asks, as authentication has read it, and where the request comes from. */
export interface FactorRequest {
  readonly caller: Bearer;
  readonly source: Source;
  readonly body: Omit<Confirmation, 'sourceIp'>;
}

const confirmationOf = ({ source, body }: FactorRequest): Confirmation => ({
  ...body,
  sourceIp: source.ip_address,
});

/** Records a change of a factor, and notifies its user unless it has no effect yet. */
const recording = async <T>(
  { caller, source }: FactorRequest,
  details: { readonly fields: readonly string[]; readonly second_factor?: string },
  change: () => Promise<T>,
): Promise<T> => {
  const { id } = caller;
  const entry = { ...source, action: 'UPDATE', user_id: id, resource_id: id, details } as const;
  const result = await audited(entry, change);
  if (details.second_factor !== 'begun') await notifyOfPart(caller, 'secondFactor', source);
  return result;
};

/** Requires that a user may get a factor. */
const requireEnrollable = (user: StoredUser): void => {
  if (user.factor_secret !== undefined) throw new DomainError('SECOND_FACTOR_ENABLED');
  requireVerified(user);
};

/**
 * Begins an enrolment: logins do not ask for codes before one has confirmed it.
 * @param issuer the service, as the app shows it
 * @returns the secret, and the URI of its QR code
 * @throws {DomainError} SECOND_FACTOR_ENABLED, EMAIL_NOT_VERIFIED, STORAGE_FAULT, and what the check of
 *   the password throws
 */
export const beginEnrolment = (
  request: FactorRequest,
  issuer: string,
): Promise<{ secret: string; uri: string }> => {
  const now = new Date();
  const { caller } = request;
  const details = { fields: ['second_factor'], second_factor: 'begun' };
  return recording(request, details, async () => {
    const check = passwordCheck(caller, confirmationOf(request));
    await check(caller);
    requireEnrollable(caller);
    const secret = makeSecret();
    const encrypted = await encryptSecret(caller.id, secret);
    const enrolment = { secret: encrypted, until: seconds(now) + enrolmentTime };
    const attempt = async (user: StoredUser) => {
      await check(user);
      requireEnrollable(user);
      return writeUser(user, { enrolment });
    };
    await rewriteUser(caller.id, attempt, caller);
    return { secret, uri: enrolmentUri(secret, { issuer, label: caller.email }) };
  });
};

/** The secret that waits for its first code. */
const pendingSecret = ({ enrolment }: StoredUser, now: number): string => {
  if (!enrolment || enrolment.until <= now) throw new DomainError('SECOND_FACTOR_NOT_FOUND');
  return enrolment.secret;
};

/** The step of the first code of an enrolment; undefined for a wrong code. */
const checkFirstCode = (user: StoredUser, secret: string, text: string, now: Date) => async () => {
  const code = readCode(text);
  return code.kind === 'app'
    ? stepOf(await decryptSecret(user.id, secret), code.digits, now)
    : undefined;
};

/**
 * Confirms an enrolment by its first code, and ends all other sessions of the user and the permission
 * of whoever made the user.
 * @returns the recovery codes, which are not stored
 * @throws {DomainError} SECOND_FACTOR_ENABLED, EMAIL_NOT_VERIFIED,
 *   SECOND_FACTOR_NOT_FOUND, CODE_WRONG, TOO_MANY_ATTEMPTS, TOKEN_INVALID, STORAGE_FAULT
 */
export const confirmEnrolment = (
  request: FactorRequest & { readonly body: { readonly code: string } },
): Promise<string[]> => {
  const now = new Date();
  const { caller, source, body } = request;
  const details = { fields: ['second_factor'], second_factor: 'enabled' };
  return recording(request, details, async () => {
    requireEnrollable(caller);
    const factor_secret = pendingSecret(caller, seconds(now));
    const check = checkFirstCode(caller, factor_secret, body.code, now);
    const found = async (step: number) => step;
    const counters = await loginCounters(caller.email, source.ip_address, caller);
    const factor_step = await requireRight(counters, 'CODE_WRONG', check, found);
    const codes = makeRecoveryCodes();
    const recovery_codes = recoveryHashes(caller.id, codes);
    const factor = { factor_secret, factor_step, recovery_codes, enrolment: undefined };
    const attempt = async (user: StoredUser) => {
      requireOpen(user, caller.session);
      requireEnrollable(user);
      if (pendingSecret(user, seconds(now)) !== factor_secret) throw new DomainError('CODE_WRONG');
      const sessions = endedSessions(user, caller.session);
      return writeUser(user, { ...factor, ...sessions, made_by: undefined });
    };
    await rewriteUser(caller.id, attempt, caller);
    return codes;
  });
};

/**
 * Changes a factor by password and code, unless another one has replaced it, and ends all other sessions
 * of the user.
 */
const changeFactor = async (request: FactorRequest, fields: Fields): Promise<void> => {
  const { caller } = request;
  if (caller.factor_secret === undefined) throw new DomainError('SECOND_FACTOR_NOT_FOUND');
  const { user: confirmed, check } = await confirm(caller, confirmationOf(request));
  const attempt = async (user: StoredUser) => {
    await check(user);
    if (user.factor_secret !== confirmed.factor_secret) throw new DomainError('CODE_WRONG');
    return writeUser(user, { ...fields, ...endedSessions(user, caller.session) });
  };
  await rewriteUser(caller.id, attempt, confirmed);
};

/**
 * Replaces the recovery codes of a user, and ends all other sessions.
 * @returns the new codes, which are not stored
 * @throws {DomainError} SECOND_FACTOR_NOT_FOUND, CODE_WRONG, TOO_MANY_ATTEMPTS,
 *   STORAGE_FAULT, and what the check of the password throws
 */
export const renewRecoveryCodes = (request: FactorRequest): Promise<string[]> =>
  recording(request, { fields: ['recovery_codes'] }, async () => {
    const codes = makeRecoveryCodes();
    await changeFactor(request, { recovery_codes: recoveryHashes(request.caller.id, codes) });
    return codes;
  });

/**
 * Removes the second factor of the user, and ends all other sessions.
 * @throws {DomainError} the same as {@link renewRecoveryCodes}
 */
export const removeOwnFactor = (request: FactorRequest): Promise<void> =>
  recording(request, factorRemoved, () => changeFactor(request, withoutFactor));

/**
 * Removes the second factor of a user, and ends all sessions of the user.
 * @returns the user as it was
 * @throws {DomainError} USER_NOT_FOUND, SECOND_FACTOR_NOT_FOUND, STORAGE_FAULT
 */
export const removeFactor = (id: number): Promise<StoredUser> =>
  rewriteUser(id, async (user) => {
    if (user.factor_secret === undefined) throw new DomainError('SECOND_FACTOR_NOT_FOUND');
    return (await writeUser(user, { ...withoutFactor, ...endedSessions(user) })) && user;
  });
