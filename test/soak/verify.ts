/** Compares all items of the tables with what was acknowledged. */
import type { AuditEntry } from '../../lib/audit/entry.ts';
import type { ApiClient } from '../support/client.ts';
import type { ModelUser } from '../support/model.ts';
import { brokenItems, type Item, scan, scanAudit, usersIn } from '../support/stored-items.ts';
import { entryKey, type Findings } from './traffic.ts';

const tableNames = { users: 'accounts-users', audit: 'accounts-audit' };

const shown = (user: Item | ModelUser | undefined) =>
  user && JSON.stringify([user.name, user.email, user.role]);

const checkUsers = (items: readonly Item[], { accounts, violations }: Findings): void => {
  const users = new Map(usersIn(items).map((user) => [Number(user.id), user]));
  violations.push(...brokenItems(items).map(({ pk }) => `broken item ${pk}`));
  if (users.size !== usersIn(items).length) violations.push('an id occurs twice');
  for (const id of new Set([...accounts.keys(), ...users.keys()])) {
    const [is, was] = [shown(users.get(id)), shown(accounts.get(id))];
    if (is !== was) violations.push(`user ${id} is ${is}, not ${was}, as was last acknowledged`);
  }
};

const loggedForm = /^\{.*"event":"audit-entry-not-written".*$/gm;

/** Entries that could not be written in time, and are in the log instead, to be replayed. */
const loggedEntries = (output: string): readonly AuditEntry[] =>
  [...output.matchAll(loggedForm)].map(([line]) => JSON.parse(line).entry);

const checkEntries = (
  stored: readonly AuditEntry[],
  logged: readonly AuditEntry[],
  { entries, violations }: Findings,
) => {
  const found = new Map<string, number>();
  const ids = new Set(stored.map(({ id }) => id));
  if (ids.size !== stored.length) violations.push('an audit id occurs twice');
  for (const entry of [...stored, ...logged.filter(({ id }) => !ids.has(id))]) {
    // A request for a check of the seal changes no user, and is not counted.
    if (entry.resource === 'audit-seal') continue;
    const key = entryKey(entry);
    found.set(key, (found.get(key) ?? 0) + 1);
  }
  for (const key of new Set([...found.keys(), ...entries.keys()])) {
    const [there, due] = [found.get(key) ?? 0, entries.get(key) ?? 0];
    if (there !== due) violations.push(`${there} audit entries of ${key}, not ${due}`);
  }
};

/** @param output the output of the service */
export const checkTables = async (
  engine: string,
  output: string,
  findings: Findings,
): Promise<{ users: number; entries: number; logged: number }> => {
  const items = await scan(engine, tableNames.users);
  const stored = await scanAudit(engine, tableNames.audit);
  const logged = loggedEntries(output);
  checkUsers(items, findings);
  checkEntries(stored, logged, findings);
  return { users: usersIn(items).length, entries: stored.length, logged: logged.length };
};

/** Logs in to every account with the password that was last acknowledged. */
export const checkPasswords = async (
  api: ApiClient,
  { accounts, violations }: Findings,
  connections: number,
): Promise<void> => {
  const waiting = [...accounts];
  const check = async () => {
    for (let next = waiting.pop(); next; next = waiting.pop()) {
      const [id, { email, password }] = next;
      const { status } = await api('POST', '/api/login', { json: { email, password } });
      if (status !== 200) violations.push(`login of user ${id} after a restart: ${status}`);
    }
  };
  await Promise.all(Array.from({ length: connections }, check));
};
