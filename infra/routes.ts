/**
 * The functions and their routes, as data that the stack, the local service and the tests read.
 */
import { operationsInForce } from '../lib/contract/operations.ts';
import { auditTable, usersTable } from '../lib/dynamodb/tables.ts';
import { type ServiceValues, type ServiceVariable, sendsMail } from '../lib/settings.ts';

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
  /** The permission is needed with any one of these settings; absent: always. */
  readonly when?: readonly Partial<ServiceValues>[];
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
  /** The environment variables of the settings that it reads. */
  readonly variables: readonly ServiceVariable[];
  /** Megabytes; absent: what {@link memoryOf} gives. */
  readonly memory?: number;
  /** It hands messages over to the mail function, if there is one; or only to verify addresses. */
  readonly handsOverMails?: true | 'verification';
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

const stateless = [{ sessions: 'stateless' }] as const;
const revocable = [{ sessions: 'revocable' }] as const;

/** Authentication reads a revocable session together with its user. */
const readsSessions: TablePermission = {
  table: 'users',
  actions: ['dynamodb:BatchGetItem'],
  when: revocable,
};

/** The first use of an access token is noted in its session. */
const notesUse: TablePermission = {
  table: 'users',
  actions: ['dynamodb:UpdateItem'],
  keys: 'sessions#*',
  when: revocable,
};

const authenticates = [readsSessions, notesUse];

/** With revocable sessions the user was read together with the session. */
const readsCaller: TablePermission = {
  table: 'users',
  actions: ['dynamodb:GetItem'],
  when: stateless,
};

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

/** Settings by which users confirm their own password and code. */
const ownFactorVariables = [
  'AUDIT_RETENTION_DAYS',
  'BCRYPT_COST',
  'SESSIONS',
  'SECOND_FACTOR',
  'LOGIN_FAILURES_PER_ACCOUNT',
  'LOGIN_FAILURES_PER_ADDRESS',
] as const;

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
    variables: [
      'AUDIT_RETENTION_DAYS',
      'MAIL_FROM',
      'RESET_URL',
      'EMAIL_VERIFICATION',
      'VERIFY_URL',
    ],
    sendsMails: true,
  },
  {
    name: 'register',
    entry: 'functions/auth/register.ts',
    routes: [{ method: 'POST', path: '/api/auth/register', hashesPasswords: true }],
    permissions: [
      createsUsers,
      // Where nobody may know who has an account, it looks whether an address is taken.
      {
        table: 'users',
        actions: ['dynamodb:GetItem'],
        when: [{ emailVerification: 'required', loginAnswers: 'uniform' }],
      },
      writesAudit,
    ],
    signingSecret: true,
    variables: [
      'AUDIT_DETAIL',
      'AUDIT_RETENTION_DAYS',
      'PASSWORD_MIN_LENGTH',
      'BCRYPT_COST',
      'REGISTRATIONS_PER_ADDRESS',
      'SESSIONS',
      'SESSION_DAYS',
      'SESSION_IDLE_DAYS',
      'EMAIL_VERIFICATION',
      'LOGIN_ANSWERS',
      'LOGIN_FAILURES_PER_ADDRESS',
    ],
    handsOverMails: 'verification',
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
    variables: [
      'AUDIT_RETENTION_DAYS',
      'BCRYPT_COST',
      'LOGIN_ANSWERS',
      'LOGIN_FAILURES_PER_ACCOUNT',
      'LOGIN_FAILURES_PER_ADDRESS',
      'SESSIONS',
      'SESSION_DAYS',
      'SESSION_IDLE_DAYS',
      'SECOND_FACTOR',
      'EMAIL_VERIFICATION',
    ],
    factorKey: 'kms:Decrypt',
    handsOverMails: 'verification',
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
    variables: ['AUDIT_RETENTION_DAYS', 'SESSION_DAYS', 'SESSION_IDLE_DAYS'],
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
    variables: ['AUDIT_RETENTION_DAYS', 'SESSIONS', 'SECOND_FACTOR'],
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
    variables: ['AUDIT_DETAIL', ...ownFactorVariables, 'EMAIL_VERIFICATION'],
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
    variables: ['SESSIONS', 'SECOND_FACTOR', 'LOGIN_FAILURES_PER_ADDRESS'],
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
    variables: [
      'AUDIT_RETENTION_DAYS',
      'PASSWORD_MIN_LENGTH',
      'BCRYPT_COST',
      'SESSIONS',
      'SECOND_FACTOR',
      'LOGIN_FAILURES_PER_ACCOUNT',
      'EMAIL_VERIFICATION',
      'LOGIN_FAILURES_PER_ADDRESS',
    ],
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
    variables: ['SESSIONS', 'SECOND_FACTOR', 'EMAIL_VERIFICATION', 'LOGIN_FAILURES_PER_ADDRESS'],
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
    variables: [
      'AUDIT_DETAIL',
      'AUDIT_RETENTION_DAYS',
      'BCRYPT_COST',
      'SESSIONS',
      'LOGIN_FAILURES_PER_ACCOUNT',
      'LOGIN_FAILURES_PER_ADDRESS',
      'SECOND_FACTOR',
      'EMAIL_VERIFICATION',
    ],
    handsOverMails: true,
  },
  {
    name: 'profile',
    entry: 'functions/profile/get.ts',
    routes: [{ method: 'GET', path: '/api/profile' }],
    permissions: [...authenticates, readsCaller],
    signingSecret: true,
    variables: ['SESSIONS', 'SECOND_FACTOR', 'EMAIL_VERIFICATION'],
  },
  {
    name: 'users-create',
    entry: 'functions/users/create.ts',
    routes: [{ method: 'POST', path: '/api/users', hashesPasswords: true }],
    permissions: [...authenticates, createsUsers, grantsRoles, writesAudit],
    signingSecret: true,
    variables: [
      'AUDIT_DETAIL',
      'AUDIT_RETENTION_DAYS',
      'PASSWORD_MIN_LENGTH',
      'BCRYPT_COST',
      'SESSIONS',
      'SECOND_FACTOR',
      'EMAIL_VERIFICATION',
      'LOGIN_ANSWERS',
    ],
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
      { table: 'users', actions: ['dynamodb:Query'], indexes: [byCreatedAt.name] },
    ],
    signingSecret: true,
    variables: ['USER_DIRECTORY', 'SESSIONS', 'SECOND_FACTOR', 'EMAIL_VERIFICATION'],
  },
  {
    name: 'users-get',
    entry: 'functions/users/get.ts',
    routes: [{ method: 'GET', path: '/api/users/{id}' }],
    permissions: [...authenticates, { table: 'users', actions: ['dynamodb:GetItem'] }],
    signingSecret: true,
    variables: ['USER_DIRECTORY', 'SESSIONS', 'SECOND_FACTOR', 'EMAIL_VERIFICATION'],
  },
  {
    name: 'users-update',
    entry: 'functions/users/update.ts',
    routes: [{ method: 'PUT', path: '/api/users/{id}', hashesPasswords: true }],
    permissions: [
      // Wrong current passwords are counted like failed logins.
      {
        ...readsSessions,
        when: [
          ...revocable,
          { currentPassword: 'required' },
          { emailVerification: 'on' },
          { emailVerification: 'required' },
        ],
      },
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
    variables: [
      'AUDIT_DETAIL',
      'AUDIT_RETENTION_DAYS',
      'USER_DIRECTORY',
      'PASSWORD_MIN_LENGTH',
      'BCRYPT_COST',
      'SESSIONS',
      'SECOND_FACTOR',
      'CURRENT_PASSWORD',
      'LOGIN_FAILURES_PER_ACCOUNT',
      'LOGIN_FAILURES_PER_ADDRESS',
      'EMAIL_VERIFICATION',
      'LOGIN_ANSWERS',
    ],
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
    variables: [
      'AUDIT_DETAIL',
      'AUDIT_RETENTION_DAYS',
      'SESSIONS',
      'SECOND_FACTOR',
      'EMAIL_VERIFICATION',
      'LOGIN_FAILURES_PER_ADDRESS',
    ],
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
    variables: ['AUDIT_RETENTION_DAYS', 'SESSIONS', 'SECOND_FACTOR'],
  },
  {
    name: 'sessions-list',
    entry: 'functions/sessions/list.ts',
    routes: [{ method: 'GET', path: '/api/users/{id}/sessions' }],
    permissions: authenticates,
    signingSecret: true,
    variables: ['SESSIONS', 'SECOND_FACTOR'],
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
    variables: ['AUDIT_RETENTION_DAYS', 'SESSIONS', 'SECOND_FACTOR'],
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
    variables: ['AUDIT_RETENTION_DAYS', 'SESSIONS', 'SECOND_FACTOR'],
  },
  {
    name: 'second-factor-get',
    entry: 'functions/second-factor/get.ts',
    routes: [{ method: 'GET', path: '/api/second-factor' }],
    permissions: authenticates,
    signingSecret: true,
    variables: ['SESSIONS', 'SECOND_FACTOR'],
  },
  {
    name: 'second-factor-enrol',
    entry: 'functions/second-factor/enrol.ts',
    routes: [{ method: 'POST', path: '/api/second-factor', hashesPasswords: true }],
    permissions: [changesOwnFactor, writesAudit],
    signingSecret: true,
    variables: [...ownFactorVariables, 'EMAIL_VERIFICATION'],
    factorKey: 'kms:Encrypt',
  },
  {
    name: 'second-factor-confirm',
    entry: 'functions/second-factor/confirm.ts',
    routes: [{ method: 'PUT', path: '/api/second-factor' }],
    permissions: [changesOwnFactor, writesAudit],
    signingSecret: true,
    variables: [...ownFactorVariables, 'EMAIL_VERIFICATION'],
    factorKey: 'kms:Decrypt',
    handsOverMails: true,
  },
  {
    name: 'second-factor-renew-recovery-codes',
    entry: 'functions/second-factor/renew-recovery-codes.ts',
    routes: [{ method: 'POST', path: '/api/second-factor/recovery-codes', hashesPasswords: true }],
    permissions: [changesOwnFactor, writesAudit],
    signingSecret: true,
    variables: [...ownFactorVariables, 'EMAIL_VERIFICATION'],
    factorKey: 'kms:Decrypt',
    handsOverMails: true,
  },
  {
    name: 'second-factor-remove',
    entry: 'functions/second-factor/remove.ts',
    routes: [{ method: 'POST', path: '/api/second-factor/removals', hashesPasswords: true }],
    permissions: [changesOwnFactor, writesAudit],
    signingSecret: true,
    variables: [...ownFactorVariables, 'EMAIL_VERIFICATION'],
    factorKey: 'kms:Decrypt',
    handsOverMails: true,
  },
  {
    name: 'users-get-second-factor',
    entry: 'functions/users/get-second-factor.ts',
    routes: [{ method: 'GET', path: '/api/users/{id}/second-factor' }],
    permissions: [...authenticates, { table: 'users', actions: ['dynamodb:GetItem'] }],
    signingSecret: true,
    variables: ['SESSIONS', 'SECOND_FACTOR'],
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
    variables: [
      'AUDIT_RETENTION_DAYS',
      'SESSIONS',
      'SECOND_FACTOR',
      'EMAIL_VERIFICATION',
      'LOGIN_FAILURES_PER_ADDRESS',
    ],
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
      { table: 'users', actions: ['dynamodb:PutItem'], when: [{ auditDetail: 'full' }] },
    ],
    signingSecret: true,
    variables: ['AUDIT_DETAIL', 'AUDIT_RETENTION_DAYS', 'SESSIONS', 'SECOND_FACTOR'],
  },
  {
    name: 'audit-seal-show',
    entry: 'functions/audit-seal/get.ts',
    routes: [{ method: 'GET', path: '/api/admin/audit-seal' }],
    permissions: [...authenticates, { table: 'users', actions: ['dynamodb:GetItem'] }],
    signingSecret: true,
    variables: ['SESSIONS', 'SECOND_FACTOR'],
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
    variables: [],
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
    variables: [
      'USER_DIRECTORY',
      'PASSWORD_MIN_LENGTH',
      'LOGIN_ANSWERS',
      'REGISTRATIONS_PER_ADDRESS',
      'V1_USERS',
      'DOCS',
      'CONSOLE',
      'SESSIONS',
      'SESSION_DAYS',
      'SECOND_FACTOR',
      'CURRENT_PASSWORD',
      'SELF_DELETION',
      'MAIL_FROM',
      'RESET_URL',
      'EMAIL_VERIFICATION',
      'AUDIT_SEAL',
    ],
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
    variables: [
      'SESSIONS',
      'SECOND_FACTOR',
      'CURRENT_PASSWORD',
      'PASSWORD_MIN_LENGTH',
      'MAIL_FROM',
      'RESET_URL',
      'AUDIT_SEAL',
      'DOCS',
    ],
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
  variables: [],
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
  variables: [],
};

const isNeeded = ({ when }: TablePermission, settings: Readonly<Record<string, unknown>>) =>
  when?.some((values) => Object.entries(values).every(([name, of]) => settings[name] === of)) ??
  true;

/** The functions that the settings turn on, each with the routes and permissions that they need. */
export const functionsInForce = (settings: ServiceValues): readonly FunctionDefinition[] => {
  const inForce = new Set(operationsInForce(settings).map(({ route }) => route));
  return functions
    .map(({ handsOverMails, ...definition }) => ({
      ...definition,
      ...(handsOverMails === true || (handsOverMails && settings.emailVerification !== 'off')
        ? { handsOverMails }
        : {}),
      routes: definition.routes.filter((route) => inForce.has(routeKey(route))),
      permissions: definition.permissions.filter((permission) => isNeeded(permission, settings)),
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
