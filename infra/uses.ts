/**
 * What each handler uses, a line each, and the functions that follow from it: the stack, the local
 * service and the tests read them.
 */
import { operationsInForce } from '../lib/contract/operations.ts';
import { auditIndexes, usersIndexes } from '../lib/dynamodb/tables.ts';
import { type ServiceValues, sendsMail } from '../lib/settings.ts';

export type HttpMethod = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE' | 'HEAD';

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
 * What a handler can use, with the permissions on tables that this takes; what it takes besides is
 * in stack/function.ts. The users table also holds addresses, sessions, links and counts of attempts.
 * A transaction takes the actions of all its items.
 */
const permissionsOf = {
  /** Reads a caller's session and user, and notes the first use of a token. */
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
  /** Deletes an admin only if there is another one. */
  'admins.delete': [
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
    // Where the newest header is shown (lib/seal/shown.ts).
    { ...users('GetItem', 'PutItem'), keys: 'audit-seal' },
  ],
  'audit.publish': [{ ...audit('Query'), indexes: ['by_resource_id'] }],
  /** Shows that header, and the public key that verifies it. */
  seal: [{ ...users('GetItem'), keys: 'audit-seal' }],
  /** Hands messages over to the function that sends mails, if there is one. */
  mail: [],
  'mail.send': [],
  /** Uses the key of second factors. */
  'factor.encrypt': [],
  'factor.decrypt': [],
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
  'auth/register': ['secret', 'passwords', 'users.read', 'users.create', 'users.change', 'audit.write', 'mail'],
  'auth/login': ['secret', 'passwords', 'users.read', 'users.change', 'users.delete', 'audit.write', 'mail', 'factor.decrypt'],
  'auth/refresh': ['secret', 'users.read', 'users.change', 'audit.write'],
  'auth/logout': ['caller', 'users.change', 'audit.write'],
  'account-deletions/create': ['caller', 'passwords', 'users.read', 'users.change', 'users.delete', 'admins.delete', 'audit.write', 'mail', 'factor.decrypt'],
  'password-resets/request': ['caller', 'users.change', 'mail'],
  'password-resets/set': ['secret', 'passwords', 'users.read', 'users.change', 'users.delete', 'audit.write', 'mail'],
  'email-verifications/request': ['caller', 'users.read', 'users.change', 'mail'],
  'email-verifications/confirm': ['secret', 'passwords', 'users.read', 'users.create', 'users.change', 'users.delete', 'audit.write', 'mail'],
  'profile/get': ['caller', 'users.read'],
  'users/create': ['caller', 'passwords', 'users.create', 'users.change', 'admins.make', 'audit.write'],
  'users/list': ['caller', 'users.read', 'users.list'],
  'users/get': ['caller', 'users.read'],
  'users/update': ['caller', 'passwords', 'users.read', 'users.create', 'users.change', 'users.delete', 'admins.make', 'audit.write', 'mail'],
  'users/delete': ['caller', 'users.read', 'users.change', 'users.delete', 'audit.write', 'mail'],
  'users/revoke': ['caller', 'users.change', 'audit.write'],
  'sessions/list': ['caller'],
  'sessions/end': ['caller', 'users.change', 'audit.write'],
  'sessions/end-others': ['caller', 'users.change', 'audit.write'],
  'second-factor/get': ['caller'],
  'second-factor/enrol': ['caller', 'passwords', 'users.read', 'users.change', 'audit.write', 'factor.encrypt'],
  'second-factor/confirm': ['caller', 'users.read', 'users.change', 'audit.write', 'mail', 'factor.decrypt'],
  'second-factor/renew-recovery-codes': ['caller', 'passwords', 'users.read', 'users.change', 'audit.write', 'mail', 'factor.decrypt'],
  'second-factor/remove': ['caller', 'passwords', 'users.read', 'users.change', 'audit.write', 'mail', 'factor.decrypt'],
  'users/get-second-factor': ['caller', 'users.read'],
  'users/remove-second-factor': ['caller', 'users.read', 'users.change', 'audit.write', 'mail'],
  'audit-logs/list': ['caller', 'audit.read', 'audit.write'],
  'audit-seal/get': ['caller', 'seal'],
  'v1-users/index': ['memory'],
  'docs/index': ['files'],
  'console/index': ['files'],
} as const satisfies Readonly<Record<string, readonly Use[]>>;

type HandlerFile = keyof typeof usesOf;

const routesOf: Partial<Record<HandlerFile, readonly string[]>> = {
  'auth/register': ['POST /api/auth/register'],
  'auth/login': ['POST /api/login'],
  'auth/refresh': ['POST /api/refresh'],
  'auth/logout': ['POST /api/logout'],
  'account-deletions/create': ['POST /api/account-deletions'],
  'password-resets/request': ['POST /api/password-resets'],
  'password-resets/set': ['PUT /api/password-resets'],
  'email-verifications/request': ['POST /api/email-verifications'],
  'email-verifications/confirm': ['PUT /api/email-verifications'],
  'profile/get': ['GET /api/profile'],
  'users/create': ['POST /api/users'],
  'users/list': ['GET /api/users'],
  'users/get': ['GET /api/users/{id}'],
  'users/update': ['PUT /api/users/{id}'],
  'users/delete': ['DELETE /api/users/{id}'],
  'users/revoke': ['POST /api/users/{id}/revocations'],
  'sessions/list': ['GET /api/users/{id}/sessions'],
  'sessions/end': ['DELETE /api/users/{id}/sessions/{session}'],
  'sessions/end-others': ['DELETE /api/users/{id}/sessions'],
  'second-factor/get': ['GET /api/second-factor'],
  'second-factor/enrol': ['POST /api/second-factor'],
  'second-factor/confirm': ['PUT /api/second-factor'],
  'second-factor/renew-recovery-codes': ['POST /api/second-factor/recovery-codes'],
  'second-factor/remove': ['POST /api/second-factor/removals'],
  'users/get-second-factor': ['GET /api/users/{id}/second-factor'],
  'users/remove-second-factor': ['DELETE /api/users/{id}/second-factor'],
  'audit-logs/list': ['GET /api/admin/audit-logs'],
  'audit-seal/get': ['GET /api/admin/audit-seal'],
  'v1-users/index': [
    'GET /api/v1/users',
    'POST /api/v1/users',
    'GET /api/v1/users/{id}',
    'PUT /api/v1/users/{id}',
    'PATCH /api/v1/users/{id}',
    'DELETE /api/v1/users/{id}',
  ],
  'docs/index': [
    'GET /openapi.json',
    'HEAD /openapi.json',
    'GET /docs',
    'HEAD /docs',
    'GET /docs/{file}',
  ],
  'console/index': ['GET /', 'GET /console', 'GET /console/{file}'],
};

export interface FunctionDefinition {
  readonly name: string;
  /** The file that exports `handler`. */
  readonly entry: `functions/${HandlerFile}.ts`;
  /** None of a function that runs in the background. */
  readonly routes: readonly Route[];
  readonly uses: ReadonlySet<Use>;
  /** What its uses take, one permission for each resource. */
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

const functionOf = (file: HandlerFile): FunctionDefinition => {
  const uses: readonly Use[] = usesOf[file];
  return {
    name: file.replace(/^background\/|\/index$/g, '').replace('/', '-'),
    entry: `functions/${file}.ts`,
    routes: (routesOf[file] ?? []).map(routeOf),
    uses: new Set(uses.includes('caller') ? ['secret', ...uses] : uses),
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
  const inForce = new Set(operationsInForce(settings).map(({ route }) => route));
  return functions
    .map((definition) => ({
      ...definition,
      routes: definition.routes.filter(({ key }) => inForce.has(key)),
    }))
    .filter(({ routes, uses }) =>
      uses.has('mail.send') ? sendsMail(settings) : routes.length > 0,
    );
};

/** The function that sends mails, if the settings turn it on. */
export const mailFunction = (settings: ServiceValues): FunctionDefinition | undefined =>
  functionsInForce(settings).find(({ uses }) => uses.has('mail.send'));
