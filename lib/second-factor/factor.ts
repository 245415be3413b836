/** The second factor of a user, stored with the user: how a code is checked, and used up. */
import { randomUUID } from 'node:crypto';
import { UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { conditionItem, isConditionFailure, send } from '../dynamodb/client.ts';
import { config } from '../settings.ts';
import { type StoredUser, userKey } from '../users/items.ts';
import { type Code, recoveryHash, stepOf } from './codes.ts';
import { decryptSecret } from './key.ts';

/** A right code. It is right for one secret, and only until a write uses it up. */
export type Proof = { readonly secret: string } & (
  | { readonly step: number }
  | { readonly hash: string }
);

/**
 * Checks a code of a user, and writes nothing.
 * @returns undefined for a wrong code, for one that was used, and where there is no factor
 * @throws {DomainError} STORAGE_FAULT when the secret cannot be decrypted
 */
export const checkCode = async (user: StoredUser, code: Code): Promise<Proof | undefined> => {
  const { id, factor_secret: secret } = user;
  if (secret === undefined) return undefined;
  if (code.kind === 'recovery') {
    const proof = { secret, hash: recoveryHash(id, code.letters) };
    return isGood(user, proof) ? proof : undefined;
  }
  if (code.kind === 'neither') return undefined;
  const step = stepOf(await decryptSecret(id, secret), code.digits, new Date());
  if (step === undefined) return undefined;
  const proof = { secret, step };
  return isGood(user, proof) ? proof : undefined;
};

/** Whether a code is good for a user as read. */
const isGood = (user: StoredUser, proof: Proof): boolean =>
  user.factor_secret === proof.secret &&
  ('step' in proof
    ? proof.step > (user.factor_step ?? 0)
    : (user.recovery_codes?.has(proof.hash) ?? false));

/** The condition that a code is good at the instant of a write. */
const whileGood = (proof: Proof) => ({
  ConditionExpression: `factor_secret = :factor AND ${'step' in proof ? 'factor_step < :step' : 'contains(recovery_codes, :hash)'}`,
  ExpressionAttributeValues: {
    ':factor': proof.secret,
    ...('step' in proof ? { ':step': proof.step } : { ':hash': proof.hash }),
  },
});

/**
 * Uses a code up: of any number of requests with one code, one succeeds.
 * @returns false when another request has used it, or the factor was removed
 * @throws {DomainError} STORAGE_FAULT
 */
export const useCode = async (id: number, proof: Proof): Promise<boolean> => {
  const { ConditionExpression, ExpressionAttributeValues } = whileGood(proof);
  // Tells whether it was this request that used the code, if the response to a write is lost.
  const use = randomUUID();
  const used = 'step' in proof ? ', factor_step = :step' : ' DELETE recovery_codes :hashes';
  const command = new UpdateCommand({
    TableName: config.usersTable,
    Key: userKey(id),
    UpdateExpression: `SET code_use = :use${used}`,
    ConditionExpression,
    ExpressionAttributeValues: {
      ...ExpressionAttributeValues,
      ':use': use,
      ...('hash' in proof ? { ':hashes': new Set([proof.hash]) } : {}),
    },
    ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
  });
  try {
    await send(command);
    return true;
  } catch (error) {
    if (!isConditionFailure(error)) throw error;
    return conditionItem<{ code_use?: string }>(error)?.code_use === use;
  }
};

/** The details of the audit entry of a removal. */
export const factorRemoved = { fields: ['second_factor'], second_factor: 'removed' } as const;

/** The update that takes a second factor away, with all that belongs to it. */
export const removingFactor =
  'REMOVE factor_secret, factor_step, recovery_codes, code_use, enrolment';
