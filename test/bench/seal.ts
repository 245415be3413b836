/**
 * `npm run bench -- seal`: what the first sealing of a table of 10,000, 100,000 and 1,000,000 entries
 * takes, and a verification after it: time, memory and temporary files. On dynoxide, in memory; takes
 * minutes, most of them to write. `npm run bench -- seal 10000 100000` takes these sizes instead.
 * Fails where one grows more than is allowed.
 *
 * Live memory is what is in use after garbage collection. Resident memory has a limit, and is not
 * compared: the longer a process runs, the more garbage V8 leaves within the limit of the heap, and
 * the more code it compiles.
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
import { makeKey } from '../../lib/seal/folder.ts';
import { writeBatches } from '../support/write-batches.ts';

const given = process.argv.slice(2).map(Number);
const sizes = given.length > 0 ? given : [10_000, 100_000, 1_000_000];

/**
 * Times the value at the smallest size; and megabytes of a process, and of a sealer's temporary
 * files.
 */
const allowed = { time: 1.2, live: 1.3, resident: 256, temporary: 50 };

/** A heap far smaller than that of a function. */
const heap = ['--max-old-space-size=80', '--max-semi-space-size=4', '--expose-gc'];

/** Entries of a file: as many as by default. */
const fileSize = 100_000;

const engine = await startEngine({ only: 'dynoxide' });
const environment = {
  AWS_REGION: 'us-east-1',
  AWS_ACCESS_KEY_ID: 'local',
  AWS_SECRET_ACCESS_KEY: 'local',
  AWS_ENDPOINT_URL_DYNAMODB: engine.endpoint,
};
Object.assign(process.env, environment, { AUDIT_TABLE: 'audit' });
// Only now: what it imports reads the environment.
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

/** Fills a table, a part at a time. */
const fill = async (table: string, size: number): Promise<void> => {
  const part = 10_000;
  for (let from = 0; from < size; from += part) {
    await writeBatches(engine.endpoint, table, itemsOf(from, Math.min(size, from + part)));
  }
};

/** Bytes of the files that a process has open and that have no name any more. */
const temporaryBytes = (pid: number): number => {
  const folder = `/proc/${pid}/fd`;
  let bytes = 0;
  try {
    for (const fd of readdirSync(folder)) {
      const path = join(folder, fd);
      if (readlinkSync(path).endsWith(' (deleted)')) bytes += statSync(path).size;
    }
  } catch {
    // The process, or the file, has gone meanwhile.
  }
  return bytes;
};

interface Taken {
  /** Microseconds an entry, as they pass; and of the process alone, whatever else the machine does. */
  readonly elapsed: number;
  readonly time: number;
  /** Megabytes. */
  readonly live: number;
  readonly resident: number;
  readonly temporary: number;
  readonly findings?: readonly string[];
  readonly entries?: number;
}

/** Runs the sealer, or a verification, in a process of its own. */
const measure = async (
  action: 'seal' | 'verify',
  size: number,
  { folder, table }: { folder: string; table: string },
): Promise<Taken> => {
  const now = new Date(start + size * 1000 + 120_000).toISOString();
  const args = ['test/support/seal-process.ts', action, folder, now, String(fileSize)];
  const child = spawn(process.execPath, [...heap, ...args], {
    env: { ...process.env, ...environment, AUDIT_TABLE: table },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let most = 0;
  const timer = setInterval(() => {
    most = Math.max(most, temporaryBytes(child.pid ?? 0));
  }, 50);
  let printed = '';
  for await (const part of child.stdout) printed += part;
  clearInterval(timer);
  const { milliseconds, processor, live, resident, ...outcome } = JSON.parse(printed);
  const [elapsed, time] = [(milliseconds * 1000) / size, (processor * 1000) / size];
  const megabytes = { live: live / 1e6, resident: resident / 1e6, temporary: most / 1e6 };
  return { elapsed, time, ...megabytes, ...outcome };
};

const faults: string[] = [];
const expectAtMost = (name: string, value: number, most: number): void => {
  if (value > most) faults.push(`${name} is ${value.toFixed(2)}, more than ${most.toFixed(2)}`);
};

const smallest = new Map<string, Taken>();
console.log('entries     what        µs/entry, of its own    live MB resident MB  temporary MB');
for (const size of sizes) {
  const folder = mkdtempSync(join(tmpdir(), 'bench-seal-'));
  mkdirSync(join(folder, 'archive'));
  writeFileSync(join(folder, 'key.pem'), makeKey());
  const table = `audit-${size}`;
  await createTables(engine.endpoint, { users: `users-${size}`, audit: table });
  await fill(table, size);
  for (const action of ['seal', 'verify'] as const) {
    const taken = await measure(action, size, { folder, table });
    const { elapsed, time, live, resident, temporary, findings = [], entries = size } = taken;
    const columns = [elapsed, time, live, resident, temporary].map((c) =>
      c.toFixed(1).padStart(11),
    );
    console.log([String(size).padEnd(11), action.padEnd(8), ...columns].join(' '));
    if (findings.length > 0 || entries !== size) faults.push(`${size}: not intact`);
    const least = smallest.get(action) ?? taken;
    smallest.set(action, least);
    expectAtMost(`${action} of ${size}: time`, time, least.time * allowed.time);
    expectAtMost(`${action} of ${size}: live memory`, live, least.live * allowed.live);
    expectAtMost(`${action} of ${size}: resident memory`, resident, allowed.resident);
    if (action === 'seal') expectAtMost(`temporary of ${size}`, temporary, allowed.temporary);
  }
  rmSync(folder, { recursive: true });
}
await engine.stop();
for (const fault of faults) console.error(fault);
process.exitCode = faults.length > 0 ? 1 : 0;
