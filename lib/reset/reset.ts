/** Password resets, for users who forgot their password (functions/README.md, Password reset). */

import type { AuditedAction } from '../audit/entry.ts';
import { record, recordingFaults } from '../audit/record.ts';
import { failuresOf } from '../auth/login-protection.ts';
import { DomainError } from '../errors.ts';
import { notifyOfChange } from '../mail/hand-over.ts';
import type { Source } from '../source.ts';
import { hasFactor } from '../users/items.ts';
import { hashPassword } from '../users/password.ts';
import { findLink, useReset } from './store.ts';

/** The details of the audit entry of a reset. */
const details = { fields: ['password'], by: 'reset' };

/**
 * Sets a password by a token, which is valid once.
 * @throws {DomainError} RESET_TOKEN_INVALID, HASHING_FAULT, STORAGE_FAULT
 */
export const resetPassword = async (
  { token, password }: { token: string; password: string },
  source: Source,
): Promise<void> => {
  const attempt = { ...source, action: 'UPDATE', details } as const;
  const found = await recordingFaults(attempt, () => findLink('reset', token));
  if (!found) throw new DomainError('RESET_TOKEN_INVALID');
  const { user } = found;
  // The mailbox must not give further guesses at the code.
  const forgetting = hasFactor(user) ? undefined : failuresOf(user.email);
  const [hash, forgotten] = await Promise.all([hashPassword(password), forgetting]);
  const change = {
    ...attempt,
    user_id: user.id,
    resource_id: user.id,
  } satisfies Partial<AuditedAction>;
  const isSet = await recordingFaults(change, () => useReset(found, hash, { forgotten }));
  if (!isSet) throw new DomainError('RESET_TOKEN_INVALID');
  await Promise.all([
    record({ ...change, result: 'SUCCESS' }),
    // Whoever has the mail has the address.
    notifyOfChange({ ...user, email_verified: true }, { password }, source),
  ]);
};
