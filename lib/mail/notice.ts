/** Word to an account of what was changed of how it is entered, where the service sends mails. */

import { describeFault, logError, noticeNotHandedOver } from '../log.ts';
import { config } from '../settings.ts';
import { handOver } from './hand-over.ts';

/** Which request does something, and where it comes from. */
export interface Source {
  readonly request_id: string;
  readonly ip_address: string;
  readonly user_agent: string;
}

/**
 * Has an account mailed, at the address that it had, when its password or its address was changed.
 * Never throws: what was changed is changed, and word that is lost is in the log.
 */
export const noticeChange = async (
  before: { readonly id: number; readonly email: string },
  { email = before.email, password }: { readonly email?: string; readonly password?: string },
  source: Source,
  { now = new Date() }: { now?: Date } = {},
): Promise<void> => {
  // In any letter of it: who reads an address by other rules than ours takes it for another.
  const isMoved = email !== before.email;
  const changed = [
    ...(password === undefined ? [] : (['password'] as const)),
    ...(isMoved ? (['email'] as const) : []),
  ];
  if (config.mailFunctionUrl === '' || changed.length === 0) return;
  try {
    const time = now.toISOString();
    const { id: user_id, email: address } = before;
    await handOver({ kind: 'notice', user_id, email: address, changed, ...source, time });
  } catch (error) {
    logError(noticeNotHandedOver, { requestId: source.request_id, ...describeFault(error) });
  }
};
