/** The deployed handlers in this process, called as API Gateway calls them, on tables of their own. */
import { randomUUID } from 'node:crypto';
import type { APIGatewayProxyEventV2 } from 'aws-lambda';
import { inject } from 'vitest';
import { createTables } from '../../infra/local/create-tables.ts';
import { staticFilesFolder } from '../../infra/static-files.ts';
import { functions } from '../../infra/uses.ts';
import type { Handler } from '../../lib/http/request.ts';
import { checkUnder } from '../support/contract.ts';
import { gatewayEvent } from '../support/event.ts';

/** What a request may vary of an event. */
export interface Call {
  /** As `GET /api/users/{id}`. */
  readonly route: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly id?: string | undefined;
  readonly query?: Readonly<Record<string, string>> | undefined;
  readonly body?: string | undefined;
  readonly isBase64Encoded?: boolean;
  readonly sourceIp?: string;
}

export interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly text: string | undefined;
}

export type Handlers = Awaited<ReturnType<typeof startHandlers>>;

const toEvent = (call: Call): APIGatewayProxyEventV2 => {
  const { route, headers, id, query, body, isBase64Encoded = false } = call;
  const [method = '', pattern = ''] = route.split(' ');
  return gatewayEvent({
    method,
    route: pattern,
    path: pattern.replace('{id}', id ?? ''),
    headers,
    ...(id === undefined ? {} : { pathParameters: { id } }),
    ...(body === undefined ? {} : { body }),
    query,
    isBase64Encoded,
    sourceIp: call.sourceIp,
    userAgent: headers['user-agent'] ?? '',
  });
};

const load = async (): Promise<ReadonlyMap<string, Handler>> => {
  const handlers = new Map<string, Handler>();
  for (const { entry, routes } of functions) {
    const { href } = new URL(`../../${entry}`, import.meta.url);
    const { handler } = await import(/* @vite-ignore */ href);
    for (const { method, path } of routes) handlers.set(`${method} ${path}`, handler);
  }
  return handlers;
};

/** @param settings beside those that every function needs; read once per process, so per file */
export const startHandlers = async (settings: Readonly<Record<string, string>> = {}) => {
  const jwtSecret = `secret-${randomUUID()}${randomUUID()}`;
  const [usersTable, auditTable] = [`users-${randomUUID()}`, `audit-${randomUUID()}`];
  Object.assign(process.env, {
    AWS_REGION: 'us-east-1',
    AWS_ACCESS_KEY_ID: 'local',
    AWS_SECRET_ACCESS_KEY: 'local',
    AWS_ENDPOINT_URL_DYNAMODB: inject('engine'),
    USERS_TABLE: usersTable,
    AUDIT_TABLE: auditTable,
    JWT_SECRET: jwtSecret,
    STATIC_FILES: staticFilesFolder(),
    ...settings,
  });
  await createTables(inject('engine'), { users: usersTable, audit: auditTable });
  const handlers = await load();
  const check = checkUnder(settings);
  const call = async (request: Call): Promise<Answer> => {
    const handler = handlers.get(request.route);
    if (!handler) throw new Error(`No route ${request.route}`);
    const result = await handler(toEvent(request), {});
    const { statusCode: status = 200, body: text } = result;
    const headers = result.headers as Record<string, string>;
    const [method = '', path = ''] = request.route.split(' ');
    check({ method, path, status, headers: new Headers(headers), text: text ?? '' });
    return { status, headers, text };
  };
  return { call, jwtSecret, usersTable, auditTable };
};
