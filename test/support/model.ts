/** The service's accounts as a map in memory: what a response must be, and how it must change the accounts. */
import { isDeepStrictEqual } from 'node:util';
import { decodeJwt } from 'jose';
import type { ApiAnswer } from './client.ts';

export interface ModelUser {
  readonly name: string;
  readonly email: string;
  readonly role: string;
  readonly password: string;
  /**
   * The id of the caller who made the user by POST /api/users; absent once this caller may no longer change the user.
   */
  readonly maker?: number | undefined;
}

/** The users, by their ids. */
export type Accounts = ReadonlyMap<number, ModelUser>;

/**
 * A command of the user whose id is `by`; absent: of an admin whom the model does not know. It is sent with a token of
 * an admin, unless `as` says otherwise.
 */
export type Command = { readonly by?: number; readonly as?: 'user' } & (
  | { readonly kind: 'register' | 'create'; readonly user: ModelUser }
  | { readonly kind: 'login'; readonly email: string; readonly password: string }
  | { readonly kind: 'update'; readonly id: number; readonly changes: Partial<ModelUser> }
  | { readonly kind: 'get' | 'delete'; readonly id: number }
  | { readonly kind: 'profile'; readonly by: number }
  | { readonly kind: 'list' }
);

/** An audit entry as the model expects it. The model does not know the id of an absent `by`. */
export interface ModelEntry {
  readonly action: string;
  readonly result: string;
  readonly user_id: number | null | undefined;
  readonly resource_id: string | null;
  readonly details: string | null;
}

export interface Outcome {
  readonly status: number;
  /** The user, or the users, that the response shows. */
  readonly shown?: unknown;
  /** Absent: the accounts are as before. */
  readonly after?: Accounts;
  /** Absent: the request leaves no entry. */
  readonly entry?: ModelEntry;
}

/**
 * The letters in addresses of tests that are not compared as themselves, with the letters as which they are compared.
 */
const letters: ReadonlyMap<string, string> = new Map([
  ...[...'ABCDEFGHIJKLMNOPQRSTUVWXYZ'].map(
    (letter, i) => [letter, 'abcdefghijklmnopqrstuvwxyz'[i] ?? ''] as const,
  ),
  ['É', 'é'],
  ['ß', 'ss'],
]);

/**
 * An address in the form in which it is compared. This is the model's own rule, because the service's rule is tested.
 */
const spelling = (email: string): string =>
  [...email.trim().normalize()].map((letter) => letters.get(letter) ?? letter).join('');

const holderOf = (accounts: Accounts, email: string): [number, ModelUser] | undefined =>
  [...accounts].find(([, user]) => spelling(user.email) === spelling(email));

const shown = (id: number, { name, email, role }: ModelUser) => ({ id, name, email, role });

const entry = (action: string, by: number | undefined, id: number, details?: object) => ({
  action,
  result: 'SUCCESS',
  user_id: by,
  resource_id: String(id),
  details: details ? JSON.stringify(details) : null,
});

/** Only an admin may make a user an admin. */
const mayGrant = (accounts: Accounts, by: number | undefined) =>
  by === undefined || accounts.get(by)?.role === 'admin';

const add = (accounts: Accounts, user: ModelUser, id: number, by?: number): Outcome => {
  if (holderOf(accounts, user.email) || accounts.has(id)) return { status: 409 };
  const after = new Map(accounts).set(id, user);
  const details = user.role === 'admin' ? { role: 'admin' } : undefined;
  return { status: 201, shown: shown(id, user), after, entry: entry('CREATE', by, id, details) };
};

const logIn = (accounts: Accounts, email: string, password: string): Outcome => {
  const [id, user] = holderOf(accounts, email) ?? [];
  if (id !== undefined && user?.password === password) {
    return { status: 200, shown: shown(id, user), entry: entry('LOGIN', id, id) };
  }
  const details = JSON.stringify({ reason: user ? 'wrong_password' : 'unknown_email' });
  const failure = { action: 'LOGIN', result: 'FAILURE', user_id: id ?? null, details };
  const resource_id = id === undefined ? null : String(id);
  return { status: user ? 401 : 404, entry: { ...failure, resource_id } };
};

type Update = Extract<Command, { kind: 'update' }>;

/** For a caller who is not an admin: the changes that the caller may make, or the status of the refusal. */
const changesAsUser = (
  user: ModelUser | undefined,
  { id, by, changes: { role, ...changes } }: Update,
): Update['changes'] | 403 | 404 => {
  const isSelf = id === by;
  if (!user && !isSelf) return 404;
  if (!isSelf && user?.maker !== by) return 403;
  return role === undefined || role === 'user' ? changes : 403;
};

/**
 * The maker of a user after a change: the same caller, as long as nobody else sets a password or address and the user
 * does not become an admin.
 */
const makerAfter = (
  user: ModelUser,
  { by, changes: { password, email = user.email, role } }: Update,
) =>
  role !== 'admin' && (by === user.maker || (password === undefined && email === user.email))
    ? user.maker
    : undefined;

const update = (accounts: Accounts, command: Update): Outcome => {
  const { id, by, as } = command;
  const user = accounts.get(id);
  const changes = as === 'user' ? changesAsUser(user, command) : command.changes;
  if (typeof changes === 'number') return { status: changes };
  if (!user) return { status: 404 };
  if (changes.role === 'admin' && !mayGrant(accounts, by)) return { status: 403 };
  const [holder] = holderOf(accounts, changes.email ?? user.email) ?? [];
  if (holder !== undefined && holder !== id) return { status: 409 };
  const changed = { ...user, ...changes, maker: makerAfter(user, command) };
  const role = { from: user.role, to: changed.role };
  return {
    status: 200,
    shown: shown(id, changed),
    after: new Map(accounts).set(id, changed),
    entry: entry('UPDATE', by, id, {
      fields: Object.keys(changes),
      ...(role.from === role.to ? {} : { role }),
    }),
  };
};

const remove = (accounts: Accounts, id: number, by?: number): Outcome => {
  const after = new Map(accounts);
  return after.delete(id)
    ? { status: 204, after, entry: entry('DELETE', by, id) }
    : { status: 404 };
};

const get = (accounts: Accounts, id: number): Outcome => {
  const user = accounts.get(id);
  return user ? { status: 200, shown: shown(id, user) } : { status: 404 };
};

/** @param id the id of a new user, which the service chooses */
export const outcomeOf = (accounts: Accounts, command: Command, id: number): Outcome => {
  const { by } = command;
  switch (command.kind) {
    case 'register':
      return add(accounts, { ...command.user, role: 'user' }, id, id);
    case 'create':
      return command.user.role === 'admin' && (command.as === 'user' || !mayGrant(accounts, by))
        ? { status: 403 }
        : add(
            accounts,
            { ...command.user, ...(command.user.role === 'admin' ? {} : { maker: by }) },
            id,
            by,
          );
    case 'login':
      return logIn(accounts, command.email, command.password);
    case 'update':
      return update(accounts, command);
    case 'delete':
      return command.as === 'user' ? { status: 403 } : remove(accounts, command.id, by);
    case 'get':
      return get(accounts, command.id);
    case 'profile':
      return get(accounts, command.by);
    case 'list':
      return { status: 200, shown: [...accounts].map(([each, user]) => shown(each, user)) };
  }
};

/** The request for a command: its route, the user in its path, its body. */
export const requestOf = (
  command: Command,
): { readonly route: string; readonly id?: number; readonly json?: object } => {
  switch (command.kind) {
    case 'register':
      return { route: 'POST /api/auth/register', json: command.user };
    case 'create':
      return { route: 'POST /api/users', json: command.user };
    case 'login':
      return {
        route: 'POST /api/login',
        json: { email: command.email, password: command.password },
      };
    case 'update':
      return { route: 'PUT /api/users/{id}', id: command.id, json: command.changes };
    case 'delete':
      return { route: 'DELETE /api/users/{id}', id: command.id };
    case 'get':
      return { route: 'GET /api/users/{id}', id: command.id };
    case 'profile':
      return { route: 'GET /api/profile' };
    case 'list':
      return { route: 'GET /api/users' };
  }
};

const userIn = ({ id, name, email, role }: Record<string, unknown>) => ({ id, name, email, role });

const tokenClaims = (token: string) => {
  const { id, email, role } = decodeJwt(token);
  return { id, email, role };
};

/** The users that a response shows, in its body or in its token; nothing if it is an error. */
export const seenIn = ({ status, body }: Pick<ApiAnswer, 'status' | 'body'>): unknown => {
  if (status >= 400 || body === undefined) return undefined;
  const { token, data = body } = body;
  if (Array.isArray(data)) return data.map(userIn);
  return token ? tokenClaims(token) : userIn(data);
};

/** The id of the one user that a response shows. */
export const idSeen = (seen: unknown): number => Number((seen as { id?: unknown } | undefined)?.id);

/** Whether what a response shows is what the model shows; a token shows less than a user. */
export const agrees = (seen: unknown, { shown: expected }: Outcome): boolean => {
  if (typeof seen !== 'object' || seen === null || Array.isArray(seen)) {
    return isDeepStrictEqual(seen, expected);
  }
  const comparable = Object.entries(expected ?? {}).filter(([key]) => key in seen);
  return isDeepStrictEqual(seen, Object.fromEntries(comparable));
};
