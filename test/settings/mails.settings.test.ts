/**
 * The limits of mails, for each way to have something mailed and each route that does so: the ways are
 * the calls of what lib/options/mails/hand-over.ts exports, and of `requestMailWithinLimits`, and the routes belong to
 * functions that may invoke the function that mails. Whoever adds a call or such a route adds a row.
 */
import { randomBytes, randomUUID } from 'node:crypto';
import { globSync, readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { handler as sendMail } from '../../functions/background/send-mail.ts';
import { type FunctionDefinition, functions } from '../../infra/uses.ts';
import type { Handler } from '../../lib/http/request.ts';
import { makeNonce } from '../../lib/keys/nonce.ts';
import { belongingOf } from '../../lib/keys/token.ts';
import { forIdToken } from '../../lib/options/identities/id-token.ts';
import { identitiesClaimed, makeIdentity } from '../../lib/options/identities/identities.ts';
import { makeLinkToken, resetLink } from '../../lib/options/links/mailed-link.ts';
import * as handOver from '../../lib/options/mails/hand-over.ts';
import type { MailCause } from '../../lib/options/mails/sources.ts';
import { requestMailWithinLimits } from '../../lib/options/mails/told.ts';
import { creationOptions, loginOptions } from '../../lib/options/passkeys/credential.ts';
import { makeHandle, makePasskey, passkeyAdded } from '../../lib/options/passkeys/passkeys.ts';
import { findBearer } from '../../lib/options/sessions/bearer.ts';
import { beginSession } from '../../lib/options/sessions/session-tokens.ts';
import type { Beginning } from '../../lib/options/sessions/sessions.ts';
import { addressAwaited } from '../../lib/options/verified-addresses/address-link.ts';
import type { StoredUser } from '../../lib/users/item.ts';
import { hashPassword } from '../../lib/users/password.ts';
import { allocateUserId, findUserByEmail, insertUser, readUser } from '../../lib/users/store.ts';
import { unmatchableHash } from '../../lib/users/user.ts';
import { writeUser } from '../../lib/users/write.ts';
import { uniqueEmail } from '../support/client.ts';
import { gatewayEvent } from '../support/event.ts';
import { type Claims, identitySettings, newPerson, startIssuer } from '../support/issuer.ts';
import { mailingFunctionForThisFile } from '../support/mailbox.ts';
import { newPasskey, passkeySettings, rpId } from '../support/passkeys.ts';
import { codeOf } from '../support/second-factor.ts';
import { removeUser, setFields, storedUser } from '../support/stored-user.ts';
import { verificationSettings } from '../support/verification.ts';

const { mailbox, logged } = await mailingFunctionForThisFile(({ environment, handOver }) => ({
  ...environment,
  ...handOver,
  JWT_SECRET: 'x'.repeat(40),
  BCRYPT_COST: '4',
  SESSION_DAYS: '90',
  SECOND_FACTOR: 'optional',
  SECOND_FACTOR_LOCAL_KEY: randomBytes(32).toString('base64'),
}));

let lastSource = 0;
const newSource = () => {
  lastSource += 1;
  return `198.51.100.${lastSource}`;
};

const mailing: readonly FunctionDefinition[] = functions.filter((each) => each.uses.has('mail'));

interface Sent {
  readonly token?: string;
  readonly json?: object;
  /** The parameters of the path. */
  readonly id?: number;
  readonly identity?: string;
  readonly passkey?: string;
}

/** Invokes the function of a route. @returns the status of its response, its error's code and how long to wait */
const send = async (route: string, sourceIp: string, { token, json, ...parameters }: Sent) => {
  const definition = mailing.find(({ routes }) => routes.some(({ key }) => key === route));
  const file = resolve(definition?.entry ?? route);
  const { handler }: { handler: Handler } = await import(file);
  const [method = '', path = ''] = route.split(' ');
  const event = gatewayEvent({
    method,
    path,
    sourceIp,
    headers: {
      'content-type': 'application/json',
      ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
    },
    ...(json ? { body: JSON.stringify(json) } : {}),
    pathParameters: Object.fromEntries(
      Object.entries(parameters).map(([name, value]) => [name, String(value)]),
    ),
  });
  const { requestContext } = event;
  const response = await handler(
    { ...event, requestContext: { ...requestContext, requestId: randomUUID() } },
    {},
  );
  const { 'Error-Code': code, 'Retry-After': wait } = response.headers ?? {};
  return [response.statusCode, code, wait];
};

const password = 'a long password';

/** A user with the address, in place of the one who has it. */
const userWith = async (email: string, fields: Partial<StoredUser> = {}): Promise<StoredUser> => {
  const holder = await findUserByEmail(email);
  if (holder) await removeUser(holder.id);
  const id = await allocateUserId();
  const hash = await hashPassword(password);
  const user = storedUser({ id, email, password_hash: hash, email_verified: false, ...fields });
  await insertUser(user);
  return user;
};

const tokenOf = async (user: StoredUser, began?: Beginning) => {
  const source = { request_id: 'r', ip_address: '192.0.2.1', user_agent: 'test' };
  return (await beginSession(user, source, began)).token;
};

/** A token of a user who asks for what concerns another user, or another address. */
const anybody = async (fields: Partial<StoredUser> = {}) => {
  const user = await userWith(uniqueEmail(), fields);
  return { ...user, token: await tokenOf(user) };
};

/** A user as authentication reads one who has just logged in. */
const callerOf = async (user: StoredUser) =>
  (await findBearer(user.id, belongingOf(await tokenOf(user)))) ?? expect.unreachable();

/** The factor's secret of a user who has one, or has begun to enrol, without a notice. */
const enrol = async (user: StoredUser, { confirmed }: { confirmed: boolean }) => {
  const { beginEnrolment, confirmEnrolment } = await import('../../lib/accounts/enrol.ts');
  vi.stubEnv('MAIL_FUNCTION_URL', '');
  const source = { request_id: 'r', ip_address: '192.0.2.1', user_agent: 'test' };
  const { secret } = await beginEnrolment(
    { caller: await callerOf(user), source, currentPassword: password },
    'test',
  );
  const caller = await callerOf(user);
  const code = codeOf(secret, { ahead: -1 });
  if (confirmed) await confirmEnrolment({ caller, source, code });
  vi.stubEnv('MAIL_FUNCTION_URL', mailbox.handOver.MAIL_FUNCTION_URL);
  return { secret, token: await tokenOf(await readUser(user.id), 'code') };
};

const withFactor = async (email: string) => {
  const user = await userWith(email);
  const { secret, token } = await enrol(user, { confirmed: true });
  return { token, json: { currentPassword: password, code: codeOf(secret) } };
};

const issuer = await startIssuer();

const proofOf = async (claims: Claims) => {
  const nonce = await makeNonce(forIdToken);
  return { idToken: await issuer.issue({ nonce, ...claims }), nonce };
};

/** Links an identity to a user, without a notice. */
const link = async (user: StoredUser) => {
  const { sub } = newPerson();
  const identity = makeIdentity({ issuer: issuer.url, subject: sub });
  const identities = [identity];
  await writeUser(user, { fields: { identities } }, identitiesClaimed(user, identities));
  return { sub, identity };
};

/** Gives a user a passkey, without a notice. */
const withPasskey = async (user: StoredUser) => {
  const passkey = newPasskey();
  const handle = makeHandle();
  const credential = { credential_id: passkey.id, public_key: passkey.publicKey };
  const stored = makePasskey(credential, 'Passkey', rpId);
  const added = passkeyAdded(user, stored, { ...credential, counter: 0, backed_up: false });
  await writeUser(user, added, { fields: { passkey_handle: handle } });
  return { passkey, handle, stored };
};

/** `invokeBy` says how messages go; it hands none over. */
const { invokeBy: _, ...handingOver } = handOver;
const ways = { ...handingOver, requestMailWithinLimits };

/** One of them. */
type Name = keyof typeof ways;

interface Row {
  readonly route: string;
  /** The function that is called, and the one that makes what it is called with. */
  readonly way: Name | `${Name}(${Name})`;
  /** Whose mail it is: the kind of what goes to the address. */
  readonly kind: 'reset' | 'verification' | 'notice';
  /** The counter of its source; absent: that of all other mails. */
  readonly cause?: MailCause;
  /** Whether the caller is told that nothing is mailed. */
  readonly isTold?: boolean;
  readonly settings?: Readonly<Record<string, string>>;
  /** The request that causes a mail to an address. It can be made again and again. */
  prepare(email: string): Promise<Sent>;
}

const usual = {
  ...verificationSettings.on,
  ACCOUNTS: 'open',
  LOGIN_FAILURES_PER_ADDRESS: '1000',
  IDENTITY_PROVIDERS: identitySettings(issuer).IDENTITY_PROVIDERS,
  PASSKEYS: passkeySettings.PASSKEYS,
};
const off = { EMAIL_VERIFICATION: 'off' };
const hiding = { EMAIL_VERIFICATION: 'required', ACCOUNTS: 'private' };
const registration = (email: string) => ({ json: { name: 'Ada', email, password } });

/** The row of a change that tells its user of it, and mails nothing else. */
const notified = (route: string, prepare: Row['prepare'], cause: MailCause = 'other'): Row => ({
  route,
  cause,
  way: 'tryToNotify',
  kind: 'notice',
  settings: off,
  prepare,
});

const rows: readonly Row[] = [
  {
    route: 'POST /api/password-resets',
    way: 'requestMail(resetMessage)',
    kind: 'reset',
    prepare: async (email) => {
      await userWith(email);
      return { json: { email } };
    },
  },
  {
    route: 'POST /api/password-resets',
    way: 'requestMailWithinLimits(resetMessage)',
    kind: 'reset',
    cause: 'admin',
    isTold: true,
    prepare: async (email) => {
      await userWith(email);
      return { json: { email }, token: (await anybody({ role: 'admin' })).token };
    },
  },
  {
    route: 'POST /api/auth/register',
    way: 'tryToRemind',
    kind: 'verification',
    cause: 'registration',
    prepare: async (email) => {
      const user = await findUserByEmail(email);
      if (user) await removeUser(user.id);
      return registration(email);
    },
  },
  {
    route: 'POST /api/auth/register',
    way: 'tryToMail(takenMessage)',
    kind: 'reset',
    cause: 'registration',
    settings: hiding,
    prepare: async (email) => {
      await userWith(email);
      return registration(email);
    },
  },
  {
    route: 'POST /api/login',
    way: 'tryToRemind',
    kind: 'verification',
    prepare: async (email) => {
      await userWith(email);
      return { json: { email, password } };
    },
  },
  {
    route: 'POST /api/email-verifications',
    way: 'requestMailWithinLimits(verificationMessage)',
    kind: 'verification',
    isTold: true,
    prepare: async (email) => ({ token: await tokenOf(await userWith(email)) }),
  },
  {
    route: 'POST /api/users',
    way: 'tryToMail(invitationMessage)',
    kind: 'reset',
    cause: 'admin',
    isTold: true,
    prepare: async (email) => {
      const holder = await findUserByEmail(email);
      if (holder) await removeUser(holder.id);
      const { token } = await anybody({ role: 'admin' });
      return { token, json: { name: 'Ada', email, invite: true } };
    },
  },
  {
    route: 'POST /api/users/{id}/invitations',
    way: 'requestMailWithinLimits(invitationMessage)',
    kind: 'reset',
    cause: 'admin',
    isTold: true,
    prepare: async (email) => {
      const { id } = await userWith(email, { password_hash: unmatchableHash() });
      return { id, token: (await anybody({ role: 'admin' })).token, json: {} };
    },
  },
  {
    route: 'PUT /api/users/{id}',
    way: 'tryToMail(pendingMessage)',
    kind: 'verification',
    prepare: async (email) => ({
      ...(await anybody()),
      json: { email, currentPassword: password },
    }),
  },
  {
    route: 'PUT /api/users/{id}',
    way: 'tryToMail(pendingMessage)',
    kind: 'reset',
    settings: hiding,
    prepare: async (email) => {
      await userWith(email);
      return {
        ...(await anybody({ email_verified: true })),
        json: { email, currentPassword: password },
      };
    },
  },
  {
    route: 'PUT /api/users/{id}',
    way: 'tryToNotify(changedParts)',
    kind: 'notice',
    cause: 'admin',
    prepare: async (email) => {
      const { id } = await userWith(email);
      const { token } = await anybody({ role: 'admin' });
      return { id, token, json: { password: 'another' } };
    },
  },
  {
    route: 'PUT /api/password-resets',
    way: 'tryToNotify(changedParts)',
    kind: 'notice',
    settings: off,
    prepare: async (email) => {
      const token = await makeLinkToken(resetLink(await userWith(email)));
      return { json: { token, password: 'another' } };
    },
  },
  {
    route: 'PUT /api/email-verifications',
    way: 'tryToNotify(changedParts)',
    kind: 'notice',
    prepare: async (email) => {
      const [user, other] = [await userWith(email), uniqueEmail()];
      const { fields: waiting = {} } = addressAwaited(user, other);
      await setFields(user.id, waiting);
      const pendingId = waiting.pending_id;
      const link = { kind: 'address', user, email: other, pendingId } as const;
      return { json: { token: await makeLinkToken(link), password } };
    },
  },
  notified('PUT /api/second-factor', async (email) => {
    const { secret, token } = await enrol(await userWith(email), { confirmed: false });
    return { token, json: { code: codeOf(secret) } };
  }),
  notified('POST /api/second-factor/recovery-codes', withFactor),
  notified('POST /api/second-factor/removals', withFactor),
  notified(
    'DELETE /api/users/{id}/second-factor',
    async (email) => {
      const user = await userWith(email);
      await enrol(user, { confirmed: true });
      const admin = await userWith(uniqueEmail(), { role: 'admin' });
      return { id: user.id, token: (await enrol(admin, { confirmed: true })).token };
    },
    'admin',
  ),
  {
    route: 'POST /api/login/identity',
    way: 'tryToRemind',
    kind: 'verification',
    prepare: async (email) => ({ json: await proofOf(await link(await userWith(email))) }),
  },
  notified('POST /api/identities', async (email) => ({
    token: await tokenOf(await userWith(email)),
    json: { ...(await proofOf(newPerson())), currentPassword: password },
  })),
  notified('POST /api/identities/{identity}/removals', async (email) => {
    const user = await userWith(email);
    const { identity } = await link(user);
    const json = { currentPassword: password };
    return { token: await tokenOf(user), identity: identity.id, json };
  }),
  notified(
    'DELETE /api/users/{id}/identities/{identity}',
    async (email) => {
      const user = await userWith(email);
      const { identity } = await link(user);
      const { token } = await anybody({ role: 'admin' });
      return { token, id: user.id, identity: identity.id };
    },
    'admin',
  ),
  {
    route: 'POST /api/login/passkey',
    way: 'tryToRemind',
    kind: 'verification',
    prepare: async (email) => {
      const { passkey, handle: userHandle } = await withPasskey(await userWith(email));
      return { json: { credential: passkey.use(await loginOptions(), { userHandle }) } };
    },
  },
  notified('POST /api/passkeys', async (email) => {
    const user = await userWith(email);
    const token = await tokenOf(user);
    const caller = await findBearer(user.id, belongingOf(token));
    const options = await creationOptions(caller ?? expect.unreachable(), makeHandle(), 'test');
    return { token, json: { credential: newPasskey().make(options) } };
  }),
  notified('POST /api/passkeys/{passkey}/removals', async (email) => {
    const user = await userWith(email);
    const { stored } = await withPasskey(user);
    return {
      token: await tokenOf(user),
      passkey: stored.id,
      json: { currentPassword: password },
    };
  }),
  notified('POST /api/account-deletions', async (email) => ({
    token: await tokenOf(await userWith(email)),
    json: { currentPassword: password },
  })),
  notified(
    'DELETE /api/users/{id}',
    async (email) => {
      const { id } = await userWith(email);
      return { id, token: (await anybody({ role: 'admin' })).token };
    },
    'admin',
  ),
];

let taken = 0;
/** The messages that were handed over since this was last asked. */
const takeMessages = () => {
  const messages = mailbox.messages.slice(taken);
  taken = mailbox.messages.length;
  return messages;
};

/** Mails what was handed over. @returns how many messages it was, and the mails to an address so far */
const deliver = async (email: string) => {
  const messages = takeMessages();
  for (const message of messages) await sendMail(message);
  return [messages.length, mailbox.mails.filter(({ to }) => to.includes(email)).length];
};

/** How many mails a source may ask for in a quarter of an hour (functions/README.md, Limits of mails). */
const limits = { registration: 100, admin: 100, other: 20 } as const satisfies Record<
  MailCause,
  number
>;

/** Uses up what a source may ask for by some causes. */
const useUp = async (sourceIp: string, causes: readonly MailCause[]): Promise<void> => {
  const source = { request_id: 'r', ip_address: sourceIp, user_agent: 'test' };
  for (const cause of causes) {
    for (let i = 0; i < limits[cause]; i += 1) {
      await ways.requestMail(ways.resetMessage(uniqueEmail(), source), cause);
    }
    expect(takeMessages()).toHaveLength(limits[cause]);
  }
};

/** Whether the log says that a mail of a kind was withheld; it is forgotten. */
const takeWithheld = (): readonly string[] => {
  const lines = logged.mock.calls.map(([line]) => JSON.parse(String(line)));
  logged.mockClear();
  return lines.flatMap(({ event, kind }) => (event === 'mail-withheld' ? [kind] : []));
};

/** Each call that hands a message over, with the function that makes the message. */
const calls = globSync('{functions,lib}/**/*.ts')
  .filter((file) => !/\/(?:hand-over|told)\.ts$/.test(file))
  .flatMap(
    (file) =>
      readFileSync(file, 'utf8').match(
        /\b(?:requestMail|requestMailWithinLimits|tryToMail)\(\w*/g,
      ) ?? [],
  )
  .map((call) => `${call})`);

it('There is a row for each way to have something mailed, and for each route that does so', () => {
  // They are of a function that mails, and cause none.
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

/** Codes of an app, and the minutes of limits, end at no moment of the tests. */
const now = Date.parse('2026-11-21T09:05:00Z');
const causes = Object.keys(limits) as MailCause[];
/** For each cause a source that has used up what it may ask for by it, and one that has used up all else. */
const [usedUp, usedElsewhere] = [causes, causes].map((each) =>
  Object.fromEntries(each.map((cause) => [cause, newSource()])),
) as [Record<MailCause, string>, Record<MailCause, string>];
beforeAll(async () => {
  vi.setSystemTime(now);
  for (const cause of causes) {
    await useUp(usedUp[cause], [cause]);
    await useUp(
      usedElsewhere[cause],
      causes.filter((other) => other !== cause),
    );
  }
});

const limited = (retryAfter: number) => [429, 'MAILS_LIMITED', String(retryAfter)];

describe.each(rows)('$route, by $way: a $kind', (row) => {
  const { route, kind, cause = 'other', isTold, settings, prepare } = row;
  beforeEach(() => {
    vi.useFakeTimers({ toFake: ['Date'], now });
    for (const [name, value] of Object.entries({ ...usual, ...settings })) {
      vi.stubEnv(name, value);
    }
    takeMessages();
    takeWithheld();
  });
  afterEach(() => void vi.useRealTimers());

  it('is mailed to one address once a minute, whoever asks', async () => {
    const email = uniqueEmail();

    const first = await send(route, newSource(), await prepare(email));
    const delivered = await deliver(email);
    const again = await send(route, newSource(), await prepare(email));

    expect(first[0]).toBeLessThan(300);
    expect(delivered).toEqual([1, 1]);
    expect(again).toEqual(isTold ? limited(60) : first);
    expect(await deliver(email)).toEqual([isTold ? 0 : 1, 1]);
    expect(takeWithheld()).toEqual([kind]);
    const subject = { reset: '(?:Choose|Your account)', verification: 'Confirm', notice: 'Your' }[
      kind
    ];
    expect(mailbox.mails.at(-1)?.subject).toMatch(new RegExp(`^${subject} `));
  });

  it(`is not mailed when its source has asked for ${limits[cause]} mails in a quarter of an hour`, async () => {
    const email = uniqueEmail();

    const refused = await send(route, usedUp[cause], await prepare(email));
    const delivered = await deliver(email);
    const withheld = takeWithheld();
    const status = await send(route, newSource(), await prepare(email));

    expect(refused).toEqual(isTold ? limited(600) : status);
    expect([delivered, withheld]).toEqual([[0, 0], [expect.any(String)]]);
    expect(await deliver(email)).toEqual([1, 1]);
  });

  // A user can be made with an address once only.
  it.runIf(isTold && route !== 'POST /api/users')(
    'is mailed for one of two requests that were let through at once, and the other one is logged',
    async () => {
      const email = uniqueEmail();
      const sent = await prepare(email);

      const statuses = [
        await send(route, newSource(), sent),
        await send(route, newSource(), sent),
      ].map(([status]) => status);

      expect(statuses[0]).toBeLessThan(300);
      expect(statuses[1]).toBe(statuses[0]);
      expect(await deliver(email)).toEqual([2, 1]);
      expect(takeWithheld()).toEqual([kind]);
    },
  );

  it('is mailed when its source has asked for as many mails as it may in other ways', async () => {
    const email = uniqueEmail();

    await send(route, usedElsewhere[cause], await prepare(email));

    expect(await deliver(email)).toEqual([1, 1]);
  });
});
