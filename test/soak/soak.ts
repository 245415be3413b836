/**
 * `npm run soak`: 50 connections of mixed traffic for SOAK_SECONDS (120) against the local service on a data folder of
 * its own, with several runs of the sealer. After a restart it checks everything that was acknowledged, in the tables
 * and by logging in. Exits with 1 when a response was wrong or anything is missing.
 */
import { randomUUID } from 'node:crypto';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startEngine } from '../../infra/local/engine.ts';
import { median } from '../bench/statistics.ts';
import { type ApiClient, apiClient, logIn } from '../support/client.ts';
import { type ServiceProcess, startServiceProcess } from '../support/service-process.ts';
import { entryKey, type Findings, work } from './traffic.ts';
import { checkPasswords, checkTables } from './verify.ts';

const connections = 50;
const seconds = Number(process.env.SOAK_SECONDS ?? 120);
if (!(seconds >= 1 && seconds <= 3600)) throw new Error('SOAK_SECONDS must be from 1 to 3600');
/** Only a soak of at least this many seconds compares memory, because a shorter one does not warm the process up. */
const warm = 60;
/** The least number of runs of the sealer in a soak. */
const leastRuns = 3;
/** Memory counts as constant up to this many times the memory at a quarter of the time. */
const allowedGrowth = 1.25;

const folder = mkdtempSync(join(tmpdir(), 'accounts-soak-'));
const admin = { email: 'root@example.org', password: randomUUID() };
const settings = {
  DATA_DIR: folder,
  ADMIN_EMAIL: admin.email,
  ADMIN_PASSWORD: admin.password,
  BCRYPT_COST: process.env.BCRYPT_COST ?? '4',
  // The sealer runs several times, however short the soak is.
  AUDIT_SEAL_INTERVAL: String(Math.ceil(seconds / 5)),
  // All of the traffic comes from one address.
  LOGIN_FAILURES_PER_ADDRESS: '0',
};

/**
 * Logs in as the admin whom the start created, and adds the admin to the findings: the clients do not know this admin.
 */
const logInAsAdmin = async (api: ApiClient, findings: Findings): Promise<string> => {
  const token = await logIn(api, admin);
  const { id, name, role } = (await api('GET', '/api/profile', { token })).body.data;
  findings.accounts.set(id, { ...admin, name, role });
  for (const action of ['CREATE', 'LOGIN']) {
    findings.entries.set(entryKey({ action, result: 'SUCCESS', resource_id: String(id) }), 1);
  }
  return token;
};

/** Megabytes of a process that are in memory, every half second; empty if the system does not report them. */
const watchMemory = (pid: number) => {
  const samples: number[] = [];
  const timer = setInterval(() => {
    const path = `/proc/${pid}/status`;
    const status = existsSync(path) ? readFileSync(path, 'utf8') : '';
    const [, kilobytes] = /^VmRSS:\s+(\d+) kB$/m.exec(status) ?? [];
    if (kilobytes) samples.push(Number(kilobytes) / 1024);
  }, 500);
  return { samples, stop: () => clearInterval(timer) };
};

const checkMemory = (samples: readonly number[], { violations }: Findings): void => {
  const between = (from: number, to: number) =>
    median(samples.slice(samples.length * from, samples.length * to)) || 0;
  const [early, late] = [between(0.2, 0.3), between(0.9, 1)];
  const growth = early > 0 ? late / early : 1;
  const share = growth.toFixed(2);
  console.log(
    `Memory of the service: ${early.toFixed(0)} MB at 25 %, ${late.toFixed(0)} MB at the end (${share})`,
  );
  if (seconds < warm) console.log(`Not compared: shorter than ${warm} s.`);
  else if (growth > allowedGrowth) violations.push(`the memory grew to ${share} of what it was`);
};

/** Each run of the sealer writes a file. */
const checkSealing = ({ violations }: Findings): void => {
  const names = readdirSync(join(folder, 'audit-archive'));
  const files = names.filter((name) => name.endsWith('.ndjson.gz')).length;
  console.log(`Files sealed: ${files}`);
  if (files < leastRuns) violations.push(`only ${files} runs of the sealer`);
};

const soak = async (service: ServiceProcess, findings: Findings): Promise<void> => {
  const call = apiClient(service.url);
  let requests = 0;
  const api: ApiClient = (...request) => {
    requests += 1;
    return call(...request);
  };
  const adminToken = await logInAsAdmin(api, findings);
  const memory = watchMemory(service.process.pid ?? 0);
  const deadline = performance.now() + seconds * 1000;
  const means = { api, findings, adminToken };
  await Promise.all(Array.from({ length: connections }, () => work(means, deadline)));
  memory.stop();
  console.log(`${requests} requests, ${Math.round(requests / seconds)} a second`);
  checkMemory(memory.samples, findings);
  checkSealing(findings);
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
