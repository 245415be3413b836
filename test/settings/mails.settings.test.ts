/**
 * Tests how the mails of each route are counted, and whether its caller is told of the limits. The limits themselves
 * have their tables in test/lib/options/mails. A way to send mails is a call of a function that
 * lib/options/mails/hand-over.ts exports, or of `requestMailOrTell`. A route belongs to a function that may invoke the
 * mail function. Whoever adds such a call or such a route adds a row.
 */
import { randomBytes, randomUUID } from 'node:crypto';
import { globSync, readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { beforeEach, describe, expect, inject, it, vi } from 'vitest';
import { handler as sendMail } from '../../functions/background/send-mail.ts';
import { functions } from '../../infra/uses.ts';
import type { Handler } from '../../lib/http/request.ts';
import { makeLinkToken, resetLink } from '../../lib/options/links/mailed-link.ts';
import { requestMailOrTell } from '../../lib/options/mails/announced-limits.ts';
import * as handOver from '../../lib/options/mails/hand-over.ts';
import { countForSource, type MailCause } from '../../lib/options/mails/sources.ts';
import { creationOptions, loginOptions } from '../../lib/options/passkeys/credential.ts';
import { makeHandle } from '../../lib/options/passkeys/passkeys.ts';
import { addressAwaited } from '../../lib/options/verified-addresses/address-link.ts';
import { unmatchableHash } from '../../lib/users/user.ts';
import { uniqueEmail } from '../support/client.ts';
import { gatewayEvent } from '../support/event.ts';
import { identitySettings, newPerson, startIssuer } from '../support/issuer.ts';
import { mailingFunctionForThisFile } from '../support/mailbox.ts';
import { newPasskey, passkeySettings } from '../support/passkeys.ts';
import { scan } from '../support/stored-items.ts';
import { setFields } from '../support/stored-user.ts';
import { verificationSettings } from '../support/verification.ts';
import {
  callerOf,
  current,
  enrolling,
  nobody,
  password,
  proofOf,
  somebody,
  withFactor,
  withIdentity,
  withPasskey,
} from './mails/subjects.ts';

const issuer = await startIssuer();
const { mailbox, tables, logged } = await mailingFunctionForThisFile(
  ({ environment, handOver: handingOver }) => ({
    ...environment,
    ...handingOver,
    JWT_SECRET: 'x'.repeat(40),
    BCRYPT_COST: '4',
    SESSION_DAYS: '90',
    SECOND_FACTOR: 'optional',
    SECOND_FACTOR_LOCAL_KEY: randomBytes(32).toString('base64'),
  }),
);

const usual = {
  ...verificationSettings.on,
  ACCOUNTS: 'open',
  LOGIN_FAILURES_PER_ADDRESS: '1000',
  IDENTITY_PROVIDERS: identitySettings(issuer).IDENTITY_PROVIDERS,
  PASSKEYS: passkeySettings.PASSKEYS,
};
const verifyingNothing = { EMAIL_VERIFICATION: 'off' };
const hiding = { EMAIL_VERIFICATION: 'required', ACCOUNTS: 'private' };

/** `invokeBy` only determines how messages are handed over, and hands none over. */
const { invokeBy: _, ...handingOver } = handOver;
const ways = { ...handingOver, requestMailOrTell };

interface Sent {
  readonly token?: string;
  readonly json?: object;
  /** The parameters of the path. */
  readonly id?: number;
  readonly identity?: string;
  readonly passkey?: string;
}

interface Row {
  readonly route: string;
  /** The function that is called, and the function that makes its argument. */
  readonly way: keyof typeof ways | `${keyof typeof ways}(${keyof typeof ways})`;
  /** The kind of the mail that is sent to the address. */
  readonly kind: 'reset' | 'verification' | 'notice';
  /** The cause under which the mails of a source are counted. */
  readonly cause: MailCause;
  /** Whether the caller is told if no mail is sent. */
  readonly isTold: boolean;
  readonly settings: Readonly<Record<string, string>>;
  /** Prepares the request that causes a mail to an address. It can be called repeatedly. */
  readonly prepare: (email: string) => Promise<Sent>;
}

/**
 * @param subject makes the user who has the address
 * @param request makes the request about this user
 */
function row<Subject>(
  route: string,
  way: Row['way'],
  kind: Row['kind'],
  options: Partial<Pick<Row, 'cause' | 'isTold' | 'settings'>>,
  subject: (email: string) => Promise<Subject>,
  request: (subject: Subject) => Sent | Promise<Sent>,
): Row {
  const prepare = async (email: string) => request(await subject(email));
  return { route, way, kind, cause: 'other', isTold: false, settings: {}, ...options, prepare };
}

/** The row of a change about which only a notice is mailed to the user. */
function notified<Subject>(
  route: string,
  cause: MailCause,
  subject: (email: string) => Promise<Subject>,
  request: (subject: Subject) => Sent | Promise<Sent>,
): Row {
  const options = { cause, settings: verifyingNothing };
  return row(route, 'tryToNotify', 'notice', options, subject, request);
}

const another = async (fields = {}) => somebody(uniqueEmail(), fields);
const admin = async () => (await another({ role: 'admin' })).token;
const byCode = ({ token, code }: { token: string; code: string }) => ({
  token,
  json: { ...current, code },
});
const registration = ({ email }: { email: string }) => ({ json: { name: 'Ada', email, password } });
const linked = (email: string) => withIdentity(email, issuer);

/** The link to a new address that the user has requested. */
const pendingLink = async ({ user }: Awaited<ReturnType<typeof somebody>>) => {
  const email = uniqueEmail();
  const { fields: waiting = {} } = addressAwaited(user, email);
  await setFields(user.id, waiting);
  const link = { kind: 'address', user, email, pendingId: waiting.pending_id } as const;
  return { json: { token: await makeLinkToken(link), password } };
};
/** A request by which another user changes to the address. */
const moveTo = async (email: string, fields = {}) => {
  const { id, token } = await another(fields);
  return { token, id, json: { email, ...current } };
};
const newPasskeyOf = async ({ user, token }: Awaited<ReturnType<typeof somebody>>) => {
  const options = await creationOptions(await callerOf(user, token), makeHandle(), 'test');
  return { token, json: { credential: newPasskey().make(options) } };
};
const adminWithFactor = async () => (await withFactor(uniqueEmail(), { role: 'admin' })).token;
const withoutWayIn = (email: string) => somebody(email, { password_hash: unmatchableHash() });
const told = { cause: 'admin', isTold: true } as const;

// biome-ignore format: a table
const rows: readonly Row[] = [
  row('POST /api/password-resets', 'requestMail(resetMessage)', 'reset', {},
    somebody, ({ email }) => ({ json: { email } })),
  row('POST /api/password-resets', 'requestMailOrTell(resetMessage)', 'reset', told,
    somebody, async ({ email }) => ({ token: await admin(), json: { email } })),
  row('POST /api/auth/register', 'tryToRemind', 'verification', { cause: 'registration' },
    nobody, registration),
  row('POST /api/auth/register', 'tryToMail(takenMessage)', 'reset', { cause: 'registration', settings: hiding },
    somebody, registration),
  row('POST /api/login', 'tryToRemind', 'verification', {},
    somebody, ({ email }) => ({ json: { email, password } })),
  row('POST /api/login/identity', 'tryToRemind', 'verification', {},
    linked, async ({ sub }) => ({ json: await proofOf(issuer, { sub }) })),
  row('POST /api/login/passkey', 'tryToRemind', 'verification', {},
    withPasskey, async ({ passkey, userHandle }) => ({ json: { credential: passkey.use(await loginOptions(), { userHandle }) } })),
  row('POST /api/email-verifications', 'requestMailOrTell(verificationMessage)', 'verification', { isTold: true },
    somebody, ({ token }) => ({ token })),
  row('POST /api/users', 'tryToMail(invitationMessage)', 'reset', told,
    nobody, async ({ email }) => ({ token: await admin(), json: { name: 'Ada', email, invite: true } })),
  row('POST /api/users/{id}/invitations', 'requestMailOrTell(invitationMessage)', 'reset', told,
    withoutWayIn, async ({ id }) => ({ token: await admin(), id, json: {} })),
  row('PUT /api/users/{id}', 'tryToMail(pendingMessage)', 'verification', {},
    nobody, ({ email }) => moveTo(email)),
  row('PUT /api/users/{id}', 'tryToMail(pendingMessage)', 'reset', { settings: hiding },
    somebody, ({ email }) => moveTo(email, { email_verified: true })),
  row('PUT /api/users/{id}', 'tryToNotify(changedParts)', 'notice', { cause: 'admin' },
    somebody, async ({ id }) => ({ token: await admin(), id, json: { password: 'another' } })),
  row('PUT /api/password-resets', 'tryToNotify(changedParts)', 'notice', { settings: verifyingNothing },
    somebody, async ({ user }) => ({ json: { token: await makeLinkToken(resetLink(user)), password: 'another' } })),
  row('PUT /api/email-verifications', 'tryToNotify(changedParts)', 'notice', {}, somebody, pendingLink),
  notified('PUT /api/second-factor', 'other', enrolling, ({ token, code }) => ({ token, json: { code } })),
  notified('POST /api/second-factor/recovery-codes', 'other', withFactor, byCode),
  notified('POST /api/second-factor/removals', 'other', withFactor, byCode),
  notified('DELETE /api/users/{id}/second-factor', 'admin', withFactor, async ({ id }) => ({ token: await adminWithFactor(), id })),
  notified('POST /api/identities', 'other',
    somebody, async ({ token }) => ({ token, json: { ...(await proofOf(issuer, newPerson())), ...current } })),
  notified('POST /api/identities/{identity}/removals', 'other',
    linked, ({ token, identity }) => ({ token, identity, json: current })),
  notified('DELETE /api/users/{id}/identities/{identity}', 'admin',
    linked, async ({ id, identity }) => ({ token: await admin(), id, identity })),
  notified('POST /api/passkeys', 'other', somebody, newPasskeyOf),
  notified('POST /api/passkeys/{passkey}/removals', 'other',
    withPasskey, ({ token, stored }) => ({ token, passkey: stored.id, json: current })),
  notified('POST /api/account-deletions', 'other', somebody, ({ token }) => ({ token, json: current })),
  notified('DELETE /api/users/{id}', 'admin', somebody, async ({ id }) => ({ token: await admin(), id })),
];

let lastSource = 0;
const newSource = () => {
  lastSource += 1;
  return `198.51.100.${lastSource}`;
};

const mailing = functions.filter((each) => each.uses.has('mail'));

/** Invokes the function of a route. @returns the status of its response, the code of the error, and the time to wait */
const send = async (route: string, sourceIp: string, { token, json, ...parameters }: Sent) => {
  const definition = mailing.find(({ routes }) => routes.some(({ key }) => key === route));
  const { handler }: { handler: Handler } = await import(resolve(definition?.entry ?? route));
  const [method = '', path = ''] = route.split(' ');
  const pathParameters = Object.fromEntries(
    Object.entries(parameters).map(([name, value]) => [name, String(value)]),
  );
  const event = gatewayEvent({ method, path, sourceIp, token, json, pathParameters });
  Object.assign(event.requestContext, { requestId: randomUUID() });
  const { statusCode, headers } = await handler(event, {});
  return [statusCode, headers?.['Error-Code'], headers?.['Retry-After']];
};

/**
 * Mails the messages that were handed over. @returns their number, and how many mails the address has received so far
 */
const deliver = async (email: string) => {
  const messages = mailbox.messages.splice(0);
  for (const message of messages) await sendMail(message);
  return [messages.length, mailbox.mails.filter(({ to }) => to.includes(email)).length];
};

/** The kinds of the mails that were withheld since the last call, according to the log. */
const takeWithheld = (): readonly string[] => {
  const lines = logged.mock.calls.map(([line]) => JSON.parse(String(line)));
  logged.mockClear();
  return lines.flatMap(({ event, kind }) => (event === 'mail-withheld' ? [kind] : []));
};

/** The mails that are counted for a source, by their cause. */
const countsOf = async (source: string) => {
  const prefix = `attempts#mail#address#${source}#`;
  const items = await scan(inject('engine'), tables.users);
  return items.flatMap(({ pk, mails }) =>
    String(pk).startsWith(prefix) ? [[String(pk).slice(prefix.length).split('#')[0], mails]] : [],
  );
};

/** For each cause, a source that has used up the mails that it may cause. */
const usedUp = new Map<MailCause, string>();
const usedUpSource = async (cause: MailCause): Promise<string> => {
  const ip_address = usedUp.get(cause) ?? newSource();
  usedUp.set(cause, ip_address);
  while ((await countForSource(cause, { request_id: 'r', ip_address, user_agent: 'test' })) === 0);
  return ip_address;
};

/** Each call that hands a message over, with the function that makes the message. */
const calls = globSync('{functions,lib}/**/*.ts')
  .filter((file) => !/\/(?:hand-over|announced-limits)\.ts$/.test(file))
  .flatMap(
    (file) =>
      readFileSync(file, 'utf8').match(/\b(?:requestMail|requestMailOrTell|tryToMail)\(\w*/g) ?? [],
  )
  .map((call) => `${call})`);

it('Every way to send a mail, and every route that sends mails, has a row', () => {
  // These routes belong to a function that mails, but cause no mails.
  const silent = [
    'POST /api/login/nonces',
    'GET /api/identities',
    'POST /api/login/passkey-options',
    'GET /api/passkeys',
    'POST /api/passkeys/options',
    'PATCH /api/passkeys/{passkey}',
  ];
  const routes = mailing
    .flatMap((each) => each.routes.map(({ key }) => key))
    .filter((route) => !silent.includes(route));

  expect(new Set(rows.flatMap(({ way }) => way.match(/\w+/g)))).toEqual(new Set(Object.keys(ways)));
  expect(rows.map(({ way }) => way)).toEqual(expect.arrayContaining(calls));
  expect(new Set(rows.map(({ route }) => route))).toEqual(new Set(routes));
});

const limited = (retryAfter: number) => [429, 'MAILS_LIMITED', String(retryAfter)];
const subjects = { reset: /^(Choose|Your account) /, verification: /^Confirm /, notice: /^Your / };

beforeEach(() => {
  // The clock is stopped, so that no code of an app expires and no limit ends during a test.
  vi.useFakeTimers({ toFake: ['Date'], now: Date.parse('2026-11-21T09:05:00Z') });
  for (const [name, value] of Object.entries(usual)) vi.stubEnv(name, value);
  mailbox.messages.length = 0;
  takeWithheld();
  return () => void vi.useRealTimers();
});

describe.each(rows)('A mail of the kind $kind that $route sends by $way', (row) => {
  const { route, kind, cause, isTold, settings, prepare } = row;
  beforeEach(() => {
    for (const [name, value] of Object.entries(settings)) vi.stubEnv(name, value);
  });

  it(`is sent, and counted once for its source as ${cause}`, async () => {
    const [email, source] = [uniqueEmail(), newSource()];

    const [status] = await send(route, source, await prepare(email));

    expect(status).toBeLessThan(300);
    expect(await countsOf(source)).toEqual([[cause, 1]]);
    expect(await deliver(email)).toEqual([1, 1]);
    expect(mailbox.mails.at(-1)?.subject).toMatch(subjects[kind]);
    expect(takeWithheld()).toEqual([]);
  });

  it(`is sent to an address at most once a minute, and its caller is ${isTold ? '' : 'not '}told`, async () => {
    const email = uniqueEmail();
    const first = await send(route, newSource(), await prepare(email));
    await deliver(email);

    const again = await send(route, newSource(), await prepare(email));

    expect(again).toEqual(isTold ? limited(60) : first);
    expect(await deliver(email)).toEqual([isTold ? 0 : 1, 1]);
    expect(takeWithheld()).toEqual([kind]);
  });

  it(`is not sent once its source has used up its mails, and its caller is ${isTold ? '' : 'not '}told`, async () => {
    const email = uniqueEmail();
    const source = await usedUpSource(cause);

    const refused = await send(route, source, await prepare(email));

    expect(await deliver(email)).toEqual([0, 0]);
    expect(takeWithheld()).toHaveLength(1);
    expect(refused).toEqual(
      isTold ? limited(600) : await send(route, newSource(), await prepare(email)),
    );
  });
});

it('If two mails to one address pass the limit at once, one is mailed and the other is logged', async () => {
  const email = uniqueEmail();
  const { route, prepare } = rows.find(({ isTold }) => isTold) as Row;
  const sent = await prepare(email);

  const answers = [await send(route, newSource(), sent), await send(route, newSource(), sent)];

  expect(answers.map(([status]) => status)).toEqual([202, 202]);
  expect(await deliver(email)).toEqual([2, 1]);
  expect(takeWithheld()).toEqual(['reset']);
});
