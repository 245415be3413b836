/** The rights and the address of a user over time, according to the trail. */
import type { AuditEntry, User } from '../../../client/paths.ts';
import { detailsOf } from './happened.ts';

/** The rights and the address of a user. Only entries in full detail have addresses. */
type Values = Partial<Readonly<Record<'role' | 'auditor' | 'email', unknown>>>;

/** A span of time in which these values did not change. */
export interface StandingSpan {
  readonly values: Values;
  /** Empty: from before the first entry. */
  readonly from: string;
  /** Empty: until now. */
  readonly until: string;
  readonly by: number | null;
}

const deeds: readonly string[] = ['CREATE', 'UPDATE', 'DELETE'];

/**
 * The rights and addresses of a user over time, newest first.
 * @param entries of the trail; entries that are not about the user are ignored
 * @param user as stored now; absent: deleted
 */
export const standingsOf = (
  id: number,
  entries: readonly AuditEntry[],
  user?: Pick<User, 'role' | 'auditor' | 'email'>,
): readonly StandingSpan[] => {
  const own = entries
    .filter(({ resource, resource_id, result, action }) => {
      const isDone = result === 'SUCCESS' && deeds.includes(action);
      return isDone && resource === 'users' && resource_id === String(id);
    })
    .toSorted((a, b) => a.id - b.id);
  const changes = own.filter(
    (entry) => entry.action === 'DELETE' || Object.keys(madeBy(entry)).length > 0,
  );
  let values = own[0]?.action === 'CREATE' ? undefined : valuesBefore(own, user);
  const standings: StandingSpan[] = values
    ? [{ values, from: '', until: changes[0]?.created_at ?? '', by: null }]
    : [];
  for (const [index, entry] of changes.entries()) {
    if (entry.action === 'DELETE') break;
    values = { ...values, ...madeBy(entry) };
    const until = changes[index + 1]?.created_at ?? '';
    standings.unshift({ values, from: entry.created_at, until, by: entry.user_id });
  }
  return standings;
};

/** The values that an entry gave the user. */
const madeBy = (entry: AuditEntry): Values => {
  const details = detailsOf(entry);
  if (entry.action === 'CREATE') return defined({ ...details, role: details.role ?? 'user' });
  return defined(sides(details, 'to'));
};

/** The values before the first change of each; a value that never changed is the present value. */
const valuesBefore = (own: readonly AuditEntry[], user: Values = {}): Values => {
  const earliestLast = own.map((entry) => defined(sides(detailsOf(entry), 'from'))).reverse();
  return Object.assign({}, user, ...earliestLast);
};

const sides = (details: Readonly<Record<string, unknown>>, side: 'from' | 'to'): Values => ({
  role: Object(details.role)[side],
  auditor: Object(details.auditor)[side],
  email: Object(details.email)[side],
});

const defined = ({ role, auditor, email }: Values): Values =>
  Object.fromEntries(
    Object.entries({ role, auditor, email }).filter(([, value]) => value !== undefined),
  );
