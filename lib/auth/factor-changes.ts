/** How second factors are enabled, changed and removed (functions/README.md, Second factor). */

import { audited } from '../audit/record.ts';
import { updateOnce } from '../dynamodb/client.ts';
import { DomainError, missingField } from '../errors.ts';
import { notifyOfFactor } from '../mail/hand-over.ts';
import {
  type Code,
  enrolmentUri,
  makeRecoveryCodes,
  makeSecret,
  readCode,
  recoveryHashes,
  stepOf,
} from '../second-factor/codes.ts';
import {
  checkCode,
  factorRemoved,
  type Proof,
  removingFactor,
  useCode,
} from '../second-factor/factor.ts';
import { decryptSecret, encryptSecret } from '../second-factor/key.ts';
import { config } from '../settings.ts';
import type { Source } from '../source.ts';
import { clockSkew, seconds } from '../time.ts';
import type { Bearer } from '../users/bearer.ts';
import { readPermitted, readThenWrite } from '../users/changes.ts';
import { hasFactor, type StoredUser, userKey } from '../users/items.ts';
import { endingSessions } from '../users/sessions.ts';
import { readUser } from '../users/store.ts';
import { type Permission, type Written, whileAsRead } from '../users/update.ts';
import { countAttempt, loginCounters, requireNoWait } from './counters.ts';
import {
  checkOwnRequest,
  type OwnRequest,
  ownPermission,
  parseCurrentPassword,
} from './own-change.ts';

/** Seconds for which a secret waits for its first code. */
const enrolmentTime = 10 * 60;

/** The field `code` of a body. @throws {DomainError} CODE_REQUIRED unless it is text */
const parseCode = (value: unknown): Code => {
  const code = readCode(value);
  if (code) return code;
  throw missingField('CODE_REQUIRED', 'code');
};

/**
 * Requires what a check finds. A wrong code counts as a failed login.
 * @param use uses the code up; returns false when another request has
 */
const requireRightCode = async <Found>(
  user: StoredUser,
  sourceIp: string,
  check: () => Promise<Found | undefined>,
  use: (found: Found) => Promise<boolean> = async () => true,
): Promise<Found> => {
  const counters = await loginCounters(user.email, sourceIp, user);
  const seen = await requireNoWait(counters);
  const found = await check();
  const seenByNow = found === undefined ? seen : await requireNoWait(counters);
  if (found !== undefined && (await use(found))) return found;
  const { refusal } = await countAttempt(seenByNow);
  throw refusal ?? new DomainError('CODE_WRONG');
};

/** Requires a right code of a user, and uses it up, whatever comes of the request. */
const requireCode = (user: StoredUser, sourceIp: string, code: Code): Promise<Proof> =>
  requireRightCode(
    user,
    sourceIp,
    () => checkCode(user, code),
    (proof) => useCode(user.id, proof),
  );

/**
 * Checks what users ask for of themselves, by their password and, if they have a second factor, by a
 * code, which is used up.
 * @throws {DomainError} CODE_REQUIRED, CODE_WRONG, and the errors of {@link checkOwnRequest}
 */
export const checkOwnRequestWithCode = async (
  request: OwnRequest & { readonly code: unknown },
  caller: Bearer,
): Promise<Permission> => {
  if (!hasFactor(caller)) return checkOwnRequest(request, caller);
  const code = parseCode(request.code);
  const permission = await checkOwnRequest(request, caller);
  await requireCode(caller, request.sourceIp, code);
  return permission;
};

interface Expressions {
  readonly UpdateExpression: string;
  readonly ConditionExpression: string;
  readonly ExpressionAttributeValues?: Readonly<Record<string, unknown>>;
}

/** Writes a change of a factor, while the user, the password and the session are as they were read. */
const write = async (
  user: StoredUser,
  permission: Permission,
  change: Expressions,
): Promise<Written> => {
  const condition = whileAsRead(user, permission);
  const isWritten = await updateOnce({
    TableName: config.usersTable,
    Key: userKey(user.id),
    UpdateExpression: change.UpdateExpression,
    ConditionExpression: `${condition.ConditionExpression} AND ${change.ConditionExpression}`,
    ExpressionAttributeNames: condition.ExpressionAttributeNames,
    ExpressionAttributeValues: {
      ...condition.ExpressionAttributeValues,
      ...change.ExpressionAttributeValues,
    },
  });
  return isWritten ? 'written' : 'conflict';
};

/** Changes a factor, again for as long as others change the user in between. */
const changeFactor = async (
  permission: Permission,
  changeOf: (user: StoredUser) => Expressions,
): Promise<void> => {
  await readThenWrite(
    (attempt) => readPermitted(permission.user.id, permission, attempt),
    (user) => write(user, permission, changeOf(user)),
  );
};

/** The user who asks, as authentication has read it, and where the request comes from. */
export interface FactorRequest {
  readonly caller: Bearer;
  readonly source: Source;
  /** The body. */
  readonly body: Readonly<Record<string, unknown>>;
}

const ownRequest = ({ source, body }: FactorRequest) => ({
  currentPassword: body.currentPassword,
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
  if (details.second_factor !== 'begun') await notifyOfFactor(caller, source);
  return result;
};

const requireNoFactor = (user: StoredUser): void => {
  if (user.factor_secret !== undefined) throw new DomainError('SECOND_FACTOR_ENABLED');
};

/**
 * Requires that a user may get a factor: who registers the address of somebody else must not shut the
 * holder of the mailbox out.
 */
const requireEnrollable = (user: StoredUser): void => {
  requireNoFactor(user);
  const isVerified = config.emailVerification === 'off' || user.email_verified;
  if (!isVerified) throw new DomainError('EMAIL_NOT_VERIFIED');
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
  const details = { fields: ['second_factor'], second_factor: 'begun' };
  return recording(request, details, async () => {
    const permission = await checkOwnRequest(ownRequest(request), request.caller);
    const { id, email } = permission.user;
    requireEnrollable(permission.user);
    const secret = makeSecret();
    const encrypted = await encryptSecret(id, secret);
    const enrolment = { secret: encrypted, until: seconds(now) + enrolmentTime };
    await changeFactor(permission, (user) => {
      requireEnrollable(user);
      return {
        UpdateExpression: 'SET enrolment = :enrolment',
        ConditionExpression: 'attribute_not_exists(factor_secret)',
        ExpressionAttributeValues: { ':enrolment': enrolment },
      };
    });
    return { secret, uri: enrolmentUri(secret, { issuer, label: email }) };
  });
};

/**
 * The secret that waits for its first code. One that ends later was made before the clock was set
 * back.
 */
const pendingSecret = ({ enrolment }: StoredUser, now: number): string => {
  const { secret, until = 0 } = enrolment ?? {};
  const isPending = until > now && until <= now + enrolmentTime + clockSkew;
  if (secret === undefined || !isPending) throw new DomainError('SECOND_FACTOR_NOT_FOUND');
  return secret;
};

/** Checks the first code of an enrolment, and writes nothing. @returns the step of the code */
const checkFirstCode = (user: StoredUser, secret: string, code: Code, now: Date) => async () =>
  code.kind === 'app' ? stepOf(await decryptSecret(user.id, secret), code.digits, now) : undefined;

/**
 * Confirms an enrolment by its first code, and ends all other sessions of the user and the permission
 * of whoever made the user.
 * @returns the recovery codes, which are not stored
 * @throws {DomainError} CODE_REQUIRED, SECOND_FACTOR_ENABLED, EMAIL_NOT_VERIFIED,
 *   SECOND_FACTOR_NOT_FOUND, CODE_WRONG, TOO_MANY_ATTEMPTS, STORAGE_FAULT
 */
export const confirmEnrolment = (request: FactorRequest): Promise<string[]> => {
  const now = new Date();
  const { caller: user, source, body } = request;
  const details = { fields: ['second_factor'], second_factor: 'enabled' };
  return recording(request, details, async () => {
    const code = parseCode(body.code);
    requireEnrollable(user);
    const secret = pendingSecret(user, seconds(now));
    const check = checkFirstCode(user, secret, code, now);
    const step = await requireRightCode(user, source.ip_address, check);
    const codes = makeRecoveryCodes();
    await changeFactor(ownPermission(user), (current) => {
      requireEnrollable(current);
      if (pendingSecret(current, seconds(now)) !== secret) throw new DomainError('CODE_WRONG');
      const update = {
        UpdateExpression:
          'SET factor_secret = :secret, factor_step = :step, recovery_codes = :codes REMOVE enrolment, made_by',
        ConditionExpression: 'enrolment.secret = :secret AND attribute_not_exists(factor_secret)',
        ExpressionAttributeValues: {
          ':secret': secret,
          ':step': step,
          ':codes': recoveryHashes(user.id, codes),
        },
      };
      return endingSessions(update, { user: current, session: user.session });
    });
    return codes;
  });
};

/** Checks password and code of a user who changes an existing factor, and uses the code up. */
const checkBoth = async (
  request: FactorRequest,
): Promise<{ permission: Permission; proof: Proof }> => {
  const { caller, source, body } = request;
  const code = parseCode(body.code);
  parseCurrentPassword(body.currentPassword);
  if (caller.factor_secret === undefined) throw new DomainError('SECOND_FACTOR_NOT_FOUND');
  const permission = await checkOwnRequest(ownRequest(request), caller);
  return { permission, proof: await requireCode(caller, source.ip_address, code) };
};

/**
 * Changes the factor that a code was for, unless another one has replaced it, and ends all other
 * sessions of the user.
 */
const changeByCode = (
  { permission, proof }: { permission: Permission; proof: Proof },
  UpdateExpression: string,
  values: Readonly<Record<string, unknown>> = {},
): Promise<void> =>
  changeFactor(permission, (user) => {
    if (user.factor_secret !== proof.secret) throw new DomainError('CODE_WRONG');
    const update = {
      UpdateExpression,
      ConditionExpression: 'factor_secret = :factor',
      ExpressionAttributeValues: { ':factor': proof.secret, ...values },
    };
    return endingSessions(update, { user, session: permission.session });
  });

/**
 * Replaces the recovery codes of a user, and ends all other sessions.
 * @returns the new codes, which are not stored
 * @throws {DomainError} CODE_REQUIRED, SECOND_FACTOR_NOT_FOUND, CODE_WRONG, TOO_MANY_ATTEMPTS,
 *   STORAGE_FAULT, and what the check of the password throws
 */
export const renewRecoveryCodes = (request: FactorRequest): Promise<string[]> =>
  recording(request, { fields: ['recovery_codes'] }, async () => {
    const checked = await checkBoth(request);
    const codes = makeRecoveryCodes();
    const values = { ':codes': recoveryHashes(request.caller.id, codes) };
    await changeByCode(checked, 'SET recovery_codes = :codes', values);
    return codes;
  });

/**
 * Removes the second factor of the user, and ends all other sessions.
 * @throws {DomainError} the same as {@link renewRecoveryCodes}
 */
export const removeOwnFactor = (request: FactorRequest): Promise<void> =>
  recording(request, factorRemoved, async () =>
    changeByCode(await checkBoth(request), removingFactor),
  );

/**
 * Removes the second factor of a user, and ends all sessions of the user.
 * @returns the user as it was
 * @throws {DomainError} USER_NOT_FOUND, SECOND_FACTOR_NOT_FOUND, STORAGE_FAULT
 */
export const removeFactor = async (id: number): Promise<StoredUser> => {
  const user = await readUser(id);
  if (user.factor_secret === undefined) throw new DomainError('SECOND_FACTOR_NOT_FOUND');
  const update = endingSessions({
    UpdateExpression: removingFactor,
    ConditionExpression: 'factor_secret = :secret',
    ExpressionAttributeValues: { ':secret': user.factor_secret },
  });
  const isRemoved = await updateOnce({
    TableName: config.usersTable,
    Key: userKey(id),
    ...update,
  });
  if (!isRemoved) throw new DomainError('SECOND_FACTOR_NOT_FOUND');
  return user;
};
