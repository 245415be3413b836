/** Requests about everybody's data, refused ones, and those of the in-memory variant. */
import { randomInt } from 'node:crypto';
import { isExpected } from './ledger.ts';
import { maxMemoryUsers, newEmail, pick, type Worker } from './worker.ts';

export const list = async ({ client, ledger, adminToken }: Worker) => {
  const path = `/api/users?limit=${1 + randomInt(100)}`;
  const answer = await client.send('GET /api/users', { token: adminToken }, path);
  isExpected(ledger, 'list', answer, 200);
};

export const audit = async ({ client, ledger, adminToken, accounts }: Worker) => {
  const userId = pick(accounts)?.id ?? 1;
  const filters = ['', '?action=LOGIN', `?userId=${userId}`, `?userId=${userId}&action=CREATE`];
  const path = `/api/admin/audit-logs${pick(filters)}`;
  const answer = await client.send('GET /api/admin/audit-logs', { token: adminToken }, path);
  isExpected(ledger, 'audit', answer, 200);
};

export const beRefused = async ({ client, ledger, accounts }: Worker) => {
  const token = pick(accounts)?.token;
  const bad = await client.send('POST /api/auth/register', { text: '{"name":' });
  isExpected(ledger, 'malformed body', bad, 400);
  const forged = await client.send('GET /api/profile', { token: `${token}x` });
  isExpected(ledger, 'forged token', forged, 401);
  if (!token) return;
  const forbidden = await client.send('DELETE /api/users/{id}', { token }, '/api/users/1');
  isExpected(ledger, 'forbidden', forbidden, 403);
};

export const useMemory = async ({ client, ledger, memoryIds }: Worker) => {
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
