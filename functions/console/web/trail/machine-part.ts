/** The part of a machine in an entry (functions/README.md, Machines). */
import type { AuditEntry } from '../../../client/paths.ts';
import { detailsOf, isPosted } from './happened.ts';

/**
 * Whether the machine of an entry wrote it, did what it tells, or passed on the request of somebody else, whose
 * address it named. Undefined: the entry has no machine.
 */
export const machinePartOf = (entry: AuditEntry): 'wrote' | 'acted' | 'passed' | undefined => {
  const { machine_id: machine, user_id: user, action } = entry;
  if (!Number.isSafeInteger(machine)) return undefined;
  if (isPosted(entry)) return 'wrote';
  const { reason, by } = detailsOf(entry);
  // Machines neither log in nor use links; nobody is known who tried that in vain.
  const isOfPeople =
    action === 'LOGIN' || action === 'LOGOUT' || reason !== undefined || by !== undefined;
  return user !== null || isOfPeople ? 'passed' : 'acted';
};
