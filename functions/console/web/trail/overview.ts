/** The kinds of entries that the overview counts. */
import type { AuditEntry } from '../../../client/paths.ts';
import { timeOf } from '../format.ts';
import { detailsOf } from './happened.ts';

/** Whether a user registered, and was not created by somebody else. */
export const isRegistration = ({ action, result, resource, user_id, resource_id }: AuditEntry) =>
  `${action} ${resource} ${result}` === 'CREATE users SUCCESS' && String(user_id) === resource_id;

export const isLogin = (entry: AuditEntry, result: AuditEntry['result']): boolean =>
  entry.action === 'LOGIN' && entry.result === result;

/** Whether an entry changes the role, the auditor or the suspension of a user, or creates an admin. */
export const changesRights = (entry: AuditEntry): boolean => {
  const { role, auditor, suspended } = detailsOf(entry);
  const isChange = entry.action === 'CREATE' || entry.action === 'UPDATE';
  return (
    isChange &&
    entry.result === 'SUCCESS' &&
    [role === 'user' ? undefined : role, auditor, suspended].some((each) => each !== undefined)
  );
};

/** Counts the different users who logged in since a time, in milliseconds since 1970. */
export const usersSince = (entries: readonly AuditEntry[], time: number): number =>
  new Set(
    entries
      .filter((entry) => isLogin(entry, 'SUCCESS') && timeOf(entry.created_at) >= time)
      .map(({ user_id: id }) => id),
  ).size;
