/** One client among many: requests at random, each of which has one right answer. */
import { randomInt, randomUUID } from 'node:crypto';
import { decodeJwt } from 'jose';
import type { Client } from './client.ts';
import { type Account, enterEntry, isExpected, type Ledger } from './ledger.ts';

/** A client's own accounts: nobody else touches them, so that it knows what is in them. */
interface Worker {
  readonly client: Client;
  readonly ledger: Ledger;
  readonly adminToken: string;
  readonly accounts: (Account & { readonly token: string })[];
  readonly memoryIds: number[];
}

/** Accounts, and users of the in-memory variant, that a client keeps at most. */
const maxAccounts = 20;
const maxMemoryUsers = 5;

const pick = <T>(items: readonly T[]): T | undefined => items[randomInt(Math.max(1, items.length))];
const newEmail = () => `${randomUUID()}@Example.org`;
const newFields = () => ({
  ...{ name: `Name ${randomInt(1000)}`, email: newEmail(), password: randomUUID() },
});

const replace = (worker: Worker, account: Worker['accounts'][number]) => {
  const at = worker.accounts.findIndex(({ id }) => id === account.id);
  worker.accounts.splice(at, at < 0 ? 0 : 1, account);
  worker.ledger.accounts.set(account.id, account);
};

const registerAs = async (worker: Worker, email: string, ...expected: readonly number[]) => {
  const { client, ledger } = worker;
  const fields = { ...newFields(), email };
  const answer = await client.send('POST /api/auth/register', { json: fields });
  if (!isExpected(ledger, 'register', answer, ...expected) || answer.status !== 201) return;
  const { token } = answer.body;
  const id = Number(decodeJwt(token).id);
  replace(worker, { ...fields, id, role: 'user', token });
  enterEntry(ledger, 'CREATE', id);
};

const remove = async (worker: Worker) => {
  const { client, ledger, adminToken, accounts } = worker;
  const [account] = accounts.splice(randomInt(Math.max(1, accounts.length)), 1);
  if (!account) return;
  const path = `/api/users/${account.id}`;
  const answer = await client.send('DELETE /api/users/{id}', { token: adminToken }, path);
  if (!isExpected(ledger, 'delete', answer, 204)) return;
  ledger.accounts.delete(account.id);
  ledger.deleted.add(account.id);
  enterEntry(ledger, 'DELETE', account.id);
  const again = await client.send('GET /api/users/{id}', { token: adminToken }, path);
  isExpected(ledger, 'get after delete', again, 404);
};

const register = async (worker: Worker) => {
  if (worker.accounts.length >= maxAccounts) await remove(worker);
  await registerAs(worker, newEmail(), 201);
};

/** All clients want the same address in the same second: one of them gets it. */
const contest = (worker: Worker) =>
  registerAs(worker, `contested-${Math.floor(Date.now() / 1000)}@example.org`, 201, 409);

const logIn = async ({ client, ledger, accounts }: Worker) => {
  const account = pick(accounts);
  if (!account) return;
  const { id, email, password } = account;
  const json = { email: email.toUpperCase(), password };
  const answer = await client.send('POST /api/login', { json });
  if (!isExpected(ledger, 'login', answer, 200)) return;
  enterEntry(ledger, 'LOGIN', id);
};

const failToLogIn = async ({ client, ledger, accounts }: Worker) => {
  const { id = null, email = newEmail() } = randomInt(2) ? (pick(accounts) ?? {}) : {};
  const json = { email, password: 'wrong' };
  const answer = await client.send('POST /api/login', { json });
  // Ten failures in a quarter of an hour and the account must wait; that leaves no entry.
  if (!isExpected(ledger, 'failed login', answer, id === null ? 404 : 401, 429)) return;
  if (answer.status !== 429) enterEntry(ledger, 'LOGIN', id, 'FAILURE');
};

const readOwn = async ({ client, ledger, accounts }: Worker) => {
  const account = pick(accounts);
  if (!account) return;
  const { id, name, email, role, token } = account;
  const profile = randomInt(2) === 1;
  const answer = profile
    ? await client.send('GET /api/profile', { token })
    : await client.send('GET /api/users/{id}', { token }, `/api/users/${id}`);
  if (!isExpected(ledger, 'read', answer, 200)) return;
  const shown = profile ? answer.body.data : answer.body;
  const seen = JSON.stringify([shown.id, shown.name, shown.email, shown.role]);
  if (seen !== JSON.stringify([id, name, email, role])) {
    ledger.violations.push(`read: ${seen} is not what was last acknowledged for user ${id}`);
  }
};

const update = async (worker: Worker) => {
  const { client, ledger, accounts } = worker;
  const account = pick(accounts);
  if (!account) return;
  const { name, email, password } = newFields();
  const json = pick<object>([{ name }, { email }, { password }, { name, email, password }]) ?? {};
  const path = `/api/users/${account.id}`;
  const answer = await client.send('PUT /api/users/{id}', { token: account.token, json }, path);
  if (!isExpected(ledger, 'update', answer, 200)) return;
  replace(worker, { ...account, ...json });
  enterEntry(ledger, 'UPDATE', account.id);
};

const create = async (worker: Worker) => {
  const { client, ledger, adminToken, accounts } = worker;
  if (accounts.length >= maxAccounts) await remove(worker);
  const fields = newFields();
  const answer = await client.send('POST /api/users', { token: adminToken, json: fields });
  if (!isExpected(ledger, 'create', answer, 201)) return;
  const { id } = answer.body;
  enterEntry(ledger, 'CREATE', id);
  const login = await client.send('POST /api/login', { json: fields });
  if (!isExpected(ledger, 'first login', login, 200)) return;
  enterEntry(ledger, 'LOGIN', id);
  replace(worker, { ...fields, id, role: 'user', token: login.body.token });
};

const list = async ({ client, ledger, adminToken }: Worker) => {
  const path = `/api/users?limit=${1 + randomInt(100)}`;
  const answer = await client.send('GET /api/users', { token: adminToken }, path);
  isExpected(ledger, 'list', answer, 200);
};

const audit = async ({ client, ledger, adminToken, accounts }: Worker) => {
  const userId = pick(accounts)?.id ?? 1;
  const filters = ['', '?action=LOGIN', `?userId=${userId}`, `?userId=${userId}&action=CREATE`];
  const path = `/api/admin/audit-logs${pick(filters)}`;
  const answer = await client.send('GET /api/admin/audit-logs', { token: adminToken }, path);
  isExpected(ledger, 'audit', answer, 200);
};

const beRefused = async ({ client, ledger, accounts }: Worker) => {
  const token = pick(accounts)?.token;
  const bad = await client.send('POST /api/auth/register', { text: '{"name":' });
  isExpected(ledger, 'malformed body', bad, 400);
  const forged = await client.send('GET /api/profile', { token: `${token}x` });
  isExpected(ledger, 'forged token', forged, 401);
  if (!token) return;
  const forbidden = await client.send('DELETE /api/users/{id}', { token }, '/api/users/1');
  isExpected(ledger, 'forbidden', forbidden, 403);
};

const useMemory = async ({ client, ledger, memoryIds }: Worker) => {
  const json = { name: 'n', email: newEmail() };
  const made = await client.send('POST /api/v1/users', { json });
  if (!isExpected(ledger, 'v1 create', made, 201)) return;
  memoryIds.push(made.body.id);
  const path = `/api/v1/users/${made.body.id}`;
  const patched = await client.send('PATCH /api/v1/users/{id}', { json: { name: 'm' } }, path);
  isExpected(ledger, 'v1 patch', patched, 200);
  isExpected(ledger, 'v1 get', await client.send('GET /api/v1/users/{id}', {}, path), 200);
  if (memoryIds.length <= maxMemoryUsers) return;
  const old = `/api/v1/users/${memoryIds.shift()}`;
  isExpected(ledger, 'v1 delete', await client.send('DELETE /api/v1/users/{id}', {}, old), 204);
};

const actions: readonly (readonly [weight: number, act: (worker: Worker) => Promise<void>])[] = [
  [3, register],
  [1, contest],
  [3, logIn],
  [1, failToLogIn],
  [8, readOwn],
  [4, update],
  [1, create],
  [1, remove],
  [2, list],
  [1, audit],
  [1, beRefused],
  [1, useMemory],
];
const choices = actions.flatMap(([weight, act]) => Array.from({ length: weight }, () => act));

/** Requests of one client at most, whatever the time. */
const maxActions = 1_000_000;

/** @param deadline of `performance.now()` */
export const work = async (
  means: Pick<Worker, 'client' | 'ledger' | 'adminToken'>,
  deadline: number,
): Promise<void> => {
  const worker: Worker = { ...means, accounts: [], memoryIds: [] };
  for (let i = 0; i < maxActions && performance.now() < deadline; i += 1) {
    const act = pick(choices) ?? readOwn;
    try {
      await act(worker);
    } catch (error) {
      means.ledger.violations.push(`${act.name}: no answer, ${error}`);
    }
  }
};
