/** Password resets, for users who forgot their password (functions/README.md, Password reset). */

import { audited } from '../audit/record.ts';
import { failuresOf } from '../auth/counters.ts';
import { DomainError } from '../errors.ts';
import { notifyOfChange } from '../mail/hand-over.ts';
import type { Source } from '../source.ts';
import { hasFactor } from '../users/items.ts';
import { hashPassword } from '../users/password.ts';
import { findLink, useReset } from './store.ts';

/**
 * Sets a password by a token, which is valid once.
 * @throws {DomainError} RESET_TOKEN_INVALID, HASHING_FAULT, STORAGE_FAULT
 */
export const resetPassword = async (
  { token, password }: { token: string; password: string },
  source: Source,
): Promise<void> => {
  const details = { fields: ['password'], by: 'reset' };
  const change = { ...source, action: 'UPDATE', details } as const;
  const user = await audited(change, async (entry) => {
    const found = await findLink('reset', token);
    if (!found) throw new DomainError('RESET_TOKEN_INVALID');
    const { id, email } = found.user;
    Object.assign(entry, { user_id: id, resource_id: id });
    // The mailbox must not give further guesses at the code.
    const forgetting = hasFactor(found.user) ? undefined : failuresOf(email);
    const [hash, forgotten] = await Promise.all([hashPassword(password), forgetting]);
    if (await useReset(found, hash, { forgotten })) return found.user;
    throw new DomainError('RESET_TOKEN_INVALID');
  });
  // Whoever has the mail has the address.
  await notifyOfChange({ ...user, email_verified: true }, { password }, source);
};
