/** The operation of every route, by `METHOD /path`. */
import type { ServiceValues } from '../settings.ts';
import { getProfile, logIn, register } from './accounts.ts';
import { listAuditLogs } from './audit-logs.ts';
import { getDocsPage, getDocument, headDocsPage, headDocument } from './docs.ts';
import type { Operation } from './operation.ts';
import { createUser, deleteUser, getUser, listUsers, updateUser } from './users.ts';
import {
  changeMemoryUser,
  createMemoryUser,
  deleteMemoryUser,
  getMemoryUser,
  listMemoryUsers,
  replaceMemoryUser,
} from './v1-users.ts';

export const operations = {
  'POST /api/auth/register': register,
  'POST /api/login': logIn,
  'GET /api/profile': getProfile,
  'POST /api/users': createUser,
  'GET /api/users': listUsers,
  'GET /api/users/{id}': getUser,
  'PUT /api/users/{id}': updateUser,
  'DELETE /api/users/{id}': deleteUser,
  'GET /api/admin/audit-logs': listAuditLogs,
  'GET /api/v1/users': listMemoryUsers,
  'POST /api/v1/users': createMemoryUser,
  'GET /api/v1/users/{id}': getMemoryUser,
  'PUT /api/v1/users/{id}': replaceMemoryUser,
  'PATCH /api/v1/users/{id}': changeMemoryUser,
  'DELETE /api/v1/users/{id}': deleteMemoryUser,
  'GET /openapi.json': getDocument,
  'GET /docs': getDocsPage,
  'HEAD /openapi.json': headDocument,
  'HEAD /docs': headDocsPage,
} as const satisfies Readonly<Record<string, Operation>>;

/** The operations that are there, by the settings in force. */
export const operationsInForce = (settings: ServiceValues): readonly [string, Operation][] =>
  Object.entries<Operation>(operations).filter(([, { exists }]) => exists?.(settings) ?? true);
