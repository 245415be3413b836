/**
 * One example request of every route of infra/uses.ts, by `METHOD /path`; the tests that apply to every endpoint send
 * these. The name of a further example of a route has a comma after the route, and then the difference. Importing this
 * file fails if a route has no example or operation, or an example has no route. The examples of a service include the
 * routes and reads that its settings add.
 */
import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { APIGatewayProxyEventV2 } from 'aws-lambda';
import { decodeProtectedHeader } from 'jose';
import { endpoints as all } from '../../functions/contracts.ts';
import { staticFilesFolder } from '../../infra/static-files.ts';
import { type FunctionDefinition, functions, functionsInForce } from '../../infra/uses.ts';
import type { Endpoint, HttpMethod } from '../../lib/contract/contract.ts';
import type { StorageFault } from '../../lib/ground/errors.ts';
import {
  configFrom,
  hasMachines,
  hasSessions,
  type ServiceValues,
} from '../../lib/ground/settings.ts';
import type { LinkKind } from '../../lib/options/links/mailed-link.ts';
import type { Scope } from '../../lib/options/machines/machine.ts';
import {
  type Account,
  type ApiAnswer,
  type ApiClient,
  logIn,
  register,
  uniqueEmail,
} from './client.ts';
import { gatewayEvent } from './event.ts';
import { makeMachine } from './machines.ts';
import { newPasskey } from './passkeys.ts';
import { markVerified, plantLinkToken, registrationMailed } from './reset-tokens.ts';
import type { TestService } from './service.ts';

/**
 * Who may call an endpoint: anyone; any user with a token; the user in the path, the maker of that user, or an admin;
 * the user in the path or an admin; only an admin; or only a machine.
 */
export type Caller = 'anyone' | 'user' | 'maker' | 'self' | 'admin' | 'machine';

/** The kinds of operations on the users table or, if the name says so, on the audit table. */
export type Operation = 'read' | 'write' | 'transaction' | 'read audit';

/** The user and the data on which an example acts. */
export interface Subject {
  /** The user whom `{id}` in a path names, and who calls the endpoints that every user may call. */
  readonly account: Account;
  /** The token of an admin. */
  readonly admin: string;
  /** The id of a user of the in-memory variant, whom the paths of that variant name instead. */
  readonly memoryId: number;
  /** The token of a link for the account, if the example takes one. */
  readonly linkToken?: string;
  /** The id of a machine, if the example wants one. */
  readonly machineId?: number;
  /** The key of this machine. */
  readonly machineKey?: string;
}

interface Example {
  readonly caller: Caller;
  readonly query?: string;
  /** Headers besides the token and the headers of the body. */
  readonly headers?: Readonly<Record<string, string>>;
  /** The file of a page that the example requests, by the name of its source. */
  readonly file?: string;
  /** The body. */
  readonly json?: (subject: Subject) => Readonly<Record<string, unknown>>;
  /** Status and message of a response that is a refusal; absent: the response is the success of the contract. */
  readonly status?: number;
  readonly message?: string;
  /** The operations whose failure makes the request fail; absent: no operation does. */
  readonly operations?: readonly Operation[];
  /** Action and result of the audit entry that the request leaves; absent: it leaves no entry. */
  readonly entry?: string;
  /**
   * The details of that entry: SESSION is replaced by the account's session, and SCOPE by the sessions that the caller
   * ends: all others, or all. Absent: the entry has no details.
   */
  readonly details?: object;
  /** Action and result of the entry that the request leaves when the store fails. */
  readonly faultEntry?: string;
  /** Whether the user is read before anything else: if this read fails, the request leaves no entry. */
  readonly readsFirst?: true;
  /** Whether the account is an admin. */
  readonly isAdmin?: true;
  /** Whether the path names a machine. */
  readonly wantsMachine?: true;
  /** Whether the account is suspended. */
  readonly isSuspended?: true;
  /** The kind of the mailed link whose token the request takes. */
  readonly takesToken?: LinkKind;
  /** Whether the caller's address must be verified, if the service verifies addresses. */
  readonly wantsVerified?: true;
  /** Whether the example is sent with some settings; absent: with all settings. */
  readonly isSent?: (settings: ServiceValues) => boolean;
  /** The differences if there are sessions, besides the read of the session. */
  readonly withSessions?: Partial<Example>;
  /** The scope with which machines may call it; absent: none. */
  readonly scope?: Scope;
  /** Whether auditors may call it, as well as the caller and admins. */
  readonly isForAuditors?: true;
  /** Who may call the endpoint if accounts are private, if that differs. */
  readonly callerIfPrivate?: Caller;
}

const newUser = () => ({
  name: 'Some One',
  email: uniqueEmail(),
  password: `pass-word-${randomUUID()}`,
});
const nameAndEmail = () => ({ name: 'Some One', email: uniqueEmail() });

const login = { caller: 'anyone', operations: ['read'] } as const;
const update = {
  caller: 'maker',
  callerIfPrivate: 'self',
  entry: 'UPDATE SUCCESS',
  faultEntry: 'UPDATE FAILURE',
} as const;
const logout = {
  caller: 'user',
  operations: ['write'],
  entry: 'LOGOUT SUCCESS',
  faultEntry: 'LOGOUT FAILURE',
} as const;
const ofLink = { caller: 'anyone', faultEntry: 'UPDATE FAILURE' } as const;
const accountDeletion = {
  caller: 'user',
  json: ({ account }: Subject) => ({ currentPassword: account.password }),
  operations: ['read', 'transaction'],
  entry: 'DELETE SUCCESS',
  faultEntry: 'DELETE FAILURE',
} as const;
const suspension = {
  caller: 'admin',
  entry: 'UPDATE SUCCESS',
  details: { suspended: true },
  faultEntry: 'UPDATE FAILURE',
} as const;
const lifting = {
  caller: 'admin',
  operations: ['read'],
  faultEntry: 'UPDATE FAILURE',
} as const;
/** A change of a factor that the account does not have. */
const missingFactor = { caller: 'user', status: 404, message: 'Second factor not found' } as const;
const forReaders = { caller: 'admin', isForAuditors: true } as const;
const auditQuery = {
  ...forReaders,
  operations: ['read audit'],
  scope: 'audit:read',
} as const;
/** The deployed service seals its trail; the local service of tests does not. */
const sealShown = {
  ...forReaders,
  ...(process.env.SERVICE_URL ? {} : { status: 404, message: 'The audit trail is not sealed' }),
} as const;
const ofMachines = { caller: 'admin' } as const;
const forAnyone = { caller: 'anyone' } as const;

const examples: Readonly<Record<string, Example>> = {
  'POST /api/auth/register': {
    caller: 'anyone',
    json: newUser,
    operations: ['write', 'transaction'],
    entry: 'CREATE SUCCESS',
    faultEntry: 'CREATE FAILURE',
  },
  'POST /api/login': {
    ...login,
    json: ({ account: { email, password } }) => ({ email, password }),
    entry: 'LOGIN SUCCESS',
    withSessions: {
      operations: ['read', 'write'],
      faultEntry: 'LOGIN FAILURE',
      readsFirst: true,
    },
  },
  'POST /api/login, wrong password': {
    ...login,
    json: ({ account: { email } }) => ({ email, password: 'wrong-word' }),
    status: 401,
    message: 'Invalid credentials',
    entry: 'LOGIN FAILURE',
    details: { reason: 'wrong_password' },
  },
  'POST /api/refresh': {
    caller: 'anyone',
    json: ({ account }) => ({ refreshToken: account.refreshToken }),
    operations: ['read', 'write'],
  },
  'POST /api/refresh, made up': {
    caller: 'anyone',
    json: ({ account }) => ({ refreshToken: `${account.id}.${'A'.repeat(22)}.${'B'.repeat(65)}` }),
    status: 401,
    message: 'Invalid refresh token',
    operations: ['read'],
  },
  'POST /api/logout': logout,
  'POST /api/account-deletions': accountDeletion,
  'POST /api/account-deletions, of an admin': { ...accountDeletion, isAdmin: true },
  // Nobody has the address. For an address that a user has, the work is done later, by another request.
  'POST /api/password-resets': { caller: 'anyone', json: () => ({ email: uniqueEmail() }) },
  'PUT /api/password-resets': {
    ...ofLink,
    json: ({ linkToken = '' }) => ({ token: linkToken, password: `pass-word-${randomUUID()}` }),
    takesToken: 'reset',
    operations: ['read', 'transaction'],
    entry: 'UPDATE SUCCESS',
    details: { fields: ['password'], by: 'reset' },
  },
  // The service tells the caller if it has mailed the address already, and mails nothing to a verified address.
  'POST /api/email-verifications': {
    caller: 'user',
    wantsVerified: true,
    operations: ['read'],
    withSessions: { operations: [] },
  },
  'PUT /api/email-verifications': {
    ...ofLink,
    json: ({ linkToken = '', account: { password } }) => ({ token: linkToken, password }),
    takesToken: 'address',
    operations: ['read', 'transaction'],
    entry: 'UPDATE SUCCESS',
    details: { fields: ['email_verified'], by: 'verification' },
  },
  'PUT /api/email-verifications, unknown token': {
    ...ofLink,
    json: ({ account: { id } }) => ({ token: `${id}.${'A'.repeat(43)}`, password: 'pass-word-2' }),
    status: 400,
    message: 'Invalid or expired verification token',
    operations: ['read'],
  },
  'PUT /api/password-resets, unknown token': {
    ...ofLink,
    json: ({ account: { id } }) => ({ token: `${id}.${'A'.repeat(43)}`, password: 'pass-word-2' }),
    status: 400,
    message: 'Invalid or expired reset token',
    operations: ['read'],
  },
  'GET /api/profile': { caller: 'user', operations: ['read'] },
  'POST /api/users': {
    caller: 'user',
    callerIfPrivate: 'admin',
    json: newUser,
    scope: 'users:write',
    operations: ['write', 'transaction'],
    entry: 'CREATE SUCCESS',
    faultEntry: 'CREATE FAILURE',
  },
  'GET /api/users': { caller: 'user', operations: ['read'], scope: 'users:read' },
  'GET /api/users, by email': {
    caller: 'user',
    query: 'email=nobody@example.com',
    operations: ['read'],
    scope: 'users:read',
  },
  'GET /api/users, by a part': {
    ...forReaders,
    query: 'search=nobody',
    operations: ['read'],
    scope: 'users:read',
  },
  'GET /api/users, last seen before a day': {
    ...forReaders,
    query: 'seenBefore=2026-08-30',
    operations: ['read'],
    scope: 'users:read',
    isSent: hasSessions,
  },
  'GET /api/users, of the admins': {
    caller: 'user',
    query: 'role=admin',
    operations: ['read'],
    scope: 'users:read',
  },
  'GET /api/users, of the suspended': {
    ...forReaders,
    query: 'status=suspended',
    isSent: hasSessions,
    operations: ['read'],
    scope: 'users:read',
  },
  'GET /api/users/{id}': {
    caller: 'user',
    callerIfPrivate: 'self',
    isForAuditors: true,
    operations: ['read'],
    scope: 'users:read',
  },
  'PUT /api/users/{id}': {
    ...update,
    json: ({ account: { password } }) => ({ name: 'Renamed', password, currentPassword: password }),
    operations: ['read', 'write'],
    withSessions: { operations: ['write'] },
    details: { fields: ['name', 'password'] },
  },
  'PUT /api/users/{id}, name': {
    ...update,
    json: () => ({ name: 'Renamed' }),
    operations: ['read', 'write'],
    withSessions: { operations: ['write'] },
    details: { fields: ['name'] },
    scope: 'users:write',
  },
  'PUT /api/users/{id}, email': {
    ...update,
    json: ({ account }) => ({ email: uniqueEmail(), currentPassword: account.password }),
    operations: ['read', 'transaction'],
    details: { fields: ['email'] },
    // If the service verifies addresses, the change takes effect later.
    isSent: ({ emailVerification }) => emailVerification === 'off',
  },
  'DELETE /api/users/{id}': {
    caller: 'admin',
    operations: ['read', 'transaction'],
    entry: 'DELETE SUCCESS',
    faultEntry: 'DELETE FAILURE',
  },
  'GET /api/users/{id}/sessions': { caller: 'self' },
  'DELETE /api/users/{id}/sessions': {
    ...logout,
    caller: 'self',
    operations: ['write'],
    details: { scope: 'SCOPE' },
  },
  'DELETE /api/users/{id}/sessions/{session}': {
    ...logout,
    caller: 'self',
    details: { session: 'SESSION' },
  },
  'GET /api/second-factor': { caller: 'user' },
  'POST /api/second-factor': {
    caller: 'user',
    wantsVerified: true,
    json: ({ account }) => ({ currentPassword: account.password }),
    operations: ['read', 'write'],
    entry: 'UPDATE SUCCESS',
    details: { fields: ['second_factor'], second_factor: 'begun' },
    faultEntry: 'UPDATE FAILURE',
  },
  'PUT /api/second-factor': {
    ...missingFactor,
    wantsVerified: true,
    json: () => ({ code: '123456' }),
  },
  'POST /api/second-factor/recovery-codes': {
    ...missingFactor,
    json: ({ account }) => ({ currentPassword: account.password, code: '123456' }),
  },
  'POST /api/second-factor/removals': {
    ...missingFactor,
    json: ({ account }) => ({ currentPassword: account.password, code: '123456' }),
  },
  'POST /api/login/nonces': { caller: 'anyone' },
  'POST /api/login/identity': {
    caller: 'anyone',
    json: () => ({}),
    status: 400,
    message: 'ID token and nonce are required',
  },
  'GET /api/identities': { caller: 'user' },
  'POST /api/identities': {
    caller: 'user',
    wantsVerified: true,
    json: ({ account }) => ({ idToken: 'x', nonce: 'x', currentPassword: account.password }),
    status: 401,
    message: 'Invalid identity token',
  },
  'POST /api/identities/{identity}/removals': {
    caller: 'user',
    json: ({ account }) => ({ currentPassword: account.password }),
    status: 404,
    message: 'Identity not found',
  },
  'POST /api/login/passkey-options': { caller: 'anyone' },
  'POST /api/login/passkey': {
    caller: 'anyone',
    json: () => ({}),
    status: 400,
    message: 'Invalid passkey',
  },
  'GET /api/passkeys': { caller: 'user' },
  'POST /api/passkeys/options': {
    caller: 'user',
    wantsVerified: true,
    json: ({ account }) => ({ currentPassword: account.password }),
  },
  'POST /api/passkeys': {
    caller: 'user',
    json: () => ({ credential: newPasskey().make({ challenge: 'A' }) }),
    status: 400,
    message: 'Invalid passkey',
  },
  'PATCH /api/passkeys/{passkey}': {
    caller: 'user',
    json: () => ({ name: 'Laptop' }),
    status: 404,
    message: 'Passkey not found',
  },
  'POST /api/passkeys/{passkey}/removals': {
    caller: 'user',
    json: ({ account }) => ({ currentPassword: account.password }),
    status: 404,
    message: 'Passkey not found',
  },
  'DELETE /api/users/{id}/identities/{identity}': {
    caller: 'admin',
    operations: ['read'],
    status: 404,
    message: 'Identity not found',
    faultEntry: 'UPDATE FAILURE',
  },
  'DELETE /api/users/{id}/second-factor': {
    caller: 'admin',
    status: 403,
    message: 'Second factor required',
  },
  'PUT /api/users/{id}/suspension': { ...suspension, operations: ['read', 'write'] },
  'PUT /api/users/{id}/suspension, of an admin': {
    ...suspension,
    operations: ['read', 'transaction'],
    isAdmin: true,
  },
  'DELETE /api/users/{id}/suspension': lifting,
  'DELETE /api/users/{id}/suspension, of a suspended user': {
    ...lifting,
    withSessions: {
      ...suspension,
      operations: ['read', 'transaction'],
      details: { suspended: false },
      isSuspended: true,
    },
  },
  'POST /api/users/{id}/invitations': {
    caller: 'admin',
    json: () => ({ language: 'de' }),
    operations: ['read'],
    scope: 'users:write',
    status: 409,
    message: 'Already has a way in',
    faultEntry: 'UPDATE FAILURE',
  },
  'POST /api/machines': {
    ...ofMachines,
    json: () => ({ name: 'Billing', scopes: ['client-address'] }),
    operations: ['write', 'transaction'],
    entry: 'CREATE SUCCESS',
    details: { scopes: ['client-address'], expires_at: null },
    faultEntry: 'CREATE FAILURE',
  },
  'GET /api/machines': { ...forReaders, operations: ['read'] },
  'GET /api/machines/{machine}': { ...forReaders, operations: ['read'], wantsMachine: true },
  'PUT /api/machines/{machine}': {
    ...ofMachines,
    json: () => ({ name: 'Shop' }),
    operations: ['read', 'transaction'],
    entry: 'UPDATE SUCCESS',
    details: { fields: ['name'] },
    faultEntry: 'UPDATE FAILURE',
    wantsMachine: true,
  },
  'DELETE /api/machines/{machine}': {
    ...ofMachines,
    operations: ['read', 'transaction'],
    entry: 'DELETE SUCCESS',
    details: { scopes: ['client-address'], expires_at: null },
    faultEntry: 'DELETE FAILURE',
    wantsMachine: true,
  },
  'POST /api/machines/{machine}/keys': {
    ...ofMachines,
    json: () => ({}),
    operations: ['read', 'transaction'],
    entry: 'UPDATE SUCCESS',
    details: { fields: ['keys'] },
    faultEntry: 'UPDATE FAILURE',
    wantsMachine: true,
  },
  'POST /api/admin/audit-logs': {
    caller: 'machine',
    scope: 'audit:write',
    headers: { 'idempotency-key': 'a-key' },
    json: () => ({ entries: [{ action: 'READ', resource: 'shop.orders', result: 'SUCCESS' }] }),
    operations: ['read', 'write'],
    wantsMachine: true,
  },
  'GET /api/admin/audit-logs': auditQuery,
  'GET /api/admin/audit-logs, of a user': { ...auditQuery, query: 'userId=1' },
  'GET /api/admin/audit-logs, of an action': { ...auditQuery, query: 'action=LOGIN' },
  'GET /api/admin/audit-logs, of both': { ...auditQuery, query: 'userId=1&action=LOGIN' },
  'GET /api/admin/audit-logs, of what happened to a user': { ...auditQuery, query: 'resourceId=1' },
  'GET /api/admin/audit-logs, about a user': { ...auditQuery, query: 'about=1' },
  'GET /api/admin/audit-logs, of failures': { ...auditQuery, query: 'result=FAILURE' },
  'GET /api/admin/audit-logs, of a resource': {
    ...auditQuery,
    query: 'resource=shop.orders',
    isSent: hasMachines,
  },
  'GET /api/admin/audit-logs, as CSV': {
    ...auditQuery,
    query: 'userId=1',
    headers: { accept: 'text/csv' },
    entry: 'EXPORT SUCCESS',
  },
  'GET /api/admin/audit-seal': { ...sealShown, scope: 'audit:read' },
  'GET /api/admin/audit-seal/entries/{entry}': {
    ...sealShown,
    status: 404,
    message: process.env.SERVICE_URL ? 'Audit entry not found' : 'The audit trail is not sealed',
    scope: 'audit:read',
  },
  'POST /api/admin/audit-seal/checks': sealShown,
  'GET /api/admin/settings': { ...forReaders, scope: 'audit:read' },
  'GET /api/v1/users': forAnyone,
  'POST /api/v1/users': { ...forAnyone, json: nameAndEmail },
  'GET /api/v1/users/{id}': forAnyone,
  'PUT /api/v1/users/{id}': { ...forAnyone, json: nameAndEmail },
  'PATCH /api/v1/users/{id}': { ...forAnyone, json: nameAndEmail },
  'DELETE /api/v1/users/{id}': forAnyone,
  'GET /.well-known/openid-configuration': forAnyone,
  'GET /.well-known/jwks.json': forAnyone,
  'GET /openapi.json': forAnyone,
  'HEAD /openapi.json': forAnyone,
  'GET /docs': forAnyone,
  'HEAD /docs': forAnyone,
  'GET /docs/{file}': { ...forAnyone, file: 'page.js' },
  'GET /': forAnyone,
  'GET /console': forAnyone,
  'GET /account/reset': forAnyone,
  'GET /account/verify': forAnyone,
  'GET /account/invitation': forAnyone,
  'GET /account/{page}': forAnyone,
  'GET /.well-known/change-password': forAnyone,
  'GET /console/{file}': { ...forAnyone, file: 'main.js' },
};

/** An example with its route. */
export interface ExampleRequest
  extends Omit<Example, 'readsFirst' | 'withSessions' | 'callerIfPrivate'> {
  /** The status of the response if nothing fails. */
  readonly status: number;
  readonly operations: readonly Operation[];
  /** The message of its 500 when one of its operations fails, and the name of a field in it. */
  readonly storageFault?: StorageFault | undefined;
  /** The name in lists: `POST /api/login, wrong password`. */
  readonly name: string;
  /** The route: `POST /api/login`. */
  readonly route: string;
  readonly method: HttpMethod;
  /** The path of the route: `/api/users/{id}`. */
  readonly path: string;
  readonly definition: FunctionDefinition;
  /** Whether a user or a session is read before anything else: if this read fails, the request leaves no entry. */
  readonly readsFirst: boolean;
}

const contracts = new Map(all.map((one) => [one.contract.route, one]));

const routeOf = (name: string) => name.split(',')[0];

const readingSession = (operations: readonly Operation[]): readonly Operation[] => [
  ...new Set<Operation>(['read', ...operations]),
];

/** The examples of a service with some settings, given as variables, in the order of its routes. */
export const exampleRequestsOf = (
  environment: Readonly<Record<string, string>>,
): readonly ExampleRequest[] => {
  const settings = configFrom(environment);
  const withThem = hasSessions(settings);
  const ofRoute = (definition: FunctionDefinition, method: HttpMethod, path: string) => {
    const route = `${method} ${path}`;
    const own = Object.entries(examples)
      .filter(([name]) => routeOf(name) === route)
      .filter(([, { isSent }]) => isSent?.(settings) ?? true);
    return own.map(([name, { withSessions, callerIfPrivate, ...example }]): ExampleRequest => {
      const { contract, describe } = contracts.get(`${method} /${path.slice(1)}`) as Endpoint;
      const readsSession = withThem && example.caller !== 'anyone';
      const asked = { ...example, ...(withThem ? withSessions : {}) };
      const isPrivate = settings.accounts === 'private';
      const { operations = [] } = asked;
      return {
        status: describe(settings).success.status,
        storageFault: contract.storageFault,
        readsFirst: readsSession,
        ...asked,
        caller: (isPrivate && callerIfPrivate) || example.caller,
        name,
        route,
        method,
        path,
        definition,
        operations: readsSession ? readingSession(operations) : operations,
      };
    });
  };
  return functionsInForce(settings).flatMap((definition) =>
    definition.routes.flatMap(({ method, path }) => ofRoute(definition, method, path)),
  );
};

const routes = functions.flatMap((definition) =>
  definition.routes.map(({ method, path }) => `${method} ${path}`),
);
for (const [missing, names] of Object.entries({
  'No example in test/support/examples.ts': routes.filter((route) => !(route in examples)),
  'No contract, or no line in infra/uses.ts, of the route of the example': Object.keys(
    examples,
  ).filter((name) => !routes.includes(routeOf(name) ?? '')),
})) {
  if (names.length > 0) throw new Error(`${missing}: ${names.join(', ')}`);
}

/** All examples of the default settings. */
export const exampleRequests: readonly ExampleRequest[] = exampleRequestsOf({});

/** One example for each route. */
export const endpointsIn = (requests: readonly ExampleRequest[]): readonly ExampleRequest[] =>
  requests.filter(({ name, route }) => name === route);

/** One example for each route with the default settings. */
export const endpoints = endpointsIn(exampleRequests);

/** The fields of the bodies that the examples of a route send. */
export const fieldsOf = (route: string, subject: Subject): readonly string[] => {
  const own = exampleRequests.filter((example) => example.route === route);
  return [...new Set(own.flatMap(({ json }) => Object.keys(json?.(subject) ?? {})))];
};

/** The id that replaces `{id}` in the path. */
export const idIn = ({ definition }: ExampleRequest, { account, memoryId }: Subject): string =>
  String(definition.uses.has('memory') ? memoryId : account.id);

/** The names of the files of all pages, by the names of their sources. */
const staticFiles: Readonly<Record<string, string>> = Object.assign(
  {},
  ...['docs', 'console'].map((page) =>
    JSON.parse(readFileSync(join(staticFilesFolder(), page, 'names.json'), 'utf8')),
  ),
);

/** The session of an account, which `{session}` in a path names. */
export const sessionIn = ({ token }: Pick<Account, 'token'>): string =>
  String(decodeProtectedHeader(token).session);

/** The path in which the values replace the parameters. */
const pathOf = (
  { path, file = '' }: ExampleRequest,
  { account, machineId = 0 }: Subject,
  id: string,
): string =>
  path
    .replace('{id}', id)
    .replace('{identity}', 'nobodys')
    .replace('{passkey}', 'nobodys')
    .replace('{machine}', String(machineId))
    .replace('{entry}', '1')
    .replace('{session}', () => sessionIn(account))
    .replace('{page}', 'reset%23token=1.a')
    .replace('{file}', staticFiles[file] ?? '');

/** The token with which the example is sent. */
export const tokenFor = ({ caller }: ExampleRequest, subject: Subject): string | undefined => {
  if (caller === 'anyone') return undefined;
  if (caller === 'machine') return subject.machineKey;
  return caller === 'admin' ? subject.admin : subject.account.token;
};

interface SendOptions {
  readonly headers?: Readonly<Record<string, string>>;
  /** Absent: the token of a caller who may call the endpoint; null: no token. */
  readonly token?: string | null;
  /** Absent: the id of the subject. */
  readonly id?: string;
  /** Changes the body, if there is one: returns the fields that are added or replaced. */
  readonly fields?: (json: object) => object;
}

/** Sends an example. */
export const sendExample = (
  api: ApiClient,
  example: ExampleRequest,
  subject: Subject,
  { headers = {}, token, id = idIn(example, subject), fields = () => ({}) }: SendOptions = {},
): Promise<ApiAnswer> => {
  const { method, query, json, headers: own } = example;
  const bearer = token === undefined ? tokenFor(example, subject) : token;
  const body = json?.(subject);
  return api(method, pathOf(example, subject, id) + (query ? `?${query}` : ''), {
    headers: { ...own, ...headers },
    ...(bearer ? { token: bearer } : {}),
    ...(body ? { json: { ...body, ...fields(body) } } : {}),
  });
};

/** Makes a user an admin, and logs the user in. */
export const promote = async (api: ApiClient, token: string, user: Account): Promise<Account> => {
  await api('PUT', `/api/users/${user.id}`, { token, json: { role: 'admin' } });
  return { ...user, token: await logIn(api, user) };
};

/** Makes a user an auditor, which applies to the user's session at once. */
export const appoint = async (api: ApiClient, token: string, user: Account): Promise<Account> => {
  const { status } = await api('PUT', `/api/users/${user.id}`, { token, json: { auditor: true } });
  if (status !== 200) throw new Error(`The appointment answered ${status}`);
  return user;
};

/**
 * Makes a subject on which only one example acts; to be called while nothing fails.
 * @param example absent: the subject suits any example that needs nothing special
 */
export const prepareSubject = async (
  { api, environment }: Pick<TestService, 'api' | 'environment'>,
  admin: string,
  example?: ExampleRequest,
): Promise<Subject> => {
  const user = await register(api, { password: `pass-word-${randomUUID()}` });
  await registrationMailed(environment, user.id);
  if (example?.wantsVerified) await markVerified(environment, user.id);
  const account = example?.isAdmin ? await promote(api, admin, user) : user;
  if (example?.isSuspended) {
    await api('PUT', `/api/users/${account.id}/suspension`, { token: admin });
  }
  if (example?.wantsMachine) {
    const scope = example.caller === 'machine' ? 'audit:write' : 'client-address';
    const { id: machineId, key: machineKey } = await makeMachine(api, admin, [scope]);
    return { account, admin, memoryId: 0, machineId, machineKey };
  }
  if (example?.takesToken) {
    const linkToken = await plantLinkToken(environment, account.id, { kind: example.takesToken });
    return { account, admin, memoryId: 0, linkToken };
  }
  if (example && !example.definition.uses.has('memory')) return { account, admin, memoryId: 0 };
  const { status, body } = await api('POST', '/api/v1/users', { json: nameAndEmail() });
  if (status !== 201) throw new Error(`Creation answered ${status} ${JSON.stringify(body)}`);
  return { account, admin, memoryId: body.id };
};

/** The event with which the gateway would invoke a function for an example. */
export const exampleEvent = (example: ExampleRequest, subject: Subject): APIGatewayProxyEventV2 => {
  const { method, path: route, query, json, headers, file } = example;
  const id = idIn(example, subject);
  const token = tokenFor(example, subject);
  const session = route.includes('{session}') ? { session: sessionIn(subject.account) } : {};
  return gatewayEvent({
    method,
    route,
    path: pathOf(example, subject, id),
    ...(route.includes('{id}') ? { pathParameters: { id, ...session } } : {}),
    ...(route.includes('{machine}')
      ? { pathParameters: { machine: String(subject.machineId) } }
      : {}),
    ...(file ? { pathParameters: { file: staticFiles[file] ?? '' } } : {}),
    query: query === undefined ? undefined : Object.fromEntries(new URLSearchParams(query)),
    ...(headers ? { headers } : {}),
    token,
    json: json?.(subject),
  });
};
