/**
 * `npm run bench -- seal`: measures the first sealing of a table of 300,000 entries, and a verification after it: time,
 * memory and temporary files. It runs on dynoxide, in memory, and takes minutes, most of them to write the entries.
 * `npm run bench -- seal 1000000` measures another size. It fails if memory or files exceed their limits, which are the
 * same for each size.
 */
import { spawn } from 'node:child_process';
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readlinkSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createTables } from '../../infra/local/create-tables.ts';
import { startEngine } from '../../infra/local/engine.ts';
import { makeKey } from '../../lib/seal/folder-archive.ts';
import { writeBatches } from '../support/write-batches.ts';

const size = Number(process.argv[2] ?? 300_000);

/** The most megabytes of a process, and of the sealer's temporary files. */
const allowed = { resident: 256, temporary: 50 };

/** A heap far smaller than the heap of a function. */
const heap = ['--max-old-space-size=80', '--max-semi-space-size=4', '--expose-gc'];

/** The number of entries in a file, which is the default. */
const fileSize = 100_000;

const engine = await startEngine({ only: 'dynoxide' });
Object.assign(process.env, {
  AWS_REGION: 'us-east-1',
  AWS_ACCESS_KEY_ID: 'local',
  AWS_SECRET_ACCESS_KEY: 'local',
  AWS_ENDPOINT_URL_DYNAMODB: engine.endpoint,
  AUDIT_TABLE: 'audit',
});
// Imported only now, because these modules read the environment.
const { makeEntry } = await import('../../lib/audit/entry.ts');
const { toItem } = await import('../../lib/audit/record.ts');

const start = Date.UTC(2026, 0, 1);

/** Some items of a table: one entry a second, as a service leaves them. */
const itemsOf = (from: number, to: number) =>
  Array.from({ length: to - from }, (_, n) => {
    const i = from + n;
    const entry = makeEntry(
      {
        action: 'LOGIN',
        resource: 'users',
        result: i % 5 ? 'SUCCESS' : 'FAILURE',
        user_id: i % 1000,
        resource_id: i % 1000,
        ip_address: `192.0.2.${i % 256}`,
        user_agent: 'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko)',
      },
      { now: new Date(start + i * 1000), random: (below) => (i * 7919) % below },
    );
    const writeId = `00000000-0000-4000-8000-${String(i).padStart(12, '0')}`;
    return toItem(entry, { writeId, requestId: `request-${i}` });
  });

/** Bytes of the files that a process has open and that have been deleted. */
const temporaryBytes = (pid: number): number => {
  const folder = `/proc/${pid}/fd`;
  let bytes = 0;
  try {
    for (const fd of readdirSync(folder)) {
      const path = join(folder, fd);
      if (readlinkSync(path).endsWith(' (deleted)')) bytes += statSync(path).size;
    }
  } catch {
    // The process, or the file, is gone by now.
  }
  return bytes;
};

const folder = mkdtempSync(join(tmpdir(), 'bench-seal-'));

/**
 * Runs the sealer, or a verification, in a process of its own. @returns its costs, also for each entry, and its outcome
 */
const measure = async (action: 'seal' | 'verify') => {
  const now = new Date(start + size * 1000 + 120_000).toISOString();
  const args = ['test/support/seal-process.ts', action, folder, now, String(fileSize)];
  const child = spawn(process.execPath, [...heap, ...args], {
    env: process.env,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let temporary = 0;
  const timer = setInterval(() => {
    temporary = Math.max(temporary, temporaryBytes(child.pid ?? 0) / 1e6);
  }, 50);
  let printed = '';
  for await (const part of child.stdout) printed += part;
  clearInterval(timer);
  const { milliseconds, processor, live, resident, ...outcome } = JSON.parse(printed);
  const [elapsed, own] = [(milliseconds * 1000) / size, (processor * 1000) / size];
  return { elapsed, own, live: live / 1e6, resident: resident / 1e6, temporary, ...outcome };
};

mkdirSync(join(folder, 'archive'));
writeFileSync(join(folder, 'key.pem'), makeKey());
await createTables(engine.endpoint, { users: 'users', audit: 'audit' });
const part = 10_000;
for (let from = 0; from < size; from += part) {
  await writeBatches(engine.endpoint, 'audit', itemsOf(from, Math.min(size, from + part)));
}
console.log('what        µs/entry, of its own    live MB resident MB  temporary MB');
for (const action of ['seal', 'verify'] as const) {
  const { findings = [], entries = size, ...taken } = await measure(action);
  const { elapsed, own, live, resident, temporary } = taken;
  const columns = [elapsed, own, live, resident, temporary].map((c) => c.toFixed(1).padStart(11));
  console.log([action.padEnd(8), ...columns].join(' '));
  const isWithin = resident <= allowed.resident && temporary <= allowed.temporary;
  if (findings.length > 0 || entries !== size || !isWithin) process.exitCode = 1;
}
await engine.stop();
rmSync(folder, { recursive: true });
