/** The operation of every route, by `METHOD /path`, and what the document says of it. */
import type { ServiceValues } from '../settings.ts';
import * as accounts from './accounts.ts';
import * as auditLogs from './audit-logs.ts';
import * as docs from './docs.ts';
import type { Describe, Operation } from './operation.ts';
import * as sessions from './sessions.ts';
import * as users from './users.ts';
import * as v1 from './v1-users.ts';

export const operations = {
  'POST /api/auth/register': [accounts.register, accounts.registerDescription],
  'POST /api/login': [accounts.logIn, accounts.logInDescription],
  'POST /api/logout': [sessions.logOut, sessions.logOutDescription],
  'GET /api/profile': [accounts.getProfile, accounts.getProfileDescription],
  'POST /api/users': [users.createUser, users.createUserDescription],
  'GET /api/users': [users.listUsers, users.listUsersDescription],
  'GET /api/users/{id}': [users.getUser, users.getUserDescription],
  'PUT /api/users/{id}': [users.updateUser, users.updateUserDescription],
  'DELETE /api/users/{id}': [users.deleteUser, users.deleteUserDescription],
  'POST /api/users/{id}/revocations': [sessions.revokeSessions, sessions.revokeSessionsDescription],
  'GET /api/admin/audit-logs': [auditLogs.listAuditLogs, auditLogs.listAuditLogsDescription],
  'GET /api/v1/users': [v1.listMemoryUsers, v1.listMemoryUsersDescription],
  'POST /api/v1/users': [v1.createMemoryUser, v1.createMemoryUserDescription],
  'GET /api/v1/users/{id}': [v1.getMemoryUser, v1.getMemoryUserDescription],
  'PUT /api/v1/users/{id}': [v1.replaceMemoryUser, v1.replaceMemoryUserDescription],
  'PATCH /api/v1/users/{id}': [v1.changeMemoryUser, v1.changeMemoryUserDescription],
  'DELETE /api/v1/users/{id}': [v1.deleteMemoryUser, v1.deleteMemoryUserDescription],
  'GET /openapi.json': [docs.getDocument, docs.getDocumentDescription],
  'HEAD /openapi.json': [docs.headDocument, docs.headDocumentDescription],
  'GET /docs': [docs.getDocsPage, docs.getDocsPageDescription],
  'HEAD /docs': [docs.headDocsPage, docs.headDocsPageDescription],
} as const satisfies Readonly<Record<string, readonly [Operation, Describe]>>;

/** An operation that is there, with what the document says of it. */
export interface OperationInForce {
  /** `METHOD /path` */
  readonly route: string;
  readonly operation: Operation;
  readonly describe: Describe;
}

/** The operations that are there, by the settings in force. */
export const operationsInForce = (settings: ServiceValues): readonly OperationInForce[] =>
  Object.entries<readonly [Operation, Describe]>(operations)
    .map(([route, [operation, describe]]) => ({ route, operation, describe }))
    .filter(({ describe }) => describe(settings).exists ?? true);
