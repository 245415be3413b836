/** What holds every response of the tests against the document: test/support/contract.ts. */
import { describe, expect, it } from 'vitest';
import { buildDocument } from '../../lib/contract/document.ts';
import { configFrom } from '../../lib/settings.ts';
import { checkAgainst, type Exchange } from './contract.ts';

type Json = Readonly<Record<string, unknown>>;

const document = buildDocument(configFrom({}), '/');
const common = { 'cache-control': 'no-store', 'x-request-id': 'abcdefgh' };
const json = { ...common, 'content-type': 'application/json; charset=utf-8' };
const user = {
  id: 1,
  name: 'n',
  email: 'a@b',
  role: 'user',
  created_at: '2026-11-21T09:05:00.000Z',
};

const exchange = (
  status: number,
  body: Json | string,
  { method = 'GET', path = '/api/users/1', headers = json }: Partial<Request> = {},
): Exchange => ({
  method,
  path,
  status,
  headers: new Headers(headers),
  text: typeof body === 'string' ? body : JSON.stringify(body),
});
interface Request {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
}

const check = checkAgainst(document);
const gateway = { 'content-type': 'application/json' };
const problem = {
  ...common,
  'content-type': 'application/problem+json',
  'error-code': 'TOKEN_INVALID',
};
const invalid = {
  type: '/docs#TOKEN_INVALID',
  title: 'Invalid token',
  status: 401,
  code: 'TOKEN_INVALID',
};
const challenge = { 'www-authenticate': 'Bearer' };
/** The headers of an error in JSON. */
const error = (code: string) => ({ ...json, 'error-code': code });
const deleted = { method: 'DELETE', headers: common };

describe('The document promises', () => {
  it.each<[string, Exchange]>([
    ['a user', exchange(200, user)],
    [
      'an error with a message of its operation',
      exchange(404, { message: 'User not found' }, { headers: error('USER_NOT_FOUND') }),
    ],
    [
      'an error as problem details',
      exchange(401, invalid, { headers: { ...problem, ...challenge } }),
    ],
    ['no body', exchange(204, '', deleted)],
    [
      '404 of the gateway where no route is',
      exchange(404, { message: 'Not Found' }, { path: '/api/other', headers: gateway }),
    ],
    [
      '413 of the gateway',
      exchange(413, { message: 'Request Entity Too Large' }, { headers: gateway }),
    ],
    ['a preflight', exchange(204, '', { method: 'OPTIONS', headers: {} })],
  ])('%s', (_, response) => {
    expect(() => check(response)).not.toThrow();
  });
});

describe('The document does not promise', () => {
  it.each<[string, RegExp, Exchange]>([
    [
      'a status of no example',
      /status is not documented/,
      exchange(409, { message: 'User not found' }),
    ],
    [
      'a field that it does not name',
      /additional properties/,
      exchange(200, { ...user, hash: 'x' }),
    ],
    ['a field less', /required property 'role'/, exchange(200, { ...user, role: undefined })],
    [
      'a value of another form',
      /format "date-time"/,
      exchange(200, { ...user, created_at: 'now' }),
    ],
    [
      'another message',
      /error with the code USER_NOT_FOUND is none of/,
      exchange(404, { message: 'Not here' }, { headers: error('USER_NOT_FOUND') }),
    ],
    [
      'an error whose header has another code',
      /error with the code TOKEN_EXPIRED is none of/,
      exchange(401, invalid, {
        headers: { ...problem, ...challenge, 'error-code': 'TOKEN_EXPIRED' },
      }),
    ],
    [
      'an error without its code',
      /header Error-Code is missing/,
      exchange(404, { message: 'User not found' }),
    ],
    [
      'another field of a fault',
      /error with the code STORAGE_FAULT is none of/,
      exchange(
        500,
        { message: 'Error fetching user', hashErr: 'E' },
        { headers: error('STORAGE_FAULT') },
      ),
    ],
    [
      'another code',
      /error with the code TOKEN_INVALID is none of/,
      exchange(401, { ...invalid, code: 'NO' }, { headers: { ...problem, ...challenge } }),
    ],
    [
      'an error without its header',
      /header WWW-Authenticate is missing/,
      exchange(401, { message: 'Invalid token' }, { headers: error('TOKEN_INVALID') }),
    ],
    [
      'a header that other responses have',
      /header Link is not documented/,
      exchange(200, user, { headers: { ...json, link: '<x>' } }),
    ],
    [
      'a header of another form',
      /Retry-After must be integer/,
      exchange(
        429,
        { message: 'Too many attempts, please try again later' },
        { method: 'POST', path: '/api/login', headers: { ...json, 'retry-after': 'soon' } },
      ),
    ],
    [
      'another content type',
      /content type text\/html/,
      exchange(200, '<p>', { headers: { ...common, 'content-type': 'text/html' } }),
    ],
    ['a body where there is none', /There is a body/, exchange(204, '{}', deleted)],
    [
      '404 of the gateway where a route is',
      /API Gateway/,
      exchange(404, { message: 'Not Found' }, { headers: gateway }),
    ],
    [
      'a function’s response where no route is',
      /API Gateway/,
      exchange(200, user, { path: '/api/other' }),
    ],
  ])('%s', (_, reason, response) => {
    expect(() => check(response)).toThrow(reason);
  });

  it('a response that a change of the document no longer names', () => {
    const changed = JSON.parse(JSON.stringify(document));
    delete changed.paths['/api/users/{id}'].get.responses[404];

    const checkAgainstChanged = checkAgainst(changed);

    expect(() => checkAgainstChanged(exchange(404, { message: 'User not found' }))).toThrow(
      'The status is not documented',
    );
  });
});
