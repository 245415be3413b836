/** Tests test/support/contract.ts, which compares every response of the tests with the document. */
import { expect, it } from 'vitest';
import { configFrom } from '../../lib/ground/settings.ts';
import { checkAgainst } from './contract.ts';
import { documentFor } from './document.ts';

const check = checkAgainst(documentFor(configFrom({}), '/'));

interface Response {
  readonly method: string;
  readonly path: string;
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: object | string;
}

const hold = ({ headers, body, ...response }: Response): void => {
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  check({ ...response, headers: new Headers(headers), text });
};

const get = { method: 'GET', path: '/api/users/1' } as const;
const common = { 'cache-control': 'no-store', 'x-request-id': 'abcdefgh' };
const json = { ...common, 'content-type': 'application/json; charset=utf-8' };
const ofGateway = { 'content-type': 'application/json' };
const ofProblem = { ...common, 'content-type': 'application/problem+json' };
const code = (name: string) => ({ 'error-code': name });
const ada = {
  id: 1,
  name: 'n',
  email: 'a@b',
  role: 'user',
  created_at: '2026-11-21T09:05:00.000Z',
};
const notThere = { message: 'User not found' };
const invalid = {
  type: '/docs#TOKEN_INVALID',
  title: 'Invalid token',
  status: 401,
  code: 'TOKEN_INVALID',
};
const bearer = { 'www-authenticate': 'Bearer' };

const user: Response = { ...get, status: 200, headers: json, body: ada };
const error: Response = {
  ...get,
  status: 404,
  headers: { ...json, ...code('USER_NOT_FOUND') },
  body: notThere,
};
const problem: Response = {
  ...get,
  status: 401,
  headers: { ...ofProblem, ...code('TOKEN_INVALID'), ...bearer },
  body: invalid,
};
const noBody: Response = { ...get, method: 'DELETE', status: 204, headers: common, body: '' };
const noRoute: Response = {
  ...get,
  path: '/api/other',
  status: 404,
  headers: ofGateway,
  body: { message: 'Not Found' },
};
const tooLarge = { message: 'Request Entity Too Large' };
const hashError = { message: 'Error fetching user', hashErr: 'E' };
const tooMany = { message: 'Too many attempts, please try again later' };
const soon = { 'retry-after': 'soon', ...code('TOO_MANY_ATTEMPTS') };

it.each<[string, Response]>([
  ['user', user],
  ['error', error],
  ['problem details', problem],
  ['response without a body', noBody],
  ['response 404 of the gateway for an unknown route', noRoute],
  ['response 413 of the gateway', { ...get, status: 413, headers: ofGateway, body: tooLarge }],
  [
    'response to a preflight request',
    { ...get, method: 'OPTIONS', status: 204, headers: {}, body: '' },
  ],
])('The document promises a %s', (_, response) => {
  expect(() => hold(response)).not.toThrow();
});

// biome-ignore format: a table
it.each<[string, RegExp, Response]>([
  ['a status without an example', /status is not documented/, { ...error, status: 409 }],
  ['a field that it does not name', /additional properties/, { ...user, body: { ...ada, hash: 'x' } }],
  ['a response without a field', /required property 'role'/, { ...user, body: { ...ada, role: undefined } }],
  ['a value in another format', /"date-time"/, { ...user, body: { ...ada, created_at: 'now' } }],
  ['another message', /USER_NOT_FOUND is none of/, { ...error, body: { message: 'Not here' } }],
  ['an error whose header has another code', /TOKEN_EXPIRED is none of/, { ...problem, headers: { ...problem.headers, ...code('TOKEN_EXPIRED') } }],
  ['an error without its code', /header Error-Code is missing/, { ...error, headers: json }],
  ['another field of a fault', /STORAGE_FAULT is none of/, { ...error, status: 500, headers: { ...json, ...code('STORAGE_FAULT') }, body: hashError }],
  ['another code', /TOKEN_INVALID is none of/, { ...problem, body: { ...invalid, code: 'NO' } }],
  ['an error without its header', /header WWW-Authenticate is missing/, { ...problem, headers: { ...ofProblem, ...code('TOKEN_INVALID') } }],
  ['a header of other responses', /header Link is not documented/, { ...user, headers: { ...json, link: '<x>' } }],
  ['a header in another format', /Retry-After must be integer/, { method: 'POST', path: '/api/login', status: 429, headers: { ...json, ...soon }, body: tooMany }],
  ['another content type', /content type text\/html/, { ...user, headers: { ...json, 'content-type': 'text/html' } }],
  ['a body of a response without a body', /There is a body/, { ...noBody, body: '{}' }],
  ['a response 404 of the gateway for a known route', /API Gateway/, { ...noRoute, path: user.path }],
  ['a response of a function for an unknown route', /API Gateway/, { ...user, path: noRoute.path }],
])('The document does not promise %s', (_, reason, response) => {
  expect(() => hold(response)).toThrow(reason);
});
