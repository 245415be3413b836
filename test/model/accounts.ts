/** The accounts of the service, as a map in memory: what every request must answer. */
export interface ModelUser {
  readonly name: string;
  readonly email: string;
  readonly role: string;
  readonly password: string;
}

/** By id. */
export type Accounts = ReadonlyMap<number, ModelUser>;

export type Command =
  | { readonly kind: 'register' | 'create'; readonly user: ModelUser }
  /** By the token of a user who was an admin when it was issued. */
  | { readonly kind: 'appoint'; readonly by: number; readonly user: ModelUser }
  | { readonly kind: 'promote'; readonly by: number; readonly id: number }
  | { readonly kind: 'login'; readonly email: string; readonly password: string }
  | { readonly kind: 'update'; readonly id: number; readonly changes: Partial<ModelUser> }
  | { readonly kind: 'get' | 'delete'; readonly id: number }
  | { readonly kind: 'list' };

type Outcome = readonly [status: number, shown?: unknown, after?: Accounts];

const holder = (accounts: Accounts, email: string) =>
  [...accounts].find(([, user]) => user.email.toLowerCase() === email.toLowerCase());

const shown = (id: number, { name, email, role }: ModelUser) => ({ id, name, email, role });

const add = (accounts: Accounts, user: ModelUser, id: number): Outcome =>
  holder(accounts, user.email) || accounts.has(id)
    ? [409]
    : [201, shown(id, user), new Map(accounts).set(id, user)];

const logIn = (accounts: Accounts, email: string, password: string): Outcome => {
  const [id, user] = holder(accounts, email) ?? [];
  if (id === undefined || !user) return [404];
  return user.password === password ? [200, shown(id, user)] : [401];
};

const update = (accounts: Accounts, id: number, changes: Partial<ModelUser>): Outcome => {
  const user = accounts.get(id);
  if (!user) return [404];
  const [other] = holder(accounts, changes.email ?? user.email) ?? [];
  if (other !== undefined && other !== id) return [409];
  const changed = { ...user, ...changes };
  return [200, shown(id, changed), new Map(accounts).set(id, changed)];
};

const isAdmin = (accounts: Accounts, id: number) => accounts.get(id)?.role === 'admin';

const promote = (accounts: Accounts, id: number, by: number): Outcome => {
  if (!accounts.has(id)) return [404];
  return isAdmin(accounts, by) ? update(accounts, id, { role: 'admin' }) : [403];
};

const remove = (accounts: Accounts, id: number): Outcome => {
  const after = new Map(accounts);
  return after.delete(id) ? [204, undefined, after] : [404];
};

const get = (accounts: Accounts, id: number): Outcome => {
  const user = accounts.get(id);
  return user ? [200, shown(id, user)] : [404];
};

/** @param id that of the answer, which is the service's to choose */
export const outcomeOf = (accounts: Accounts, command: Command, id: number): Outcome => {
  switch (command.kind) {
    case 'register':
      return add(accounts, { ...command.user, role: 'user' }, id);
    case 'create':
      return add(accounts, command.user, id);
    case 'appoint':
      return isAdmin(accounts, command.by)
        ? add(accounts, { ...command.user, role: 'admin' }, id)
        : [403];
    case 'promote':
      return promote(accounts, command.id, command.by);
    case 'login':
      return logIn(accounts, command.email, command.password);
    case 'update':
      return update(accounts, command.id, command.changes);
    case 'delete':
      return remove(accounts, command.id);
    case 'get':
      return get(accounts, command.id);
    case 'list':
      return [200, [...accounts].map(([number, user]) => shown(number, user))];
  }
};
