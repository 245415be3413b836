/** When users were last seen (functions/README.md, Last seen). */
import { DescribeTableCommand, UpdateTableCommand } from '@aws-sdk/client-dynamodb';
import { afterEach, beforeEach, describe, expect, inject, it, vi } from 'vitest';
import { usersIndexes } from '../../lib/dynamodb/tables.ts';
import {
  entriesOf,
  nextPage,
  outcome,
  refusal,
  serviceForThisFile,
  uniqueAgent,
} from '../support/acceptance.ts';
import { logIn, makeUser, register, uniqueEmail } from '../support/client.ts';
import { appoint } from '../support/examples.ts';
import { identityServiceForThisFile, newPerson, startIssuer } from '../support/issuer.ts';
import { makeMachine } from '../support/machines.ts';
import { passkeyClient, passkeySettings } from '../support/passkeys.ts';
import { proxyForThisFile } from '../support/proxied-service.ts';
import { type Fault, faults } from '../support/proxy.ts';
import { engineClient } from '../support/stored-items.ts';
import { until } from '../support/until.ts';
import { userItems } from '../support/users-table.ts';

const proxy = await proxyForThisFile();
const service = await identityServiceForThisFile(await startIssuer(), {
  ...passkeySettings,
  MACHINES: 'on',
  SELF_DELETION: 'on',
  USER_ATTRIBUTES: '[{"name":"plan","type":"text"}]',
  AWS_ENDPOINT_URL_DYNAMODB: proxy.url,
});
const { api, admin } = service;
const passkeys = passkeyClient(api);

// The service runs in this process; its clock is stopped at noon, and only tests move it.
beforeEach(() => {
  vi.useFakeTimers({ toFake: ['Date'], now: new Date().setUTCHours(12, 0, 0, 0) });
  proxy.forget();
});
afterEach(() => void vi.useRealTimers());
const passDays = (days: number) => vi.setSystemTime(Date.now() + days * 86_400_000);
const daysAgo = (days: number) =>
  new Date(Date.now() - days * 86_400_000).toISOString().slice(0, 10);
const refresh = async (refreshToken: string | undefined) =>
  (await api('POST', '/api/refresh', { json: { refreshToken } })).body.refreshToken;
const show = async (id: number, token?: string) =>
  (await api('GET', `/api/users/${id}`, { token: token ?? (await logIn(api, admin)) })).body;
const seenOn = async (id: number) => (await show(id)).last_seen_on;
const isOfSeen = ({ content }: { readonly content: string }) => content.includes('"seen#');
/** The writes that note that a user is here. */
const notes = () => proxy.requests.filter((one) => one.operation === 'UpdateItem' && isOfSeen(one));
/** Lets the writes that note that a user is here fail. */
const onNotes = (fault: Fault): Fault => {
  return (exchange) => (isOfSeen(exchange.request) ? fault : faults.pass)(exchange);
};

describe('The day on which a user was last seen', () => {
  it('is the day of a registration that signs in, and of no user whom somebody made', async () => {
    const user = await register(api);
    const made = await makeUser(api, await logIn(api, admin));

    expect([await seenOn(user.id), await seenOn(made.id)]).toEqual([daysAgo(0), null]);
  });

  it('is the day of the newest login with a password, an identity or a passkey', async () => {
    const user = await register(api);
    const person = newPerson();
    const proof = { currentPassword: user.password };
    await service.link(user.token, person, proof);
    const token = await logIn(api, user);
    const { passkey } = await passkeys.add({ ...user, token });

    for (const enter of [
      () => logIn(api, user),
      () => service.signIn(person),
      () => passkeys.signIn(passkey, { counter: 5 }),
    ]) {
      passDays(1);
      expect(await seenOn(user.id)).toBe(daysAgo(1));
      await enter();
      expect(await seenOn(user.id)).toBe(daysAgo(0));
    }
  });

  it('is the day on which an identity registers a user', async () => {
    const person = newPerson();
    await service.signIn(person);

    const users = (await api('GET', `/api/users?email=${person.email}`, await asAdmin())).body;

    expect(await seenOn(users[0].id)).toBe(daysAgo(0));
  });

  it('is the day of the newest refresh, also of one that is repeated after midnight', async () => {
    const user = await register(api);
    passDays(2);

    const newest = await refresh(user.refreshToken);
    expect(await seenOn(user.id)).toBe(daysAgo(0));

    vi.setSystemTime(new Date(`${daysAgo(0)}T23:59:59.999Z`));
    const next = await refresh(newest);
    vi.setSystemTime(Date.now() + 1);
    expect(await refresh(newest)).toBe(next);
    expect(await seenOn(user.id)).toBe(daysAgo(0));
  });

  it('is no day of a login that is refused, or of a request with a token', async () => {
    const user = await register(api);
    passDays(0.9);

    const refused = await api('POST', '/api/login', { json: { ...user, password: 'wrong' } });
    const profile = await api('GET', '/api/profile', { token: user.token });

    expect([refused.status, profile.status]).toEqual([401, 200]);
    expect(await seenOn(user.id)).toBe(daysAgo(1));
  });

  it('is written once a day, because the sessions that are read say whether it was', async () => {
    const user = await register(api);
    expect(notes()).toHaveLength(1);
    await logIn(api, user);
    const newest = await refresh(user.refreshToken);
    expect(notes()).toHaveLength(1);

    passDays(1);
    const next = await refresh(newest);
    await logIn(api, user);
    await refresh(next);

    expect(notes()).toHaveLength(2);
  });

  it('is deleted with the user, by an admin or by the user', async () => {
    const [one, other] = [await register(api), await register(api)];
    const json = { currentPassword: other.password };

    await api('DELETE', `/api/users/${one.id}`, await asAdmin());
    await api('POST', '/api/account-deletions', { token: other.token, json });

    const kept = (await userItems(service)).map(({ pk }) => pk);
    expect(kept.filter((pk) => [`seen#${one.id}`, `seen#${other.id}`].includes(`${pk}`))).toEqual(
      [],
    );
  });
});

describe('A day that cannot be written', () => {
  it.each([
    ['fails', faults.missingTable, ['seen-not-noted']],
    ['finds another day by then', faults.conditionFails, []],
  ])(
    'because its write %s leaves registrations, logins and refreshes as they are',
    async (_, fault, events) => {
      const user = await register(api);
      passDays(1);
      const logged = vi.spyOn(console, 'error').mockReturnValue();
      proxy.impose({ fault: onNotes(fault) });

      const agent = uniqueAgent();
      const headers = { 'user-agent': agent };
      const json = { name: 'N', email: uniqueEmail(), password: 'pass-word-1' };
      const answers = [
        await api('POST', '/api/refresh', { json: { refreshToken: user.refreshToken }, headers }),
        await api('POST', '/api/auth/register', { json, headers }),
      ];
      passDays(1);
      answers.push(await api('POST', '/api/login', { json: user, headers }));

      proxy.impose();
      const lines = logged.mock.calls.map(([line]) => JSON.parse(String(line)));
      logged.mockRestore();
      expect(answers.map(({ status }) => status)).toEqual([200, 201, 200]);
      expect(lines.map(({ event }) => event)).toEqual([...events, ...events, ...events]);
      const entries = await entriesOf({ ...service, ...(await adminNow()) }, agent);
      expect(entries.map(({ action, result }) => [action, result])).toEqual([
        ['CREATE', 'SUCCESS'],
        ['LOGIN', 'SUCCESS'],
      ]);
    },
  );
});

describe('last_seen_on', () => {
  it('is shown to the user, to admins, auditors and machines that read users, and to nobody else', async () => {
    const [user, other] = [await register(api), await register(api)];
    const auditor = await appoint(api, await logIn(api, admin), await register(api));
    const { key } = await makeMachine(api, await logIn(api, admin), ['users:read']);
    const made = await makeUser(api, other.token);

    const day = { last_seen_on: daysAgo(0) };
    for (const token of [user.token, await logIn(api, admin), auditor.token, key]) {
      expect(await show(user.id, token)).toMatchObject(day);
    }
    expect(await show(user.id, other.token)).not.toHaveProperty('last_seen_on');
    await logIn(api, made);
    expect(await show(made.id, other.token)).not.toHaveProperty('last_seen_on');
  });

  it('is in no other response about a user', async () => {
    const user = await register(api);
    const json = { name: 'New' };

    const responses = [
      await api('PUT', `/api/users/${user.id}`, { token: user.token, json }),
      await api('GET', '/api/profile', { token: user.token }),
      await api('GET', '/api/users', await asAdmin()),
      await api('GET', `/api/users?email=${user.email}`, await asAdmin()),
    ];

    for (const { status, text } of responses) {
      expect([status, text]).toEqual([200, expect.not.stringContaining('last_seen_on')]);
    }
  });
});

describe('GET /api/users?seenBefore', () => {
  it('lists whoever was last seen before the day, longest ago first, with the day of each', async () => {
    const gone = await register(api);
    passDays(1);
    const [seen, back] = [await register(api), await register(api)];
    passDays(3);
    await logIn(api, back);
    const list = (query: string, token: string) =>
      api('GET', `/api/users?limit=100&seenBefore=${query}`, { token });
    const { token } = await asAdmin();

    const { status, body, headers } = await list(daysAgo(2), token);

    expect([status, headers.get('link')]).toEqual([200, null]);
    const mine = body.filter(({ id }: { id: number }) => [gone.id, seen.id, back.id].includes(id));
    const { identities: _, passkeys: __, attributes, ...shown } = await show(gone.id, token);
    expect(mine).toEqual([shown, { ...mine[1], id: seen.id, last_seen_on: daysAgo(3) }]);
    expect(shown.last_seen_on).toBe(daysAgo(4));
    const whole = await list(`${daysAgo(2)}&attributes=true`, token);
    expect(whole.body).toContainEqual({ ...shown, attributes });
  });

  it('leads on by `Link`, and refuses the cursor of another day or order', async () => {
    await register(api);
    await register(api);
    passDays(1);
    const { token } = await asAdmin();
    const get = (path: string) => api('GET', path, { token });
    const first = await get(`/api/users?limit=1&seenBefore=${daysAgo(0)}`);
    const next = nextPage(first) ?? '';

    const second = await get(next);

    expect([first.body.length, second.status]).toEqual([1, 200]);
    expect(second.body[0].id).not.toBe(first.body[0].id);
    const invalid = refusal(400, 'cursor is invalid');
    expect(outcome(await get(next.replace(daysAgo(0), daysAgo(1))))).toEqual(invalid);
    expect(outcome(await get(`${next}&order=desc`))).toEqual(invalid);
    expect(outcome(await get(next.replace(/seenBefore=[^&]+&/, '')))).toEqual(invalid);
  });

  it.each([
    ['seenBefore=2026-02-30', 'seenBefore must be a date such as 2026-11-20'],
    ['seenBefore=2026-08-30T00:00:00Z', 'seenBefore must be a date such as 2026-11-20'],
    ['seenBefore=', 'seenBefore must be a date such as 2026-11-20'],
    [
      'seenBefore=2026-08-30&limit=101',
      'limit must be a whole number from 1 to 100 with seenBefore',
    ],
    ['seenBefore=2026-08-30&search=a', 'seenBefore must not be given with search'],
    ['seenBefore=2026-08-30&role=admin', 'seenBefore must not be given with role'],
    ['seenBefore=2026-08-30&status=suspended', 'seenBefore must not be given with status'],
    ['seenBefore=2026-08-30&auditor=true', 'seenBefore must not be given with auditor'],
    ['seenBefore=2026-08-30&email=ada@example.org', 'seenBefore must not be given with email'],
  ])('answers 400 to ?%s', async (query, message) => {
    expect(outcome(await api('GET', `/api/users?${query}`, await asAdmin()))).toEqual(
      refusal(400, message),
    );
  });

  it('is for admins, auditors and machines that read users, and 403 for others', async () => {
    const auditor = await appoint(api, await logIn(api, admin), await register(api));
    const { key } = await makeMachine(api, await logIn(api, admin), ['users:read']);
    const { token } = await register(api);
    const list = (by: string) => api('GET', '/api/users?seenBefore=2026-08-30', { token: by });

    expect(outcome(await list(token))).toEqual(refusal(403, 'Forbidden'));
    for (const by of [auditor.token, key]) expect((await list(by)).status).toBe(200);
  });
});

describe('Where there are no sessions', async () => {
  const plain = await serviceForThisFile();

  it('nothing is stored or shown, and `seenBefore` is ignored', async () => {
    const user = await register(plain.api);
    const token = await logIn(plain.api, plain.admin);

    const shown = await plain.api('GET', `/api/users/${user.id}`, { token });
    const list = await plain.api('GET', '/api/users?seenBefore=x&limit=1', { token: user.token });

    expect([shown.status, list.status, list.body.length]).toEqual([200, 200, 1]);
    expect(shown.body).not.toHaveProperty('last_seen_on');
    const keys = (await userItems(plain)).map(({ pk }) => String(pk));
    expect(keys.filter((pk) => pk.startsWith('seen#'))).toEqual([]);
  });
});

describe('A table without the index, as one that was taken over,', async () => {
  const older = await serviceForThisFile({ SESSION_DAYS: '90' });
  const engine = engineClient(inject('engine'));
  const IndexName = usersIndexes.lastSeen.name;
  const TableName = older.environment.USERS_TABLE;
  const GlobalSecondaryIndexUpdates = [{ Delete: { IndexName } }];
  await engine.send(new UpdateTableCommand({ TableName, GlobalSecondaryIndexUpdates }));
  await until(async () => {
    const { Table } = await engine.send(new DescribeTableCommand({ TableName }));
    return !Table?.GlobalSecondaryIndexes?.some((index) => index.IndexName === IndexName);
  });

  it('makes `seenBefore` a storage fault, and all else works', async () => {
    const token = await logIn(older.api, older.admin);
    const user = await register(older.api);
    await logIn(older.api, user);
    const json = { refreshToken: user.refreshToken };
    expect((await older.api('POST', '/api/refresh', { json })).status).toBe(200);

    const listed = await older.api('GET', `/api/users?seenBefore=${daysAgo(-1)}`, { token });

    expect([listed.status, listed.headers.get('error-code')]).toEqual([500, 'STORAGE_FAULT']);
    expect(listed.body).toEqual({ message: 'Error listing users', err: expect.any(String) });
    const path = `/api/users/${user.id}`;
    const { body } = await older.api('GET', path, { token });
    expect(body.last_seen_on).toBe(daysAgo(0));
    expect((await older.api('GET', '/api/users', { token })).status).toBe(200);
    expect((await older.api('DELETE', path, { token })).status).toBe(204);
  });
});

/** An admin who has just logged in, however many days have passed. */
async function asAdmin() {
  return { token: await logIn(api, admin) };
}

async function adminNow() {
  return { adminToken: await logIn(api, admin) };
}
