import { randomUUID } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { decodeJwt } from 'jose';
import { describe, expect, inject, it } from 'vitest';
import { type ApiAnswer, register, uniqueEmail } from '../support/client.ts';
import { sessionIn } from '../support/examples.ts';
import { identityClient, identitySettings, newPerson, startIssuer } from '../support/issuer.ts';
import { mailSettings } from '../support/mailbox.ts';
import { type OperatedService, operatedServiceForThisFile } from '../support/operator.ts';
import { newPasskey, passkeyClient, passkeySettings } from '../support/passkeys.ts';
import {
  plantInvitation,
  plantLinkToken,
  plantPasskey,
  registerVerified,
} from '../support/reset-tokens.ts';
import { enrol } from '../support/second-factor.ts';
import { scan } from '../support/stored-items.ts';
import { verificationSettings } from '../support/verification.ts';

/** Both services run in this process, where the secret is read again each minute. */
const secret = { JWT_SECRET: randomUUID() + randomUUID() };

const issuer = await startIssuer();
const service = await operatedServiceForThisFile({
  ...secret,
  ...identitySettings(issuer),
  ...passkeySettings,
  ...verificationSettings.on,
  SECOND_FACTOR: 'optional',
});
const { api, adminToken, environment } = service;
const { link, signIn } = identityClient(api, issuer);
const passkeys = passkeyClient(api);

const newPassword = 'another password';

/** An admin who has every way to log in, each of which somebody else can use too. */
const newSubject = async () => {
  const { token, ...user } = await registerVerified(service);
  const person = newPerson();
  await api('PUT', `/api/users/${user.id}`, { token: adminToken, json: { role: 'admin' } });
  await link(token, person, { currentPassword: user.password });
  const { passkey } = await passkeys.add({ ...user, token });
  const { recoveryCodes } = await enrol(api, { ...user, token });
  const [first = '', code = '', another = ''] = recoveryCodes;
  const { email, password } = user;
  const other = await api('POST', '/api/login', { json: { email, password, code: first } });
  const session: Record<'token' | 'refreshToken', string> = other.body;
  const pending = await plantLinkToken(environment, user.id, {
    kind: 'address',
    email: uniqueEmail(),
    sessionId: sessionIn(session),
  });
  const reset = await plantLinkToken(environment, user.id);
  // `current` is the password that is valid after the event.
  return {
    ...user,
    token,
    person,
    passkey,
    code,
    another,
    session,
    pending,
    reset,
    current: password,
  };
};
type Subject = Awaited<ReturnType<typeof newSubject>>;

/** An invited user, whose account only the link opens. */
const newInvited = async (): Promise<Subject> => {
  const { token, ...user } = await register(api);
  const reset = await plantInvitation(environment, user.id);
  const nothing = { token: '', refreshToken: '' };
  const others = { person: newPerson(), passkey: newPasskey(), session: nothing, pending: '' };
  return { ...user, token, ...others, code: '', another: '', reset, current: user.password };
};

const logIn = ({ email }: Subject, password: string, fields: object = {}) =>
  api('POST', '/api/login', { json: { email, password, ...fields } });

const useLink = async (subject: Subject): Promise<boolean> => {
  const json = { token: subject.reset, password: 'a password by the link' };
  const isOpen = (await api('PUT', '/api/password-resets', { json })).status === 204;
  if (isOpen) subject.current = json.password;
  return isOpen;
};

/**
 * Whether each way still opens the account; for the second factor, whether a login requires it. The ways are tried one
 * after another in this order, in which no open way closes a later one.
 */
const ways: Readonly<Record<string, (subject: Subject) => Promise<boolean>>> = {
  'another session': async ({ session: { token } }) =>
    (await api('GET', '/api/profile', { token })).status === 200,
  'its refresh token': async ({ session: { refreshToken } }) =>
    (await api('POST', '/api/refresh', { json: { refreshToken } })).status === 200,
  'a passkey': async ({ id, passkey }) => {
    const { status, body } = await passkeys.signIn(passkey);
    return status === 200 && decodeJwt(body.token).id === id;
  },
  'the second factor': async (subject) =>
    (await logIn(subject, subject.current)).body.message === 'Code required',
  'the password': async (subject) => {
    const { password, code } = subject;
    return (await logIn(subject, password, { code })).status === 200;
  },
  'an identity': async ({ id, person, another }) => {
    const { status, body } = await signIn(person, { code: another });
    return status === 200 && decodeJwt(body.token).id === id;
  },
  'a mailed reset link': useLink,
  'the link of a pending address': async ({ pending, current }) => {
    const json = { token: pending, password: current };
    return (await api('PUT', '/api/email-verifications', { json })).status === 204;
  },
};

const asAdmin = (method: string, { id }: Subject, path = '', json?: object) =>
  api(method, `/api/users/${id}${path}`, { token: adminToken, ...(json ? { json } : {}) });
const expectDone = ({ status }: ApiAnswer) => expect([200, 204]).toContain(status);

/** Each event returns the password that is valid after it. */
const events: Readonly<Record<string, (subject: Subject) => Promise<string>>> = {
  'a reset': async ({ reset }) => {
    const json = { token: reset, password: newPassword };
    expectDone(await api('PUT', '/api/password-resets', { json }));
    return newPassword;
  },
  'a password that an admin sets': async (subject) => {
    expectDone(await asAdmin('PUT', subject, '', { password: newPassword }));
    return newPassword;
  },
  'a password of one’s own': async ({ id, token, password }) => {
    const json = { password: newPassword, currentPassword: password };
    expectDone(await api('PUT', `/api/users/${id}`, { token, json }));
    return newPassword;
  },
  'a suspension': async (subject) => {
    expectDone(await asAdmin('PUT', subject, '/suspension'));
    return subject.password;
  },
  'a suspension that was lifted': async (subject) => {
    expectDone(await asAdmin('PUT', subject, '/suspension'));
    expectDone(await asAdmin('DELETE', subject, '/suspension'));
    return subject.password;
  },
  'a deletion': async (subject) => {
    expectDone(await asAdmin('DELETE', subject));
    return subject.password;
  },
  'create-admin': async ({ email }) => {
    expect((await service.operate(['create-admin', email], newPassword)).status).toBe(0);
    return newPassword;
  },
  'a demotion': async (subject) => {
    expectDone(await asAdmin('PUT', subject, '', { role: 'user' }));
    return subject.password;
  },
};

/** The rows are the ways, the columns are the events, both in the order above. */
// biome-ignore format: a table
const outcomes: readonly (readonly ('ends' | 'stays')[])[] = [
  // reset, admin’s, own, suspended, lifted, deleted, create-admin, demoted
  ['ends', 'ends', 'ends', 'ends', 'ends', 'ends', 'ends', 'ends'],
  ['ends', 'ends', 'ends', 'ends', 'ends', 'ends', 'ends', 'ends'],
  ['ends', 'ends', 'stays', 'ends', 'stays', 'ends', 'ends', 'stays'],
  ['stays', 'stays', 'stays', 'stays', 'stays', 'ends', 'ends', 'stays'],
  ['ends', 'ends', 'ends', 'ends', 'stays', 'ends', 'ends', 'stays'],
  ['ends', 'ends', 'stays', 'ends', 'stays', 'ends', 'ends', 'stays'],
  ['ends', 'ends', 'ends', 'ends', 'ends', 'ends', 'ends', 'stays'],
  ['stays', 'stays', 'stays', 'ends', 'ends', 'ends', 'stays', 'stays'],
];
/** The same for the link of an invitation; its user cannot log in before using the link. */
// biome-ignore format: a table
const ofInvitation = ['ends', 'ends', 'cannot', 'ends', 'ends', 'ends', 'ends', 'stays'];
const names = Object.keys(ways);

/** The outcome of each way. */
const tryWays = async (subject: Subject) => {
  const tried: string[][] = [];
  for (const [way, isOpen] of Object.entries(ways)) {
    tried.push([way, (await isOpen(subject)) ? 'stays' : 'ends']);
  }
  return tried;
};

describe('Each way into an account', () => {
  it.each(Object.entries(events))(
    'ends or stays as the table says after %s',
    async (event, happen) => {
      const subject = await newSubject();
      expect(Object.values(subject)).not.toContain(undefined);

      subject.current = await happen(subject);

      const column = Object.keys(events).indexOf(event);
      expect(await tryWays(subject)).toEqual(
        names.map((way, row) => [way, outcomes[row]?.[column]]),
      );
    },
  );

  it('stays before any of the events', async () => {
    expect(await tryWays(await newSubject())).toEqual(names.map((way) => [way, 'stays']));
  });
});

describe('The link of an invitation', () => {
  const possible = Object.entries(events)
    .map(([event, happen], column) => ({ event, happen, expected: ofInvitation[column] }))
    .filter(({ expected }) => expected !== 'cannot');
  it.each(possible)('$expected after $event', async ({ happen, expected }) => {
    const subject = await newInvited();

    await happen(subject);

    expect((await useLink(subject)) ? 'stays' : 'ends').toBe(expected);
  });

  it('stays valid before any of the events', async () => {
    expect(await useLink(await newInvited())).toBe(true);
  });
});

describe('An identity or a passkey that was added before its option was turned off', async () => {
  const without = await operatedServiceForThisFile({ ...secret, ...mailSettings });

  /** A user with an identity, as an import stores the user, and with a passkey. */
  const importUser = async ({ folder, operate, users }: OperatedService) => {
    const [email, file] = [uniqueEmail(), join(folder, `${randomUUID()}.ndjson`)];
    const identities = [{ issuer: issuer.url, subject: randomUUID() }];
    writeFileSync(file, JSON.stringify({ name: 'n', email, password_hash: null, identities }));
    expect((await operate(['import-users', file])).status).toBe(0);
    const { id } = (await users()).find((user) => user.email === email) ?? {};
    await plantPasskey(without.environment, Number(id));
    return { id: Number(id), email };
  };
  type Imported = Awaited<ReturnType<typeof importUser>>;

  const stored = async ({ id }: Imported) => {
    const items = await scan(inject('engine'), String(without.environment.USERS_TABLE));
    return items.filter(
      ({ pk, identities, passkeys, user_id }) =>
        (pk === `user#${id}` && (identities || passkeys)) ||
        (/^(?:identity|passkey)#/.test(String(pk)) && user_id === id),
    );
  };

  const token = without.adminToken;
  const removals: Readonly<Record<string, (user: Imported) => Promise<{ status: unknown }>>> = {
    'a reset': async ({ id }) => {
      const link = await plantLinkToken(without.environment, id);
      return without.api('PUT', '/api/password-resets', {
        json: { token: link, password: newPassword },
      });
    },
    'a password that an admin sets': ({ id }) =>
      without.api('PUT', `/api/users/${id}`, { token, json: { password: newPassword } }),
    'create-admin': ({ email }) => without.operate(['create-admin', email], newPassword),
    'a deletion': ({ id }) => without.api('DELETE', `/api/users/${id}`, { token }),
  };

  it.each(Object.entries(removals))('is removed by %s', async (_, remove) => {
    const user = await importUser(without);
    expect(await stored(user)).toHaveLength(3);

    expect([0, 200, 204]).toContain((await remove(user)).status);

    expect(await stored(user)).toEqual([]);
  });
});
