/** A run of everything that the service does, which remembers every secret that passes. */
import { randomUUID } from 'node:crypto';
import { inject } from 'vitest';
import { type ApiClient, logIn, uniqueEmail } from '../support/client.ts';
import {
  exampleRequestsOf,
  prepareSubject,
  type Subject,
  sendExample,
} from '../support/examples.ts';
import { type EngineProxy, faults, startProxy } from '../support/proxy.ts';
import { plantLinkToken } from '../support/reset-tokens.ts';
import { startTestService, type TestService } from '../support/service.ts';
import { scan, usersIn } from '../support/stored-items.ts';
import { claimsWith, now, signToken } from '../support/tokens.ts';
import type { Places, Secret } from './search.ts';

const secretFields = [
  'password',
  'currentPassword',
  'token',
  'refreshToken',
  'code',
  'secret',
  'apiKey',
  'creditCard',
];

export interface Run {
  readonly service: TestService;
  readonly proxy: EngineProxy;
  readonly secrets: readonly Secret[];
  readonly call: ApiClient;
  /** Whom the examples act on, made while all is well. */
  readonly subject: Subject;
  /** Everything that was written or answered, after the service has stopped. */
  readonly end: () => Promise<Places>;
}

/** @param environment settings of the service */
export const startRun = async (
  environment: Readonly<Record<string, string>> = {},
): Promise<Run> => {
  const proxy = await startProxy(inject('engine'));
  const service = await startTestService({ AWS_ENDPOINT_URL_DYNAMODB: proxy.url, ...environment });
  const secrets: Secret[] = [
    { kind: 'signing secret', value: service.jwtSecret },
    { kind: 'password', value: service.admin.password },
  ];
  const answers: string[] = [];
  const remember = (kind: string, value: unknown) => {
    if (value) secrets.push({ kind, value: String(value) });
  };
  const call: Run['call'] = async (method, path, options = {}) => {
    const sent = Object.entries((options.json ?? {}) as object);
    const typed = sent.filter(([field]) => secretFields.includes(field));
    for (const [, value] of typed) remember('password', value);
    remember('token', options.token);
    const answer = await service.api(method, path, options);
    const {
      token,
      refreshToken,
      key,
      secret,
      uri: _,
      recoveryCodes = [],
      ...rest
    } = answer.body ?? {};
    // The key of a machine is shown only in the response to the request that makes it.
    for (const given of [token, refreshToken, key]) remember('token', given);
    for (const given of [secret, ...recoveryCodes]) remember('secret', given);
    answers.push(JSON.stringify([rest, [...answer.headers]]));
    return answer;
  };
  const end = async () => {
    await service.stop();
    const { USERS_TABLE: users = '', AUDIT_TABLE: audit = '' } = service.environment;
    const items = await scan(inject('engine'), users);
    const entries = await scan(inject('engine'), audit);
    await proxy.stop();
    for (const { password_hash } of usersIn(items)) remember('hash', password_hash);
    return {
      'the output': service.output(),
      'the users table': JSON.stringify(items.map(({ password_hash: _, ...rest }) => rest)),
      'the audit table': JSON.stringify(entries),
      'an answer': answers.join('\n'),
    };
  };
  const admin = await logIn(call, service.admin);
  const account = await prepareSubject({ ...service, api: call }, admin);
  const subject = environment.MAIL_FROM
    ? { ...account, linkToken: await plantLinkToken(service.environment, account.account.id) }
    : account;
  return { service, proxy, secrets, call, subject, end };
};

const distinctive = (before = '') => `${before}${randomUUID()}`;

/** Sends every example, and requests that are refused with a secret in them. */
export const callEverything = async ({
  call,
  service,
  subject,
}: Run): Promise<readonly number[]> => {
  const statuses: number[] = [];
  const ask: Run['call'] = async (...request) => {
    const answer = await call(...request);
    statuses.push(answer.status);
    return answer;
  };
  const post = async (path: string, ...bodies: readonly object[]) => {
    for (const json of bodies) await ask('POST', path, { json });
  };
  const user = { name: 'Ada', email: uniqueEmail(), password: distinctive() };
  const longUser = { ...user, email: uniqueEmail(), password: distinctive('\0é'.repeat(40)) };
  const { body: registered } = await ask('POST', '/api/auth/register', { json: user });
  await post(
    '/api/auth/register',
    longUser,
    { ...user, password: distinctive() },
    { password: distinctive() },
    { ...user, password: distinctive().repeat(9) },
  );
  await ask('POST', '/api/auth/register', { body: `{"password":"${user.password}"` });
  await post(
    '/api/login',
    user,
    longUser,
    { ...user, password: `${user.password} ` },
    { ...user, apiKey: distinctive(), secret: distinctive(), password: distinctive() },
    // People type a password where the address belongs.
    { email: longUser.password, password: longUser.password },
    { email: distinctive(), password: [user.password] },
  );
  const { body: loggedIn } = await ask('POST', '/api/login', { json: service.admin });

  const admin = loggedIn?.token ?? distinctive();
  const token = registered?.token ?? distinctive();
  const wrongTokens = [
    signToken(claimsWith({ role: 'admin' }), distinctive()),
    signToken(claimsWith({ exp: now() - 10 }), service.jwtSecret),
    signToken(claimsWith({ role: 'root' }), service.jwtSecret),
    `${token.slice(0, -3)}AAA`,
  ];
  for (const wrong of wrongTokens) await ask('GET', '/api/profile', { token: wrong });
  await ask('GET', '/api/profile', { headers: { authorization: `Basic ${token}` } });

  const created = { name: 'Eve', email: uniqueEmail(), password: distinctive() };
  const { body: made } = await ask('POST', '/api/users', { token, json: created });
  await ask('POST', '/api/users', { token, json: { ...created, role: 'admin' } });
  const path = `/api/users/${made?.id ?? 1}`;
  await ask('PUT', path, { token: admin, json: { password: distinctive(), role: 'root' } });
  await ask('PUT', path, { token, json: { password: distinctive() } });
  await ask('GET', '/api/admin/audit-logs?action=SHRED', { token: admin });
  await ask('GET', '/api/nowhere', { token });
  const { email } = subject.account;
  if (subject.linkToken) {
    await ask('POST', '/api/password-resets', { json: { email } });
    const wrong = { currentPassword: distinctive(), email: uniqueEmail() };
    await ask('PUT', `/api/users/${subject.account.id}`, { token, json: wrong });
    await ask('POST', '/api/account-deletions', { token, json: wrong });
    await ask('POST', '/api/refresh', { json: { refreshToken: `${registered?.refreshToken}x` } });
    const json = { token: subject.linkToken, password: distinctive() };
    await ask('PUT', '/api/email-verifications', { json });
  }
  // Where there are sessions, an example may end the session of its subject.
  const isOwn = service.environment.SESSION_DAYS && registered?.token;
  for (const example of exampleRequestsOf(service.environment)) {
    const own = isOwn ? await prepareSubject({ ...service, api: call }, admin, example) : subject;
    await sendExample(ask, example, own);
  }
  return statuses;
};

/** Faults of the engine whose errors may quote data that were sent or read. */
export const lastingFaults = [
  faults.garble,
  faults.truncate,
  faults.missingTable,
  faults.internalError,
] as const;
