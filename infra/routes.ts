/**
 * The functions and their routes, as data that the stack, the local service and the tests read.
 */
import { operationsInForce } from '../lib/contract/operations.ts';
import { auditTable, usersTable } from '../lib/dynamodb/tables.ts';
import { type ServiceValues, sendsMail } from '../lib/settings.ts';

export type HttpMethod = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE' | 'HEAD';

export interface Route {
  readonly method: HttpMethod;
  /** In API Gateway's form: a segment in braces is a path parameter. */
  readonly path: string;
  /** The route hashes a password, which costs processor time, and so has its own throttle. */
  readonly hashesPasswords?: true;
}

/** API Gateway's name of a route. */
export const routeKey = ({ method, path }: Route): string => `${method} ${path}`;

/** IAM actions that a function may take on a table or on its indexes. */
export interface TablePermission {
  readonly table: 'users' | 'audit';
  readonly actions: readonly `dynamodb:${string}`[];
  /** Absent: the table itself. */
  readonly indexes?: readonly string[];
  /** The pattern of the partition keys that it is for; absent: all. */
  readonly keys?: string;
}

export interface FunctionDefinition {
  readonly name: string;
  /** The file that exports `handler`. */
  readonly entry: `functions/${string}.ts`;
  readonly routes: readonly Route[];
  /** Of a function that no route invokes. */
  readonly description?: string;
  readonly permissions: readonly TablePermission[];
  /** Whether the function signs or verifies tokens or cursors. */
  readonly signingSecret: boolean;
  /** Megabytes; absent: what {@link memoryOf} gives. */
  readonly memory?: number;
  /** It hands messages over to the mail function, if there is one. */
  readonly handsOverMails?: true;
  /** It can make users admins, and logs this. */
  readonly makesAdmins?: true;
  /** It is the mail function, which has no route: other functions invoke it asynchronously. */
  readonly sendsMails?: true;
  /** It reads the public key of the sealed trail. */
  readonly showsSeal?: true;
  /** What it does with the key of second factors, where users can have one. */
  readonly factorKey?: 'kms:Encrypt' | 'kms:Decrypt';
  /** It serves the files of this page; see static-files.ts. */
  readonly staticFiles?: 'docs' | 'console';
  /** It keeps its state in its process (functions/README.md, In-memory variant). */
  readonly inMemory?: true;
}

/**
 * The megabytes of a function. Lambda gives processor time in proportion to them: 1,769 give one
 * whole processor to functions that hash passwords. Less makes every login slower at the same
 * price; more is not used, because bcrypt runs on one thread. All others wait for DynamoDB, and
 * need the processor only to start, for TLS and for JSON.
 */
export const memoryOf = ({ memory, routes }: FunctionDefinition): number =>
  memory ?? (routes.some(({ hashesPasswords }) => hashesPasswords) ? 1769 : 512);

const [byCreatedAt, byAdmin] = usersTable.indexes;

/** Authentication reads a session together with its user. */
const readsSessions: TablePermission = { table: 'users', actions: ['dynamodb:BatchGetItem'] };

/** The first use of an access token is noted in its session. */
const notesUse: TablePermission = {
  table: 'users',
  actions: ['dynamodb:UpdateItem'],
  keys: 'sessions#*',
};

const authenticates = [readsSessions, notesUse];

/** Where there are sessions, the user was read together with the session. */
const readsCaller: TablePermission = { table: 'users', actions: ['dynamodb:GetItem'] };

const writesAudit: TablePermission = { table: 'audit', actions: ['dynamodb:PutItem'] };

// A transaction needs the actions of all its items.
const createsUsers: TablePermission = {
  table: 'users',
  actions: ['dynamodb:UpdateItem', 'dynamodb:PutItem'],
};

/** The transaction that makes a user an admin checks that the caller still is one. */
const grantsRoles: TablePermission = { table: 'users', actions: ['dynamodb:ConditionCheckItem'] };

/** Wrong passwords and codes are counted like failed logins. */
const changesOwnFactor: TablePermission = {
  table: 'users',
  actions: ['dynamodb:BatchGetItem', 'dynamodb:GetItem', 'dynamodb:UpdateItem'],
};

export const functions: readonly FunctionDefinition[] = [
  // The stack creates it before the functions that invoke it.
  {
    name: 'mail',
    entry: 'functions/background/send-mail.ts',
    routes: [],
    description: 'Sends mails',
    permissions: [
      {
        table: 'users',
        actions: [
          'dynamodb:BatchGetItem',
          'dynamodb:GetItem',
          'dynamodb:UpdateItem',
          'dynamodb:PutItem',
        ],
      },
      writesAudit,
    ],
    signingSecret: false,
    sendsMails: true,
  },
  {
    name: 'register',
    entry: 'functions/auth/register.ts',
    routes: [{ method: 'POST', path: '/api/auth/register', hashesPasswords: true }],
    permissions: [
      createsUsers,
      // Where nobody may know who has an account, it looks whether an address is taken.
      { table: 'users', actions: ['dynamodb:GetItem'] },
      writesAudit,
    ],
    signingSecret: true,
    handsOverMails: true,
  },
  {
    name: 'login',
    entry: 'functions/auth/login.ts',
    routes: [{ method: 'POST', path: '/api/login', hashesPasswords: true }],
    permissions: [
      // Reads, increments and deletes the counts of failures, and replaces outdated hashes.
      {
        table: 'users',
        actions: [
          'dynamodb:BatchGetItem',
          'dynamodb:GetItem',
          'dynamodb:UpdateItem',
          'dynamodb:DeleteItem',
        ],
      },
      writesAudit,
    ],
    signingSecret: true,
    factorKey: 'kms:Decrypt',
    handsOverMails: true,
  },
  {
    name: 'refresh',
    entry: 'functions/auth/refresh.ts',
    routes: [{ method: 'POST', path: '/api/refresh' }],
    permissions: [
      { table: 'users', actions: ['dynamodb:BatchGetItem', 'dynamodb:UpdateItem'] },
      writesAudit,
    ],
    signingSecret: true,
  },
  {
    name: 'logout',
    entry: 'functions/auth/logout.ts',
    routes: [{ method: 'POST', path: '/api/logout' }],
    permissions: [
      ...authenticates,
      { table: 'users', actions: ['dynamodb:UpdateItem'] },
      writesAudit,
    ],
    signingSecret: true,
  },
  {
    name: 'account-deletions-create',
    entry: 'functions/account-deletions/create.ts',
    routes: [{ method: 'POST', path: '/api/account-deletions', hashesPasswords: true }],
    permissions: [
      // Wrong current passwords are counted like failed logins.
      {
        table: 'users',
        actions: [
          'dynamodb:BatchGetItem',
          'dynamodb:GetItem',
          'dynamodb:UpdateItem',
          'dynamodb:DeleteItem',
        ],
      },
      // The transaction that deletes an admin checks that there is another one.
      { table: 'users', actions: ['dynamodb:Query'], indexes: [byAdmin.name] },
      { table: 'users', actions: ['dynamodb:ConditionCheckItem'] },
      writesAudit,
    ],
    signingSecret: true,
    factorKey: 'kms:Decrypt',
    handsOverMails: true,
  },
  {
    name: 'password-resets-request',
    entry: 'functions/password-resets/request.ts',
    routes: [{ method: 'POST', path: '/api/password-resets' }],
    // It looks up no account: it counts requests by source address, and reads who asks with a token.
    permissions: [...authenticates, { table: 'users', actions: ['dynamodb:UpdateItem'] }],
    signingSecret: true,
    handsOverMails: true,
  },
  {
    name: 'password-resets-set',
    entry: 'functions/password-resets/set.ts',
    routes: [{ method: 'PUT', path: '/api/password-resets', hashesPasswords: true }],
    permissions: [
      {
        table: 'users',
        actions: ['dynamodb:BatchGetItem', 'dynamodb:UpdateItem', 'dynamodb:DeleteItem'],
      },
      writesAudit,
    ],
    signingSecret: true,
    handsOverMails: true,
  },
  {
    name: 'email-verifications-request',
    entry: 'functions/email-verifications/request.ts',
    routes: [{ method: 'POST', path: '/api/email-verifications' }],
    permissions: [
      ...authenticates,
      readsCaller,
      { table: 'users', actions: ['dynamodb:UpdateItem'] },
    ],
    signingSecret: true,
    handsOverMails: true,
  },
  {
    name: 'email-verifications-confirm',
    entry: 'functions/email-verifications/confirm.ts',
    routes: [{ method: 'PUT', path: '/api/email-verifications', hashesPasswords: true }],
    permissions: [
      {
        table: 'users',
        actions: [
          'dynamodb:BatchGetItem',
          'dynamodb:UpdateItem',
          'dynamodb:PutItem',
          'dynamodb:DeleteItem',
        ],
      },
      writesAudit,
    ],
    signingSecret: true,
    handsOverMails: true,
  },
  {
    name: 'profile',
    entry: 'functions/profile/get.ts',
    routes: [{ method: 'GET', path: '/api/profile' }],
    permissions: [...authenticates, readsCaller],
    signingSecret: true,
  },
  {
    name: 'users-create',
    entry: 'functions/users/create.ts',
    routes: [{ method: 'POST', path: '/api/users', hashesPasswords: true }],
    permissions: [...authenticates, createsUsers, grantsRoles, writesAudit],
    signingSecret: true,
    makesAdmins: true,
  },
  {
    name: 'users-list',
    entry: 'functions/users/list.ts',
    routes: [{ method: 'GET', path: '/api/users' }],
    permissions: [
      // A lookup by address reads the address's item and the user's.
      { table: 'users', actions: ['dynamodb:BatchGetItem', 'dynamodb:GetItem'] },
      notesUse,
      { table: 'users', actions: ['dynamodb:Query'], indexes: [byCreatedAt.name, byAdmin.name] },
    ],
    signingSecret: true,
  },
  {
    name: 'users-get',
    entry: 'functions/users/get.ts',
    routes: [{ method: 'GET', path: '/api/users/{id}' }],
    permissions: [...authenticates, { table: 'users', actions: ['dynamodb:GetItem'] }],
    signingSecret: true,
  },
  {
    name: 'users-update',
    entry: 'functions/users/update.ts',
    routes: [{ method: 'PUT', path: '/api/users/{id}', hashesPasswords: true }],
    permissions: [
      // Wrong current passwords are counted like failed logins.
      readsSessions,
      {
        table: 'users',
        actions: [
          'dynamodb:GetItem',
          'dynamodb:UpdateItem',
          'dynamodb:PutItem',
          'dynamodb:DeleteItem',
        ],
      },
      grantsRoles,
      writesAudit,
    ],
    signingSecret: true,
    makesAdmins: true,
    handsOverMails: true,
  },
  {
    name: 'users-delete',
    entry: 'functions/users/delete.ts',
    routes: [{ method: 'DELETE', path: '/api/users/{id}' }],
    permissions: [
      ...authenticates,
      // The notices that a source address causes are counted.
      {
        table: 'users',
        actions: ['dynamodb:GetItem', 'dynamodb:DeleteItem', 'dynamodb:UpdateItem'],
      },
      writesAudit,
    ],
    signingSecret: true,
    handsOverMails: true,
  },
  {
    name: 'users-revoke',
    entry: 'functions/users/revoke.ts',
    routes: [{ method: 'POST', path: '/api/users/{id}/revocations' }],
    permissions: [
      ...authenticates,
      { table: 'users', actions: ['dynamodb:UpdateItem'] },
      writesAudit,
    ],
    signingSecret: true,
  },
  {
    name: 'sessions-list',
    entry: 'functions/sessions/list.ts',
    routes: [{ method: 'GET', path: '/api/users/{id}/sessions' }],
    permissions: authenticates,
    signingSecret: true,
  },
  {
    name: 'sessions-end',
    entry: 'functions/sessions/end.ts',
    routes: [{ method: 'DELETE', path: '/api/users/{id}/sessions/{session}' }],
    permissions: [
      ...authenticates,
      { table: 'users', actions: ['dynamodb:UpdateItem'] },
      writesAudit,
    ],
    signingSecret: true,
  },
  {
    name: 'sessions-end-others',
    entry: 'functions/sessions/end-others.ts',
    routes: [{ method: 'DELETE', path: '/api/users/{id}/sessions' }],
    permissions: [
      ...authenticates,
      { table: 'users', actions: ['dynamodb:UpdateItem'] },
      writesAudit,
    ],
    signingSecret: true,
  },
  {
    name: 'second-factor-get',
    entry: 'functions/second-factor/get.ts',
    routes: [{ method: 'GET', path: '/api/second-factor' }],
    permissions: authenticates,
    signingSecret: true,
  },
  {
    name: 'second-factor-enrol',
    entry: 'functions/second-factor/enrol.ts',
    routes: [{ method: 'POST', path: '/api/second-factor', hashesPasswords: true }],
    permissions: [changesOwnFactor, writesAudit],
    signingSecret: true,
    factorKey: 'kms:Encrypt',
  },
  {
    name: 'second-factor-confirm',
    entry: 'functions/second-factor/confirm.ts',
    routes: [{ method: 'PUT', path: '/api/second-factor' }],
    permissions: [changesOwnFactor, writesAudit],
    signingSecret: true,
    factorKey: 'kms:Decrypt',
    handsOverMails: true,
  },
  {
    name: 'second-factor-renew-recovery-codes',
    entry: 'functions/second-factor/renew-recovery-codes.ts',
    routes: [{ method: 'POST', path: '/api/second-factor/recovery-codes', hashesPasswords: true }],
    permissions: [changesOwnFactor, writesAudit],
    signingSecret: true,
    factorKey: 'kms:Decrypt',
    handsOverMails: true,
  },
  {
    name: 'second-factor-remove',
    entry: 'functions/second-factor/remove.ts',
    routes: [{ method: 'POST', path: '/api/second-factor/removals', hashesPasswords: true }],
    permissions: [changesOwnFactor, writesAudit],
    signingSecret: true,
    factorKey: 'kms:Decrypt',
    handsOverMails: true,
  },
  {
    name: 'users-get-second-factor',
    entry: 'functions/users/get-second-factor.ts',
    routes: [{ method: 'GET', path: '/api/users/{id}/second-factor' }],
    permissions: [...authenticates, { table: 'users', actions: ['dynamodb:GetItem'] }],
    signingSecret: true,
  },
  {
    name: 'users-remove-second-factor',
    entry: 'functions/users/remove-second-factor.ts',
    routes: [{ method: 'DELETE', path: '/api/users/{id}/second-factor' }],
    permissions: [
      ...authenticates,
      { table: 'users', actions: ['dynamodb:GetItem', 'dynamodb:UpdateItem'] },
      writesAudit,
    ],
    signingSecret: true,
    handsOverMails: true,
  },
  {
    name: 'audit-logs-list',
    entry: 'functions/audit-logs/list.ts',
    routes: [{ method: 'GET', path: '/api/admin/audit-logs' }],
    permissions: [
      ...authenticates,
      {
        table: 'audit',
        actions: ['dynamodb:Query'],
        indexes: auditTable.indexes.map(({ name }) => name),
      },
      // For the entry of an export; with full detail, also for the entry of a query and its mark.
      writesAudit,
      { table: 'users', actions: ['dynamodb:PutItem'] },
    ],
    signingSecret: true,
  },
  {
    name: 'audit-seal-show',
    entry: 'functions/audit-seal/get.ts',
    routes: [{ method: 'GET', path: '/api/admin/audit-seal' }],
    permissions: [...authenticates, { table: 'users', actions: ['dynamodb:GetItem'] }],
    signingSecret: true,
    showsSeal: true,
  },
  {
    name: 'v1-users',
    entry: 'functions/v1-users/index.ts',
    routes: [
      { method: 'GET', path: '/api/v1/users' },
      { method: 'POST', path: '/api/v1/users' },
      { method: 'GET', path: '/api/v1/users/{id}' },
      { method: 'PUT', path: '/api/v1/users/{id}' },
      { method: 'PATCH', path: '/api/v1/users/{id}' },
      { method: 'DELETE', path: '/api/v1/users/{id}' },
    ],
    permissions: [],
    signingSecret: false,
    inMemory: true,
  },
  {
    name: 'docs',
    entry: 'functions/docs/index.ts',
    routes: [
      { method: 'GET', path: '/openapi.json' },
      { method: 'HEAD', path: '/openapi.json' },
      { method: 'GET', path: '/docs' },
      { method: 'HEAD', path: '/docs' },
      { method: 'GET', path: '/docs/{file}' },
    ],
    permissions: [],
    signingSecret: false,
    staticFiles: 'docs',
  },
  {
    name: 'console',
    entry: 'functions/console/index.ts',
    routes: [
      { method: 'GET', path: '/' },
      { method: 'GET', path: '/console' },
      { method: 'GET', path: '/console/{file}' },
    ],
    permissions: [],
    signingSecret: false,
    staticFiles: 'console',
  },
];

/** Runs on a schedule where the audit trail is sealed, and has no route. */
export const auditSealer: FunctionDefinition = {
  name: 'seal-audit',
  entry: 'functions/background/seal-audit.ts',
  routes: [],
  permissions: [
    { table: 'audit', actions: ['dynamodb:Query'], indexes: [auditTable.indexes[0].name] },
    { table: 'audit', actions: ['dynamodb:BatchGetItem'] },
    // Where the newest header is shown (lib/seal/shown.ts).
    { table: 'users', actions: ['dynamodb:GetItem', 'dynamodb:PutItem'], keys: 'audit-seal' },
  ],
  signingSecret: false,
  // For its processor: a file takes little memory, however large the table is.
  memory: 1024,
};

/** Takes the records of the audit table's stream where there are events, and has no route. */
export const auditPublisher: FunctionDefinition = {
  name: 'publish-audit',
  entry: 'functions/background/publish-audit.ts',
  routes: [],
  description: 'Puts audit entries on the bus',
  permissions: [{ table: 'audit', actions: ['dynamodb:Query'], indexes: ['by_resource_id'] }],
  signingSecret: false,
};

/** The functions that the settings turn on, each with the routes that it has by them. */
export const functionsInForce = (settings: ServiceValues): readonly FunctionDefinition[] => {
  const inForce = new Set(operationsInForce(settings).map(({ route }) => route));
  return functions
    .map((definition) => ({
      ...definition,
      routes: definition.routes.filter((route) => inForce.has(routeKey(route))),
    }))
    .filter(({ routes, sendsMails }) => (sendsMails ? sendsMail(settings) : routes.length > 0));
};

/** The mail function, if the settings turn it on. */
export const mailFunction = (settings: ServiceValues): FunctionDefinition | undefined =>
  functionsInForce(settings).find(({ sendsMails }) => sendsMails);

/** The headers that pages of other origins may send and read. The origins are a setting. */
export const cors = {
  methods: ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'],
  requestHeaders: [
    'authorization',
    'content-type',
    // Tracing libraries in browsers add these to every request.
    'traceparent',
    'tracestate',
    'baggage',
    'sentry-trace',
    'x-amzn-trace-id',
  ],
  responseHeaders: ['apigw-requestid', 'error-code', 'link', 'retry-after', 'x-request-id'],
  /** Seconds for which a browser may cache the response to a preflight request. */
  maxAge: 3600,
} as const;
