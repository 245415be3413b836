/**
 * The functions and the routes that lead to them, as data. The stack, the local service and the
 * tests read it; nothing about a route is written anywhere else.
 */

export type HttpMethod = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

export interface Route {
  readonly method: HttpMethod;
  /** As API Gateway writes it: a segment in braces is a path parameter. */
  readonly path: string;
}

/** IAM actions that a function may take, on a table itself or on indexes of it. */
export interface TableAccess {
  readonly table: 'users' | 'audit';
  readonly actions: readonly `dynamodb:${string}`[];
  /** Absent: the table itself. */
  readonly indexes?: readonly string[];
}

export interface FunctionDefinition {
  readonly name: string;
  /** The file that exports `handler`. */
  readonly entry: `functions/${string}.ts`;
  readonly routes: readonly Route[];
  readonly access: readonly TableAccess[];
  /** Whether it signs or verifies tokens or cursors. */
  readonly signingSecret: boolean;
}

const writesAudit: TableAccess = { table: 'audit', actions: ['dynamodb:PutItem'] };

// A transaction needs the action of each of its items.
const createsUsers: TableAccess = {
  table: 'users',
  actions: ['dynamodb:UpdateItem', 'dynamodb:PutItem'],
};

export const functions: readonly FunctionDefinition[] = [
  {
    name: 'register',
    entry: 'functions/auth/register.ts',
    routes: [{ method: 'POST', path: '/api/auth/register' }],
    access: [createsUsers, writesAudit],
    signingSecret: true,
  },
  {
    name: 'login',
    entry: 'functions/auth/login.ts',
    routes: [{ method: 'POST', path: '/api/login' }],
    access: [{ table: 'users', actions: ['dynamodb:GetItem'] }, writesAudit],
    signingSecret: true,
  },
  {
    name: 'profile',
    entry: 'functions/profile/get.ts',
    routes: [{ method: 'GET', path: '/api/profile' }],
    access: [{ table: 'users', actions: ['dynamodb:GetItem'] }],
    signingSecret: true,
  },
  {
    name: 'users-create',
    entry: 'functions/users/create.ts',
    routes: [{ method: 'POST', path: '/api/users' }],
    access: [createsUsers, writesAudit],
    signingSecret: true,
  },
  {
    name: 'users-list',
    entry: 'functions/users/list.ts',
    routes: [{ method: 'GET', path: '/api/users' }],
    access: [
      { table: 'users', actions: ['dynamodb:GetItem'] },
      { table: 'users', actions: ['dynamodb:Query'], indexes: ['by_created_at'] },
    ],
    signingSecret: true,
  },
  {
    name: 'users-get',
    entry: 'functions/users/get.ts',
    routes: [{ method: 'GET', path: '/api/users/{id}' }],
    access: [{ table: 'users', actions: ['dynamodb:GetItem'] }],
    signingSecret: true,
  },
  {
    name: 'users-update',
    entry: 'functions/users/update.ts',
    routes: [{ method: 'PUT', path: '/api/users/{id}' }],
    access: [
      {
        table: 'users',
        actions: [
          'dynamodb:GetItem',
          'dynamodb:UpdateItem',
          'dynamodb:PutItem',
          'dynamodb:DeleteItem',
        ],
      },
      writesAudit,
    ],
    signingSecret: true,
  },
  {
    name: 'users-delete',
    entry: 'functions/users/delete.ts',
    routes: [{ method: 'DELETE', path: '/api/users/{id}' }],
    access: [{ table: 'users', actions: ['dynamodb:GetItem', 'dynamodb:DeleteItem'] }, writesAudit],
    signingSecret: true,
  },
  {
    name: 'audit-logs-list',
    entry: 'functions/audit-logs/list.ts',
    routes: [{ method: 'GET', path: '/api/admin/audit-logs' }],
    access: [
      {
        table: 'audit',
        actions: ['dynamodb:Query'],
        indexes: ['by_created_at', 'by_user_id', 'by_action', 'by_user_id_and_action'],
      },
    ],
    signingSecret: true,
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
    access: [],
    signingSecret: false,
  },
];

/** What a browser on another origin may send and read. The origins are a setting. */
export const cors = {
  methods: ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'],
  requestHeaders: ['authorization', 'content-type'],
  responseHeaders: ['link', 'x-request-id'],
  /** Seconds for which a browser may keep the answer to a preflight request. */
  maxAge: 3600,
} as const;
