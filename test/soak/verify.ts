/** Compares the tables, in full, with what was acknowledged. */
import type { AuditEntry } from '../../lib/audit/entry.ts';
import { brokenItems, type Item, scan, scanAudit, usersIn } from '../support/stored-items.ts';
import type { Client } from './client.ts';
import { type Account, entryKey, isExpected, type Ledger } from './ledger.ts';

const tableNames = { users: 'accounts-users', audit: 'accounts-audit' };

const shown = ({ id, name, email, role }: Item | Account) =>
  JSON.stringify([id, name, email, role]);

/** What is wrong with the users that were acknowledged. */
const wrongAmong = (users: ReadonlyMap<number, Item>, { accounts }: Ledger): readonly string[] =>
  [...accounts.values()].flatMap((account) => {
    const user = users.get(account.id);
    if (!user) return [`user ${account.id} is lost`];
    const [is, was] = [shown(user), shown(account)];
    return is === was ? [] : [`user ${account.id} is ${is}, not ${was}`];
  });

/** What is wrong with the users that are there. */
const superfluousAmong = (ids: Iterable<number>, { accounts, deleted }: Ledger) =>
  [...ids]
    .filter((id) => !accounts.has(id))
    .map((id) => `user ${id} ${deleted.has(id) ? 'was deleted' : 'was never acknowledged'}`);

const checkUsers = (items: readonly Item[], ledger: Ledger): void => {
  const users = new Map(usersIn(items).map((user) => [Number(user.id), user]));
  const broken = brokenItems(items).map(({ pk }) => `broken item ${pk}`);
  const doubled = users.size === usersIn(items).length ? [] : ['an id occurs twice'];
  const wrong = [...wrongAmong(users, ledger), ...superfluousAmong(users.keys(), ledger)];
  ledger.violations.push(...broken, ...doubled, ...wrong);
};

const loggedForm = /^\{.*"event":"audit-entry-not-written".*$/gm;

/** Entries that could not be written in time and stand in the log instead, to be replayed. */
const loggedEntries = (output: string): readonly AuditEntry[] =>
  [...output.matchAll(loggedForm)].map(([line]) => JSON.parse(line).entry);

const checkEntries = (
  stored: readonly AuditEntry[],
  logged: readonly AuditEntry[],
  { entries, violations }: Ledger,
) => {
  const found = new Map<string, number>();
  const ids = new Set(stored.map(({ id }) => id));
  if (ids.size !== stored.length) violations.push('an audit id occurs twice');
  for (const entry of [...stored, ...logged.filter(({ id }) => !ids.has(id))]) {
    const key = entryKey(entry.action, entry.result, entry.resource_id);
    found.set(key, (found.get(key) ?? 0) + 1);
  }
  for (const key of new Set([...found.keys(), ...entries.keys()])) {
    const [there, due] = [found.get(key) ?? 0, entries.get(key) ?? 0];
    if (there !== due) violations.push(`${there} audit entries of ${key}, not ${due}`);
  }
};

/** @param output what the service wrote */
export const checkTables = async (
  engine: string,
  output: string,
  ledger: Ledger,
): Promise<{ users: number; entries: number; logged: number }> => {
  const items = await scan(engine, tableNames.users);
  const stored = await scanAudit(engine, tableNames.audit);
  const logged = loggedEntries(output);
  checkUsers(items, ledger);
  checkEntries(stored, logged, ledger);
  return { users: usersIn(items).length, entries: stored.length, logged: logged.length };
};

/** Logs in to every account with the password that was last acknowledged. */
export const checkPasswords = async (
  client: Client,
  ledger: Ledger,
  connections: number,
): Promise<void> => {
  const waiting = [...ledger.accounts.values()];
  const check = async () => {
    for (let account = waiting.pop(); account; account = waiting.pop()) {
      const { id, email, password } = account;
      const answer = await client.send('POST /api/login', { json: { email, password } });
      isExpected(ledger, `login of user ${id} after a restart`, answer, 200);
    }
  };
  await Promise.all(Array.from({ length: connections }, check));
};
