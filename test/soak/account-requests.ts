/** Requests about a client's own accounts, each of which has one right answer. */
import { randomInt } from 'node:crypto';
import { decodeJwt } from 'jose';
import { enterEntry, isExpected } from './ledger.ts';
import { maxAccounts, newEmail, newFields, pick, replace, type Worker } from './worker.ts';

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

export const remove = async (worker: Worker) => {
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

export const register = async (worker: Worker) => {
  if (worker.accounts.length >= maxAccounts) await remove(worker);
  await registerAs(worker, newEmail(), 201);
};

/** All clients want the same address in the same second: one of them gets it. */
export const contest = (worker: Worker) =>
  registerAs(worker, `contested-${Math.floor(Date.now() / 1000)}@example.org`, 201, 409);

export const logIn = async ({ client, ledger, accounts }: Worker) => {
  const account = pick(accounts);
  if (!account) return;
  const { id, email, password } = account;
  const json = { email: email.toUpperCase(), password };
  const answer = await client.send('POST /api/login', { json });
  if (!isExpected(ledger, 'login', answer, 200)) return;
  enterEntry(ledger, 'LOGIN', id);
};

export const failToLogIn = async ({ client, ledger, accounts }: Worker) => {
  const { id = null, email = newEmail() } = randomInt(2) ? (pick(accounts) ?? {}) : {};
  const json = { email, password: 'wrong' };
  const answer = await client.send('POST /api/login', { json });
  // Ten failures in a quarter of an hour and the account must wait; that leaves no entry.
  if (!isExpected(ledger, 'failed login', answer, id === null ? 404 : 401, 429)) return;
  if (answer.status !== 429) enterEntry(ledger, 'LOGIN', id, 'FAILURE');
};

export const readOwn = async ({ client, ledger, accounts }: Worker) => {
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

export const update = async (worker: Worker) => {
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

export const create = async (worker: Worker) => {
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
