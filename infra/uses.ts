/**
 * The uses of each handler, a line each, and the functions that follow from it: the stack, the local
 * service and the tests read them.
 */

import { endpoints } from '../functions/contracts.ts';
import { type Endpoint, type HttpMethod, inForce } from '../lib/contract/contract.ts';
import {
  auditIndexes,
  type IndexDefinition,
  type KeyPattern,
  replayId,
  usersIndexes,
} from '../lib/dynamodb/tables.ts';
import { type ServiceValues, sendsMail } from '../lib/ground/settings.ts';

export interface Route {
  /** API Gateway's name of the route: `METHOD /path`. */
  readonly key: string;
  readonly method: HttpMethod;
  /** In API Gateway's form: a segment in braces is a path parameter. */
  readonly path: string;
}

/** An IAM action that a function may take on a table or on its indexes. */
export interface TablePermission {
  readonly table: 'users' | 'audit';
  readonly action: `dynamodb:${string}`;
  /** Absent: the table itself. */
  readonly indexes?: readonly string[];
  /** The patterns of the partition keys that it is for; absent: all. */
  readonly keys?: readonly string[];
}

const users = (action: string, ...keys: readonly KeyPattern[]): TablePermission => ({
  table: 'users',
  action: `dynamodb:${action}`,
  keys,
});
const audit = (action: string): TablePermission => ({
  table: 'audit',
  action: `dynamodb:${action}`,
});

/** Queries of indexes: all of their entries, unless keys of theirs are named. */
const query = (
  table: TablePermission['table'],
  indexes: readonly IndexDefinition[],
  keys?: readonly string[],
): TablePermission => ({
  table,
  action: 'dynamodb:Query',
  indexes: indexes.map(({ name }) => name),
  ...(keys ? { keys } : {}),
});

const session = [
  users('BatchGetItem', 'user#*', 'sessions#*'),
  users('UpdateItem', 'sessions#*'),
] as const;

/**
 * The uses that a handler can have, with the permissions on tables that they take; other permissions are
 * in stack/function.ts. Each names the keys of the users table that it is for. A transaction takes the actions
 * of all its items, each with the keys of its own items.
 */
const permissionsOf = {
  /** Reads a caller's session and user, and notes the first use of a token; so says the contract. */
  caller: session,
  /** Signs and verifies tokens, links or cursors; whoever has a caller does. */
  secret: [],
  /** Hashes passwords, which takes processor time: its routes have a throttle of their own. */
  passwords: [],
  /** Finds by an address who logs in. */
  'login.find': [users('BatchGetItem', 'email#*'), users('GetItem', 'user#*')],
  /** Counts failed logins, and forgets those of an account. */
  'failures.count': [
    users('BatchGetItem', 'attempts#login#*'),
    users('UpdateItem', 'attempts#login#*'),
  ],
  'failures.forget': [users('DeleteItem', 'attempts#login#*')],
  'registrations.count': [users('UpdateItem', 'attempts#register#*')],
  /** Begins a session: that of a new user is written with the user. */
  'sessions.begin': [users('GetItem', 'sessions#*'), users('UpdateItem', 'sessions#*')],
  'sessions.first': [users('PutItem', 'sessions#*')],
  /** Refreshes or ends one. */
  'sessions.change': session,
  'users.read': [users('GetItem', 'user#*')],
  /** Finds a user by an address. */
  'users.find': [users('GetItem', 'email#*', 'user#*')],
  'users.list': [query('users', Object.values(usersIndexes))],
  'users.create': [users('UpdateItem', 'counter'), users('PutItem', 'email#*', 'user#*')],
  /** Writes as much for an address that is taken, where nobody may know that it is. */
  'users.conceal': [users('GetItem', 'email#*'), users('PutItem', 'attempts#taken#*')],
  'users.change': [users('GetItem', 'user#*'), users('UpdateItem', 'user#*')],
  /** Gives another address, at once or by a link, which makes other links void. */
  'users.move': [
    users('PutItem', 'email#*'),
    users('DeleteItem', 'email#*'),
    users('UpdateItem', 'reset#*', 'address#*'),
  ],
  'users.delete': [
    users('GetItem', 'user#*'),
    users('DeleteItem', 'user#*', 'email#*', 'identity#*', 'sessions#*'),
  ],
  /** Makes users admins, which is logged, and checks that the caller is one. */
  'admins.make': [users('ConditionCheckItem', 'user#*')],
  /** Checks that the caller is an admin. */
  'admins.check': [users('ConditionCheckItem', 'user#*')],
  /** Deletes or suspends an admin only if there is another one. */
  'admins.other': [users('ConditionCheckItem', 'user#*'), query('users', [usersIndexes.admins])],
  /** Uses a link up, and changes its user. */
  'links.reset': [
    users('BatchGetItem', 'reset#*', 'user#*'),
    users('UpdateItem', 'reset#*', 'user#*'),
  ],
  'links.address': [
    users('BatchGetItem', 'address#*', 'user#*', 'sessions#*'),
    users('UpdateItem', 'address#*', 'user#*'),
  ],
  'audit.write': [audit('PutItem')],
  /** Queries leave marks, by which one an hour leaves an entry. */
  'audit.read': [query('audit', Object.values(auditIndexes)), users('PutItem', 'audit-read#*')],
  'audit.seal': [
    query('audit', [auditIndexes.byCreatedAt]),
    audit('BatchGetItem'),
    // Where the newest header is shown (lib/seal/shown.ts), and where a check is requested (asked.ts).
    users('GetItem', 'audit-seal', 'audit-seal-check'),
    users('PutItem', 'audit-seal'),
    users('DeleteItem', 'audit-seal-check'),
  ],
  /** Looks which entries were replayed. */
  'audit.publish': [query('audit', [auditIndexes.byResourceId], [replayId])],
  /** Shows that header, and the public key that verifies it. */
  seal: [users('GetItem', 'audit-seal')],
  /** Knows whether there is a sealed trail. */
  'seal.told': [],
  /** Requests a check, by a mark that the sealer removes. */
  'seal.request': [users('PutItem', 'audit-seal-check')],
  /** Hands messages over to the function that sends mails, if there is one, and counts who asks. */
  mail: [users('UpdateItem', 'attempts#mail#*')],
  /** Makes links, and counts mails. */
  'mail.send': [
    users('GetItem', 'mails#*'),
    users('UpdateItem', 'mails#*'),
    users('PutItem', 'reset#*', 'address#*'),
  ],
  /** Uses the key of second factors. */
  'factor.encrypt': [],
  'factor.decrypt': [],
  /** Verifies ID tokens, whose nonces it stores; the list of issuers is a file beside its code. */
  identities: [users('PutItem', 'nonce#*')],
  /** Finds, links and unlinks identities. */
  'identities.link': [
    users('GetItem', 'identity#*'),
    users('PutItem', 'identity#*'),
    users('DeleteItem', 'identity#*'),
  ],
  'identities.unlink': [users('DeleteItem', 'identity#*')],
  /** Reads the public keys of tokens, as whoever has a caller does; and signs tokens by a key. */
  'keys.read': [],
  'keys.sign': [],
  /** Serves the files of the page that has its name; see static-files.ts. */
  files: [],
  /** Keeps its state in its process (functions/README.md, In-memory variant). */
  memory: [],
} as const satisfies Readonly<Record<string, readonly TablePermission[]>>;

export type Use = keyof typeof permissionsOf;

/** By the file below `functions/` that exports `handler`. The first is created first. */
// biome-ignore format: one line each
const usesOf = {
  'background/send-mail': ['mail.send', 'users.find', 'audit.write'],
  'background/seal-audit': ['audit.seal'],
  'background/publish-audit': ['audit.publish'],
  'auth/register': ['secret', 'keys.read', 'keys.sign', 'passwords', 'registrations.count', 'users.create', 'users.conceal', 'sessions.first', 'audit.write', 'mail'],
  'auth/login': ['secret', 'keys.read', 'keys.sign', 'passwords', 'login.find', 'failures.count', 'failures.forget', 'users.change', 'sessions.begin', 'audit.write', 'mail', 'factor.decrypt'],
  'auth/refresh': ['secret', 'keys.read', 'keys.sign', 'sessions.change', 'audit.write'],
  'auth/logout': ['sessions.change', 'audit.write'],
  'identities/index': ['secret', 'keys.read', 'keys.sign', 'passwords', 'identities', 'identities.link', 'registrations.count', 'failures.count', 'failures.forget', 'users.create', 'users.change', 'sessions.first', 'sessions.begin', 'audit.write', 'mail', 'factor.decrypt'],
  'account-deletions/create': ['passwords', 'identities', 'failures.count', 'users.change', 'users.delete', 'admins.other', 'audit.write', 'mail', 'factor.decrypt'],
  'password-resets/request': ['mail'],
  'password-resets/set': ['secret', 'passwords', 'links.reset', 'failures.forget', 'identities.unlink', 'audit.write', 'mail'],
  'email-verifications/request': ['users.read', 'mail'],
  'email-verifications/confirm': ['secret', 'passwords', 'identities', 'failures.count', 'links.address', 'users.move', 'audit.write', 'mail'],
  'profile/get': ['users.read'],
  'users/create': ['passwords', 'users.create', 'admins.make', 'audit.write'],
  'users/list': ['users.find', 'users.list'],
  'users/get': ['users.read'],
  'users/update': ['passwords', 'identities', 'identities.unlink', 'failures.count', 'users.find', 'users.change', 'users.move', 'admins.make', 'audit.write', 'mail'],
  'users/remove': ['users.delete', 'audit.write', 'mail'],
  'sessions/list': [],
  'sessions/end': ['sessions.change', 'audit.write'],
  'sessions/end-others': ['users.change', 'audit.write'],
  'second-factor/get': [],
  'second-factor/enrol': ['passwords', 'identities', 'failures.count', 'users.change', 'audit.write', 'factor.encrypt'],
  'second-factor/confirm': ['failures.count', 'users.change', 'audit.write', 'mail', 'factor.decrypt'],
  'second-factor/renew-recovery-codes': ['passwords', 'identities', 'failures.count', 'users.change', 'audit.write', 'mail', 'factor.decrypt'],
  'second-factor/remove': ['passwords', 'identities', 'failures.count', 'users.change', 'audit.write', 'mail', 'factor.decrypt'],
  'users/remove-second-factor': ['users.change', 'audit.write', 'mail'],
  'suspension/suspend': ['users.change', 'admins.other', 'audit.write'],
  'suspension/lift': ['users.change', 'admins.check', 'audit.write'],
  'audit-logs/list': ['audit.read', 'audit.write'],
  'audit-seal/get': ['seal'],
  'audit-seal/request-check': ['seal.told', 'seal.request', 'audit.write'],
  'well-known/index': ['keys.read'],
  'v1-users/index': ['memory'],
  'docs/index': ['files'],
  'console/index': ['seal.told', 'files'],
} as const satisfies Readonly<Record<string, readonly Use[]>>;

type HandlerFile = keyof typeof usesOf;

export interface FunctionDefinition {
  readonly name: string;
  /** The file that exports `handler`. */
  readonly entry: `functions/${HandlerFile}.ts`;
  /** None of a function that runs in the background. */
  readonly routes: readonly Route[];
  readonly uses: ReadonlySet<Use>;
  /** The permissions that its uses take, one for each action on a resource. */
  readonly permissions: readonly TablePermission[];
}

/**
 * Permissions of one action on the same resource become one, with all their keys: of two, neither would allow a
 * request that names keys of both, as BatchGetItem does.
 */
const merge = (permissions: readonly TablePermission[]): readonly TablePermission[] =>
  [...Map.groupBy(permissions, ({ keys, ...on }) => JSON.stringify(on)).values()].map((same) => ({
    ...(same[0] as TablePermission),
    ...(same.every(({ keys }) => keys) && {
      keys: [...new Set(same.flatMap(({ keys = [] }) => keys))],
    }),
  }));

const routeOf = (key: string): Route => {
  const [method, path] = key.split(' ') as [HttpMethod, string];
  return { key, method, path };
};

/** Whether a file has the handler of an endpoint; `index.ts` has those of its whole folder. */
const handles = (file: string) => (endpoint: Endpoint) =>
  endpoint.file === file || endpoint.file.replace(/\/.*/, '/index') === file;

const hasCaller = ({ contract: { may, takesToken } }: Endpoint) =>
  may !== 'public' || takesToken === true;

const functionOf = (file: HandlerFile): FunctionDefinition => {
  const own = endpoints.filter(handles(file));
  const uses: readonly Use[] = [
    ...(own.some(hasCaller) ? (['caller', 'secret', 'keys.read'] as const) : []),
    ...usesOf[file],
  ];
  return {
    name: file.replace(/^background\/|\/index$/g, '').replace('/', '-'),
    entry: `functions/${file}.ts`,
    routes: own.map(({ contract: { route } }) => routeOf(route)),
    uses: new Set(uses),
    permissions: merge(uses.flatMap((use): readonly TablePermission[] => permissionsOf[use])),
  };
};

/** Runs on a schedule where the audit trail is sealed. */
export const auditSealer = functionOf('background/seal-audit');

/** Takes the records of the audit table's stream where there are events. */
export const auditPublisher = functionOf('background/publish-audit');

/** All others. */
export const functions: readonly FunctionDefinition[] = (Object.keys(usesOf) as HandlerFile[])
  .map(functionOf)
  .filter(({ name }) => name !== auditSealer.name && name !== auditPublisher.name);

/** The functions that the settings turn on, each with the routes that it has by them. */
export const functionsInForce = (settings: ServiceValues): readonly FunctionDefinition[] => {
  const available = new Set<string>(
    inForce(endpoints, settings).map(({ contract }) => contract.route),
  );
  return functions
    .map((definition) => ({
      ...definition,
      routes: definition.routes.filter(({ key }) => available.has(key)),
    }))
    .filter(({ routes, uses }) =>
      uses.has('mail.send') ? sendsMail(settings) : routes.length > 0,
    );
};

/** The function that sends mails, if the settings turn it on. */
export const mailFunction = (settings: ServiceValues): FunctionDefinition | undefined =>
  functionsInForce(settings).find(({ uses }) => uses.has('mail.send'));
