import type { AuditEntry } from '../../../client/paths.ts';
import { detailsOf } from './happened.ts';
import { isRegistration } from './overview.ts';
import { type Grouping, none, ownFilters, type TrailState } from './query.ts';

/** Entries that share a value; entries without a value share {@link none}. */
export interface Group {
  readonly value: string;
  readonly count: number;
  readonly failures: number;
  readonly first: string;
  readonly last: string;
}

/** The value by which an entry is grouped with others. */
const sharedBy = (entry: AuditEntry, by: Grouping): string => {
  const { user_id: userId, ip_address: ipAddress, action, resource } = entry;
  const { machine_id: machineId } = entry;
  const { reason } = detailsOf(entry);
  return String({ userId, ipAddress, action, reason, resource, machineId }[by] ?? none);
};

/** Whether an entry passes the filters that the service does not know. */
export const passes = (entry: AuditEntry, state: TrailState): boolean =>
  ownFilters(state).every((by) =>
    by === 'only' ? isRegistration(entry) : sharedBy(entry, by) === state[by],
  );

/** The groups of entries, the largest first. */
export const groupsOf = (entries: readonly AuditEntry[], by: Grouping): readonly Group[] => {
  const groups = new Map<string, Group>();
  for (const entry of entries) {
    const value = sharedBy(entry, by);
    const { created_at: at } = entry;
    const { count = 0, failures = 0, first = at, last = at } = groups.get(value) ?? {};
    groups.set(value, {
      value,
      count: count + 1,
      failures: failures + (entry.result === 'FAILURE' ? 1 : 0),
      first: at < first ? at : first,
      last: at > last ? at : last,
    });
  }
  return [...groups.values()].sort((a, b) => b.count - a.count);
};
