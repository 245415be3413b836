/** What holds every response of the tests against the document: test/support/contract.ts. */
import { describe, expect, it } from 'vitest';
import { documentFor } from '../../functions/docs/document.ts';
import { configFrom } from '../../lib/ground/settings.ts';
import { checkAgainst, type Exchange } from './contract.ts';

const document = documentFor(configFrom({}), '/');
const check = checkAgainst(document);

const common = { 'cache-control': 'no-store', 'x-request-id': 'abcdefgh' };
const json = { ...common, 'content-type': 'application/json; charset=utf-8' };
const gateway = { 'content-type': 'application/json' };
const user = {
  id: 1,
  name: 'n',
  email: 'a@b',
  role: 'user',
  created_at: '2026-11-21T09:05:00.000Z',
};
const problem = {
  type: '/docs#TOKEN_INVALID',
  title: 'Invalid token',
  status: 401,
  code: 'TOKEN_INVALID',
};
const problemHeaders = {
  ...common,
  'content-type': 'application/problem+json',
  'error-code': 'TOKEN_INVALID',
  'www-authenticate': 'Bearer',
};

interface Sent {
  readonly method?: string;
  readonly path?: string;
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string | undefined>>;
  readonly body?: object | string;
}

/** Responses that the document promises. */
const sound = {
  user: { status: 200, headers: json, body: user },
  error: {
    status: 404,
    headers: { ...json, 'error-code': 'USER_NOT_FOUND' },
    body: { message: 'User not found' },
  },
  'problem details': { status: 401, headers: problemHeaders, body: problem },
  'no body': { method: 'DELETE', status: 204, headers: common, body: '' },
  '404 of the gateway where no route is': {
    path: '/api/other',
    status: 404,
    headers: gateway,
    body: { message: 'Not Found' },
  },
  '413 of the gateway': {
    status: 413,
    headers: gateway,
    body: { message: 'Request Entity Too Large' },
  },
  preflight: { method: 'OPTIONS', status: 204, headers: {}, body: '' },
} as const satisfies Readonly<Record<string, Sent>>;
type Name = keyof typeof sound;

/** One of them, with something changed. */
const exchange = (name: Name, { headers = {}, body, ...changes }: Sent = {}): Exchange => {
  const {
    headers: own,
    body: content,
    ...rest
  }: Required<Pick<Sent, 'headers' | 'body'>> & Sent = sound[name];
  const isText = typeof content === 'string' || typeof body === 'string';
  const sent = isText ? (body ?? content) : { ...content, ...(body as object | undefined) };
  const given = Object.entries({ ...own, ...headers }).filter(([, value]) => value !== undefined);
  return {
    method: 'GET',
    path: '/api/users/1',
    status: 200,
    ...rest,
    ...changes,
    headers: new Headers(given as [string, string][]),
    text: typeof sent === 'string' ? sent : JSON.stringify(sent),
  };
};

describe('The document', () => {
  it.each(Object.keys(sound) as Name[])('promises: %s', (name) => {
    expect(() => check(exchange(name))).not.toThrow();
  });

  it.each<[string, RegExp, Name, Sent]>([
    ['a status of no example', /status is not documented/, 'error', { status: 409 }],
    ['a field that it does not name', /additional properties/, 'user', { body: { hash: 'x' } }],
    ['a field less', /required property 'role'/, 'user', { body: { role: undefined } }],
    ['a value of another form', /"date-time"/, 'user', { body: { created_at: 'now' } }],
    ['another message', /USER_NOT_FOUND is none of/, 'error', { body: { message: 'Not here' } }],
    [
      'an error whose header has another code',
      /TOKEN_EXPIRED is none of/,
      'problem details',
      { headers: { 'error-code': 'TOKEN_EXPIRED' } },
    ],
    [
      'an error without its code',
      /header Error-Code is missing/,
      'error',
      { headers: { 'error-code': undefined } },
    ],
    [
      'another field of a fault',
      /STORAGE_FAULT is none of/,
      'error',
      {
        status: 500,
        headers: { 'error-code': 'STORAGE_FAULT' },
        body: { message: 'Error fetching user', hashErr: 'E' },
      },
    ],
    ['another code', /TOKEN_INVALID is none of/, 'problem details', { body: { code: 'NO' } }],
    [
      'an error without its header',
      /header WWW-Authenticate is missing/,
      'problem details',
      { headers: { 'www-authenticate': undefined } },
    ],
    [
      'a header that other responses have',
      /header Link is not documented/,
      'user',
      { headers: { link: '<x>' } },
    ],
    [
      'a header of another form',
      /Retry-After must be integer/,
      'error',
      {
        method: 'POST',
        path: '/api/login',
        status: 429,
        headers: { 'retry-after': 'soon', 'error-code': 'TOO_MANY_ATTEMPTS' },
        body: { message: 'Too many attempts, please try again later' },
      },
    ],
    [
      'another content type',
      /content type text\/html/,
      'user',
      { headers: { 'content-type': 'text/html' } },
    ],
    ['a body where there is none', /There is a body/, 'no body', { body: '{}' }],
    [
      '404 of the gateway where a route is',
      /API Gateway/,
      '404 of the gateway where no route is',
      { path: '/api/users/1' },
    ],
    ['a function’s response where no route is', /API Gateway/, 'user', { path: '/api/other' }],
  ])('does not promise %s', (_, reason, name, changes) => {
    expect(() => check(exchange(name, changes))).toThrow(reason);
  });
});
