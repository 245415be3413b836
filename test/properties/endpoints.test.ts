import { randomUUID } from 'node:crypto';
import fc from 'fast-check';
import { decodeJwt } from 'jose';
import { describe, expect, it } from 'vitest';
import { usersIndexes } from '../../lib/dynamodb/tables.ts';
import { endpoints } from '../support/examples.ts';
import {
  type Accounts,
  agrees,
  idSeen,
  type ModelEntry,
  type ModelUser,
  outcomeOf,
  seenIn,
} from '../support/model.ts';
import { counted, holds } from '../support/runs.ts';
import { brokenItems, type Item, usersIn } from '../support/stored-items.ts';
import { claimsWith, signToken } from '../support/tokens.ts';
import { expectSound } from './answers.ts';
import { commandOf } from './commands.ts';
import { type Answer, type Call, startHandlers } from './handlers.ts';
import { requestTo } from './requests.ts';
import { openTables, type Snapshot } from './tables.ts';

const handlers = await startHandlers({
  LOGIN_FAILURES_PER_ACCOUNT: '0',
  LOGIN_FAILURES_PER_ADDRESS: '0',
});
const call = counted(handlers.call);
const tables = openTables(handlers);

const json = { 'content-type': 'application/json' };
const bearer = (token: string) => ({ ...json, authorization: `Bearer ${token}` });

const makeAccount = async (email: string) => {
  const password = `password-${randomUUID()}`;
  const body = JSON.stringify({ name: 'Some One', email, password });
  const { text = '' } = await handlers.call({
    route: 'POST /api/auth/register',
    headers: json,
    body,
  });
  const { token } = JSON.parse(text);
  return { id: Number(decodeJwt(token).id), email, password, token };
};

/** An administrator, two users, and one who is gone but whose token is still valid. */
const makeSurroundings = async () => {
  const root = await makeAccount('root@b');
  const ada = await makeAccount('Ada@example.org');
  const elan = await makeAccount('élan@example.org');
  const gone = await makeAccount('gone@b');
  const admin = signToken(claimsWith({ ...root, role: 'admin' }), handlers.jwtSecret);
  const headers = bearer(admin);
  const body = JSON.stringify({ role: 'admin' });
  await handlers.call({ route: 'PUT /api/users/{id}', id: String(root.id), headers, body });
  await handlers.call({ route: 'DELETE /api/users/{id}', id: String(gone.id), headers });
  const page = { route: 'GET /api/users', headers, query: { limit: '1' } };
  const { Link = '' } = (await handlers.call(page)).headers;
  return {
    tokens: [admin, ada.token, elan.token, gone.token] as const,
    secret: handlers.jwtSecret,
    accounts: [root, ada, elan, gone],
    cursors: [/cursor=([^&>]+)/.exec(Link)?.[1] ?? ''],
  };
};

const known = await makeSurroundings();
const setUp = await tables.read();
await tables.restore(setUp, setUp);
const before: Snapshot = { ...setUp, audit: [] };
const startingAccounts: Accounts = new Map(
  usersIn(before.users).map((item) => {
    const { name, email, role } = item as unknown as ModelUser;
    const { password = '' } = known.accounts.find(({ id }) => id === item.id) ?? {};
    return [Number(item.id), { name, email, role, password }];
  }),
);
const secrets = [
  known.secret,
  ...known.accounts.map(({ password }) => password),
  ...usersIn(before.users).map(({ password_hash }) => String(password_hash)),
];

const shown = ({ id, name, email, role }: Item) => ({ id, name, email, role });
const byId = (items: Iterable<Item>) => [...items].sort((a, b) => Number(a.id) - Number(b.id));
const entryOf = ({ action, result, user_id, resource_id, details }: ModelEntry) => ({
  action,
  result,
  user_id,
  resource_id,
  details,
});

const { byCreatedAt: listing, admins } = usersIndexes;
const isWellFormed = (item: Item) => {
  const name = String(item.name);
  const email = String(item.email);
  return (
    name === name.trim() &&
    [...name].length >= 1 &&
    [...name].length <= 100 &&
    [...email].length <= 191 &&
    /^[^\s@]+@[^\s@]+$/.test(email) &&
    /^(\$bcrypt-sha256\$v=1)?\$2b\$04\$.{53}$/.test(String(item.password_hash)) &&
    item[listing.partitionKey.name] === 'users' &&
    (item[admins.partitionKey.name] === 'admins') === (item.role === 'admin')
  );
};

/** Users and entries that responses say must be there. */
interface Due {
  readonly accounts: Accounts;
  readonly entries: readonly ModelEntry[];
}

/** What is due after one more call, whose response must be the model's. */
const after = ({ accounts, entries }: Due, request: Call, answer: Answer): Due => {
  const command = commandOf(request, answer);
  if (!command) return { accounts, entries };
  const { status, text } = answer;
  const seen = seenIn({ status, body: text ? JSON.parse(text) : undefined });
  const outcome = outcomeOf(accounts, command, idSeen(seen));
  expect(status).toBe(outcome.status);
  expect(agrees(seen, outcome)).toBe(true);
  return {
    accounts: outcome.after ?? accounts,
    entries: outcome.entry ? [...entries, outcome.entry] : entries,
  };
};

const expectTables = ({ users, audit }: Snapshot, { accounts, entries }: Due) => {
  const stored = usersIn(users);
  const modelled = [...accounts].map(([id, user]) => shown({ ...user, id }));
  expect(byId(stored.map(shown))).toEqual(byId(modelled));
  expect(brokenItems(users)).toEqual([]);
  expect(stored.filter((item) => !isWellFormed(item))).toEqual([]);
  expect(audit.map(entryOf)).toEqual(entries.map(entryOf));
  const hashes = new Map(usersIn(before.users).map((item) => [item.id, item.password_hash]));
  const changed = stored.filter(({ id, password_hash }) => hashes.get(id) !== password_hash);
  const given = entries.filter(
    ({ action, details }) => action === 'CREATE' || details?.includes('"password"'),
  );
  const withPassword = new Set(given.map(({ resource_id }) => resource_id));
  expect(changed.filter(({ id }) => !withPassword.has(String(id)))).toEqual([]);
};

const withToken = new Set(
  endpoints.filter(({ caller }) => caller !== 'anyone').map(({ route }) => route),
);

/** A token is refused if and only if the service did not issue it. */
const expectAuthenticated = ({ route, headers }: Call, { status }: Answer) => {
  if (!withToken.has(route)) return;
  const isIssued = known.tokens.some((token) => headers.authorization === `Bearer ${token}`);
  expect(status === 401).toBe(!isIssued);
};

/** Sends the calls one after the other and compares the tables with what the answers say. */
const expectHonest = async (calls: readonly Call[]) => {
  const exchanges: [Call, Answer][] = [];
  for (const request of calls) exchanges.push([request, await call(request)]);
  const snapshot = await tables.read();
  await tables.restore(before, snapshot);

  for (const [request, answer] of exchanges) {
    expectSound(answer, secrets);
    expectAuthenticated(request, answer);
  }
  const start: Due = { accounts: startingAccounts, entries: [] };
  const due = exchanges.reduce((so, [request, answer]) => after(so, request, answer), start);
  expectTables(snapshot, due);
};

/** The in-memory users have properties of their own: in-memory-users.test.ts. */
const stored = endpoints.filter(({ definition }) => definition.permissions.length > 0);
/** What a body can say takes more cases than what else can be sent. */
const runs = { withBody: 75, without: 35 } as const;

describe('Whatever is sent,', () => {
  it.each(stored)(
    '$route gives valid responses, and does exactly what its responses say',
    async ({ route, json }) => {
      const calls = fc.array(requestTo(route, known), { minLength: 1, maxLength: 12, size: 'max' });

      await holds(json ? runs.withBody : runs.without, fc.asyncProperty(calls, expectHonest));
    },
  );

  it('all endpoints in any order give valid responses, and do exactly what their responses say', async () => {
    const any = fc.oneof(...stored.map(({ route }) => requestTo(route, known)));
    const calls = fc.array(any, { minLength: 1, maxLength: 12, size: 'max' });

    await holds(50, fc.asyncProperty(calls, expectHonest));
  });
});
