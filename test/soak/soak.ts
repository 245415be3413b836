/**
 * `npm run soak`: 50 connections of mixed traffic for SOAK_SECONDS (120) against the local service
 * on a data folder of its own; then a restart, and everything acknowledged is looked for in the
 * tables and by logging in. Exits with 1 when an answer was wrong or anything is missing.
 */
import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startEngine } from '../../infra/local/engine.ts';
import { type Client, makeClient, type Timings } from './client.ts';
import { enterEntry, type Ledger, makeLedger } from './ledger.ts';
import { type MemoryWatch, watchMemory } from './memory.ts';
import { type ServiceProcess, startServiceProcess } from './service-process.ts';
import { work } from './traffic.ts';
import { checkPasswords, checkTables } from './verify.ts';

const connections = 50;
const seconds = Number(process.env.SOAK_SECONDS ?? 120);
if (!(seconds >= 1 && seconds <= 3600)) throw new Error('SOAK_SECONDS must be from 1 to 3600');
/** At least as long, and the memory of a warm process is compared. */
const warm = 60;
/** At most this many times the memory at a quarter of the time counts as flat. */
const allowedGrowth = 1.25;

const folder = mkdtempSync(join(tmpdir(), 'accounts-soak-'));
const admin = { email: 'root@example.org', password: randomUUID() };
const settings = {
  DATA_DIR: folder,
  ADMIN_EMAIL: admin.email,
  ADMIN_PASSWORD: admin.password,
  BCRYPT_COST: process.env.BCRYPT_COST ?? '4',
  // All of the traffic comes from one address.
  LOGIN_FAILURES_PER_ADDRESS: '0',
};

const logInAsAdmin = async (client: Client, ledger: Ledger): Promise<string> => {
  const { status, body } = await client.send('POST /api/login', { json: admin });
  if (status !== 200) throw new Error(`The admin's login answered ${status}`);
  const profile = await client.send('GET /api/profile', { token: body.token });
  const { id, name } = profile.body.data;
  ledger.accounts.set(id, { ...admin, id, name, role: 'admin' });
  enterEntry(ledger, 'LOGIN', id);
  return body.token;
};

const quantile = (sorted: readonly number[], share: number): string =>
  (sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0).toFixed(1);

const printTimings = (timings: Timings): void => {
  console.log(`\n${'endpoint'.padEnd(28)}  requests   p50 ms   p99 ms   max ms`);
  for (const [endpoint, times] of [...timings].sort()) {
    const sorted = times.toSorted((a, b) => a - b);
    const cells = [0.5, 0.99, 1].map((share) => quantile(sorted, share).padStart(7));
    console.log(`${endpoint.padEnd(28)}  ${String(times.length).padStart(8)}  ${cells.join('  ')}`);
  }
  const total = [...timings.values()].reduce((sum, { length }) => sum + length, 0);
  console.log(`${total} requests, ${Math.round(total / seconds)} a second\n`);
};

const checkMemory = (memory: MemoryWatch, { violations }: Ledger): void => {
  const [early = 0, late = 0] = [memory.between(0.2, 0.3), memory.between(0.9, 1)];
  const growth = early > 0 ? late / early : 1;
  const share = growth.toFixed(2);
  console.log(
    `Memory of the service: ${early.toFixed(0)} MB at 25 %, ${late.toFixed(0)} MB at the end (${share})`,
  );
  if (seconds < warm) console.log(`Not compared: shorter than ${warm} s.`);
  else if (growth > allowedGrowth) violations.push(`the memory grew to ${share} of what it was`);
};

const soak = async (service: ServiceProcess, ledger: Ledger): Promise<void> => {
  const client = makeClient(service.url, connections);
  const adminToken = await logInAsAdmin(client, ledger);
  const memory = watchMemory(service.process.pid ?? 0);
  const deadline = performance.now() + seconds * 1000;
  const means = { client, ledger, adminToken };
  await Promise.all(Array.from({ length: connections }, () => work(means, deadline)));
  memory.stop();
  client.close();
  printTimings(client.timings);
  checkMemory(memory, ledger);
};

const verify = async (output: string, ledger: Ledger): Promise<void> => {
  const engine = await startEngine({ folder });
  const { users, entries, logged } = await checkTables(engine.endpoint, output, ledger);
  await engine.stop();
  const changes = `${ledger.accounts.size} users acknowledged and ${ledger.deleted.size} deleted`;
  console.log(`Tables after a restart: ${users} users, ${entries} audit entries; ${changes}`);
  if (logged > 0) console.log(`Audit entries in the log instead: ${logged}`);
  const service = await startServiceProcess(settings);
  const client = makeClient(service.url, connections);
  await checkPasswords(client, ledger, connections);
  client.close();
  await service.stop();
  console.log('Every acknowledged password was tried.');
};

const run = async (): Promise<Ledger> => {
  const ledger = makeLedger();
  const service = await startServiceProcess(settings);
  try {
    await soak(service, ledger);
  } finally {
    await service.stop();
  }
  await verify(service.output(), ledger);
  return ledger;
};

console.log(
  `Soak: ${connections} connections for ${seconds} s, BCRYPT_COST=${settings.BCRYPT_COST}`,
);
try {
  const { violations } = await run();
  console.log(`\n${violations.length} violations`);
  for (const violation of violations.slice(0, 20)) console.log(`- ${violation}`);
  process.exitCode = violations.length === 0 ? 0 : 1;
} finally {
  rmSync(folder, { recursive: true, force: true });
}
