/**
 * The uses of each handler, a line each, and the functions that follow from it: the stack, the local
 * service and the tests read them.
 */

import { endpoints } from '../functions/contracts.ts';
import { type Endpoint, type HttpMethod, inForce } from '../lib/contract/contract.ts';
import { auditIndexes, usersIndexes } from '../lib/dynamodb/tables.ts';
import { type ServiceValues, sendsMail } from '../lib/ground/settings.ts';

export interface Route {
  /** API Gateway's name of the route: `METHOD /path`. */
  readonly key: string;
  readonly method: HttpMethod;
  /** In API Gateway's form: a segment in braces is a path parameter. */
  readonly path: string;
}

/** IAM actions that a function may take on a table or on its indexes. */
export interface TablePermission {
  readonly table: 'users' | 'audit';
  readonly actions: readonly `dynamodb:${string}`[];
  /** Absent: the table itself. */
  readonly indexes?: readonly string[];
  /** The pattern of the partition keys that it is for; absent: all. */
  readonly keys?: string;
}

const users = (...actions: string[]): TablePermission => ({
  table: 'users',
  actions: actions.map((action) => `dynamodb:${action}` as const),
});
const audit = (...actions: string[]): TablePermission => ({ ...users(...actions), table: 'audit' });

/**
 * The uses that a handler can have, with the permissions on tables that they take; other permissions are
 * in stack/function.ts. The users table also holds addresses, sessions, links and counts of attempts.
 * A transaction takes the actions of all its items.
 */
const permissionsOf = {
  /** Reads a caller's session and user, and notes the first use of a token; so says the contract. */
  caller: [users('BatchGetItem'), { ...users('UpdateItem'), keys: 'sessions#*' }],
  /** Signs and verifies tokens, links or cursors; whoever has a caller does. */
  secret: [],
  /** Hashes passwords, which takes processor time: its routes have a throttle of their own. */
  passwords: [],
  'users.read': [users('GetItem', 'BatchGetItem')],
  'users.list': [
    { ...users('Query'), indexes: Object.values(usersIndexes).map(({ name }) => name) },
  ],
  'users.create': [users('PutItem')],
  'users.change': [users('UpdateItem')],
  'users.delete': [users('DeleteItem')],
  /** Makes users admins, which is logged, and checks that the caller is one. */
  'admins.make': [users('ConditionCheckItem')],
  /** Checks that the caller is an admin. */
  'admins.check': [users('ConditionCheckItem')],
  /** Deletes or suspends an admin only if there is another one. */
  'admins.other': [
    users('ConditionCheckItem'),
    { ...users('Query'), indexes: [usersIndexes.admins.name] },
  ],
  'audit.write': [audit('PutItem')],
  /** Queries leave marks, by which one an hour leaves an entry. */
  'audit.read': [
    { ...audit('Query'), indexes: Object.values(auditIndexes).map(({ name }) => name) },
    { ...users('PutItem'), keys: 'audit-read#*' },
  ],
  'audit.seal': [
    { ...audit('Query'), indexes: [auditIndexes.byCreatedAt.name] },
    audit('BatchGetItem'),
    // Where the newest header is shown (lib/seal/shown.ts), and where a check is requested (asked.ts).
    { ...users('GetItem', 'PutItem'), keys: 'audit-seal' },
    { ...users('GetItem', 'DeleteItem'), keys: 'audit-seal-check' },
  ],
  'audit.publish': [{ ...audit('Query'), indexes: [auditIndexes.byResourceId.name] }],
  /** Shows that header, and the public key that verifies it. */
  seal: [{ ...users('GetItem'), keys: 'audit-seal' }],
  /** Knows whether there is a sealed trail. */
  'seal.told': [],
  /** Requests a check, by a mark that the sealer removes. */
  'seal.request': [{ ...users('PutItem'), keys: 'audit-seal-check' }],
  /** Hands messages over to the function that sends mails, if there is one. */
  mail: [],
  'mail.send': [],
  /** Uses the key of second factors. */
  'factor.encrypt': [],
  'factor.decrypt': [],
  /** Verifies ID tokens, whose nonces it stores; the list of issuers is a file beside its code. */
  identities: [{ ...users('PutItem'), keys: 'nonce#*' }],
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
  'background/send-mail': ['mail.send', 'users.read', 'users.create', 'users.change', 'audit.write'],
  'background/seal-audit': ['audit.seal'],
  'background/publish-audit': ['audit.publish'],
  'auth/register': ['secret', 'keys.read', 'keys.sign', 'passwords', 'users.read', 'users.create', 'users.change', 'audit.write', 'mail'],
  'auth/login': ['secret', 'keys.read', 'keys.sign', 'passwords', 'users.read', 'users.change', 'users.delete', 'audit.write', 'mail', 'factor.decrypt'],
  'auth/refresh': ['secret', 'keys.read', 'keys.sign', 'users.read', 'users.change', 'audit.write'],
  'auth/logout': ['users.change', 'audit.write'],
  'identities/index': ['secret', 'keys.read', 'keys.sign', 'passwords', 'identities', 'users.read', 'users.create', 'users.change', 'users.delete', 'audit.write', 'mail', 'factor.decrypt'],
  'account-deletions/create': ['passwords', 'identities', 'users.read', 'users.change', 'users.delete', 'admins.other', 'audit.write', 'mail', 'factor.decrypt'],
  'password-resets/request': ['users.change', 'mail'],
  'password-resets/set': ['secret', 'passwords', 'users.read', 'users.change', 'users.delete', 'audit.write', 'mail'],
  'email-verifications/request': ['users.read', 'users.change', 'mail'],
  'email-verifications/confirm': ['secret', 'passwords', 'identities', 'users.read', 'users.create', 'users.change', 'users.delete', 'audit.write', 'mail'],
  'profile/get': ['users.read'],
  'users/create': ['passwords', 'users.create', 'users.change', 'admins.make', 'audit.write'],
  'users/list': ['users.read', 'users.list'],
  'users/get': ['users.read'],
  'users/update': ['passwords', 'identities', 'users.read', 'users.create', 'users.change', 'users.delete', 'admins.make', 'audit.write', 'mail'],
  'users/remove': ['users.read', 'users.change', 'users.delete', 'audit.write', 'mail'],
  'sessions/list': [],
  'sessions/end': ['users.change', 'audit.write'],
  'sessions/end-others': ['users.change', 'audit.write'],
  'second-factor/get': [],
  'second-factor/enrol': ['passwords', 'identities', 'users.read', 'users.change', 'audit.write', 'factor.encrypt'],
  'second-factor/confirm': ['users.read', 'users.change', 'audit.write', 'mail', 'factor.decrypt'],
  'second-factor/renew-recovery-codes': ['passwords', 'identities', 'users.read', 'users.change', 'audit.write', 'mail', 'factor.decrypt'],
  'second-factor/remove': ['passwords', 'identities', 'users.read', 'users.change', 'audit.write', 'mail', 'factor.decrypt'],
  'users/remove-second-factor': ['users.read', 'users.change', 'audit.write', 'mail'],
  'suspension/suspend': ['users.read', 'users.change', 'admins.other', 'audit.write'],
  'suspension/lift': ['users.read', 'users.change', 'admins.check', 'audit.write'],
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
  /** The permissions that its uses take, one for each resource. */
  readonly permissions: readonly TablePermission[];
}

/** Permissions on the same resource become one. */
const merge = (permissions: readonly TablePermission[]): readonly TablePermission[] =>
  [...Map.groupBy(permissions, ({ actions, ...on }) => JSON.stringify(on)).values()].map(
    (same) => ({
      ...(same[0] as TablePermission),
      actions: [...new Set(same.flatMap(({ actions }) => actions))],
    }),
  );

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
