/**
 * `npm run soak`: 50 connections of mixed traffic for SOAK_SECONDS (120) against the local service
 * on a data folder of its own, with several runs of the sealer; then a restart, and everything
 * acknowledged is looked for in the tables and by logging in. Exits with 1 when an answer was wrong
 * or anything is missing.
 */
import { randomUUID } from 'node:crypto';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startEngine } from '../../infra/local/engine.ts';
import { type ApiClient, apiClient, logIn } from '../support/client.ts';
import { type ServiceProcess, startServiceProcess } from '../support/service-process.ts';
import { type MemoryWatch, watchMemory } from './memory.ts';
import { entryKey, type Findings, work } from './traffic.ts';
import { checkPasswords, checkTables } from './verify.ts';

const connections = 50;
const seconds = Number(process.env.SOAK_SECONDS ?? 120);
if (!(seconds >= 1 && seconds <= 3600)) throw new Error('SOAK_SECONDS must be from 1 to 3600');
/** At least as long, and the memory of a warm process is compared. */
const warm = 60;
/** Runs of the sealer that must be in it. */
const leastRuns = 3;
/** At most this many times the memory at a quarter of the time counts as flat. */
const allowedGrowth = 1.25;

const folder = mkdtempSync(join(tmpdir(), 'accounts-soak-'));
const admin = { email: 'root@example.org', password: randomUUID() };
const settings = {
  DATA_DIR: folder,
  ADMIN_EMAIL: admin.email,
  ADMIN_PASSWORD: admin.password,
  BCRYPT_COST: process.env.BCRYPT_COST ?? '4',
  // Several runs of the sealer are in it, however short it is.
  AUDIT_SEAL_INTERVAL: String(Math.ceil(seconds / 5)),
  // All of the traffic comes from one address.
  LOGIN_FAILURES_PER_ADDRESS: '0',
};

/** Milliseconds that responses took, by route. */
type Timings = Map<string, number[]>;

const timed =
  (api: ApiClient, timings: Timings): ApiClient =>
  async (method, path, options) => {
    const begun = performance.now();
    const response = await api(method, path, options);
    const route = `${method} ${path.replace(/\?.*/, '').replace(/\/\d+$/, '/{id}')}`;
    const times = timings.get(route) ?? [];
    timings.set(route, times);
    times.push(performance.now() - begun);
    return response;
  };

/** Enters the admin whom the start made, and of whom the clients know nothing. */
const logInAsAdmin = async (api: ApiClient, findings: Findings): Promise<string> => {
  const token = await logIn(api, admin);
  const { id, name, role } = (await api('GET', '/api/profile', { token })).body.data;
  findings.accounts.set(id, { ...admin, name, role });
  for (const action of ['CREATE', 'LOGIN']) {
    findings.entries.set(entryKey({ action, result: 'SUCCESS', resource_id: String(id) }), 1);
  }
  return token;
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

const checkMemory = (memory: MemoryWatch, { violations }: Findings): void => {
  const [early = 0, late = 0] = [memory.between(0.2, 0.3), memory.between(0.9, 1)];
  const growth = early > 0 ? late / early : 1;
  const share = growth.toFixed(2);
  console.log(
    `Memory of the service: ${early.toFixed(0)} MB at 25 %, ${late.toFixed(0)} MB at the end (${share})`,
  );
  if (seconds < warm) console.log(`Not compared: shorter than ${warm} s.`);
  else if (growth > allowedGrowth) violations.push(`the memory grew to ${share} of what it was`);
};

/** Each run of the sealer writes a file. */
const checkSealing = (memory: MemoryWatch, { violations }: Findings): void => {
  const names = readdirSync(join(folder, 'audit-archive'));
  const files = names.filter((name) => name.endsWith('.ndjson.gz')).length;
  console.log(`Files sealed: ${files}; a run took ${memory.ofSealer().toFixed(0)} MB at most`);
  if (files < leastRuns) violations.push(`only ${files} runs of the sealer`);
};

const soak = async (service: ServiceProcess, findings: Findings): Promise<void> => {
  const timings: Timings = new Map();
  const api = timed(apiClient(service.url), timings);
  const adminToken = await logInAsAdmin(api, findings);
  const memory = watchMemory(service.process.pid ?? 0);
  const deadline = performance.now() + seconds * 1000;
  const means = { api, findings, adminToken };
  await Promise.all(Array.from({ length: connections }, () => work(means, deadline)));
  memory.stop();
  printTimings(timings);
  checkMemory(memory, findings);
  checkSealing(memory, findings);
};

const verify = async (output: string, findings: Findings): Promise<void> => {
  const engine = await startEngine({ folder });
  const { users, entries, logged } = await checkTables(engine.endpoint, output, findings);
  await engine.stop();
  const acknowledged = `${findings.accounts.size} users acknowledged`;
  console.log(`Tables after a restart: ${users} users, ${entries} audit entries; ${acknowledged}`);
  if (logged > 0) console.log(`Audit entries in the log instead: ${logged}`);
  const service = await startServiceProcess(settings);
  await checkPasswords(apiClient(service.url), findings, connections);
  await service.stop();
  console.log('Every acknowledged password was tried.');
};

const run = async (): Promise<Findings> => {
  const findings: Findings = { accounts: new Map(), entries: new Map(), violations: [] };
  const service = await startServiceProcess(settings);
  try {
    await soak(service, findings);
  } finally {
    await service.stop();
  }
  await verify(service.output(), findings);
  return findings;
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
