/** The second factor of a user, stored with the user: how a code is checked, and used up. */
import type { StoredUser } from '../users/items.ts';
import { rewriteUser, writeUser } from '../users/write.ts';
import { readCode, recoveryHash, stepOf } from './codes.ts';
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
export const checkCode = async (user: StoredUser, text: string): Promise<Proof | undefined> => {
  const { id, factor_secret: secret } = user;
  if (secret === undefined) return undefined;
  const code = readCode(text);
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

/** What a write sets to use a code up. */
const spent = (user: StoredUser, proof: Proof) => {
  if ('step' in proof) return { factor_step: proof.step };
  const rest = new Set(user.recovery_codes);
  rest.delete(proof.hash);
  return { recovery_codes: rest.size > 0 ? rest : undefined };
};

/**
 * Uses a code up: of any number of requests with one code, one succeeds.
 * @returns the user without the code; undefined when another request has used it, or the factor was
 *   removed
 * @throws {DomainError} USER_NOT_FOUND, STORAGE_FAULT
 */
export const useCode = async (user: StoredUser, proof: Proof): Promise<StoredUser | undefined> => {
  const attempt = async (current: StoredUser) =>
    isGood(current, proof) ? writeUser(current, spent(current, proof)) : null;
  return (await rewriteUser(user.id, attempt, user)) ?? undefined;
};

/** The details of the audit entry of a removal. */
export const factorRemoved = { fields: ['second_factor'], second_factor: 'removed' } as const;

/** What a write sets to remove a second factor, with all that belongs to it. */
export const withoutFactor = {
  factor_secret: undefined,
  factor_step: undefined,
  recovery_codes: undefined,
  enrolment: undefined,
} as const;
