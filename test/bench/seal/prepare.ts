/** An engine with an audit table, and processes of the sealer that are measured. */
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
import { createTables } from '../../../infra/local/create-tables.ts';
import { startEngine } from '../../../infra/local/engine.ts';
import { makeKey } from '../../../lib/seal/folder-archive.ts';
import { writeBatches } from '../../support/write-batches.ts';

export const start = Date.UTC(2026, 0, 1);

/** The outcome of a process, its microseconds, and the megabytes that it took at most. */
export interface Measured {
  readonly elapsed: number;
  readonly own: number;
  readonly live: number;
  readonly resident: number;
  readonly temporary: number;
  // biome-ignore lint/suspicious/noExplicitAny: each action prints members of its own
  readonly outcome: any;
}

/** @param every milliseconds from one entry to the next */
export const prepare = async (every: number) => {
  const engine = await startEngine({ only: 'dynoxide' });
  Object.assign(process.env, {
    AWS_REGION: 'us-east-1',
    AWS_ACCESS_KEY_ID: 'local',
    AWS_SECRET_ACCESS_KEY: 'local',
    AWS_ENDPOINT_URL_DYNAMODB: engine.endpoint,
    AUDIT_TABLE: 'audit',
  });
  // Imported only now, because these modules read the environment.
  const { makeEntry } = await import('../../../lib/audit/entry.ts');
  const { toItem } = await import('../../../lib/audit/record.ts');
  const folder = mkdtempSync(join(tmpdir(), 'bench-seal-'));
  mkdirSync(join(folder, 'archive'));
  writeFileSync(join(folder, 'key.pem'), makeKey());
  await createTables(engine.endpoint, { users: 'users', audit: 'audit' });

  const itemOf = (i: number) => {
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
      { now: new Date(start + i * every), random: (below) => (i * 7919) % below },
    );
    const writeId = `00000000-0000-4000-8000-${String(i).padStart(12, '0')}`;
    return toItem(entry, { writeId, requestId: `request-${i}` });
  };

  return {
    /** Writes the entries with some numbers. */
    write: async (from: number, to: number): Promise<void> => {
      const part = 10_000;
      for (let at = from; at < to; at += part) {
        const length = Math.min(to - at, part);
        const items = Array.from({ length }, (_, n) => itemOf(at + n));
        await writeBatches(engine.endpoint, 'audit', items);
      }
    },
    /** Runs test/support/seal-process.ts. @param now milliseconds since 1970 */
    measure: async (action: string, now: number, ...more: readonly (string | number)[]) => {
      const args = [action, folder, new Date(now).toISOString(), ...more.map(String)];
      // On a machine with much other work a request may take too long; the next run does the work of a failed one.
      for (let attempt = 1; attempt < 5; attempt += 1) {
        const measured = await measure(args);
        if (measured) return measured;
      }
      throw new Error(`No run of ${action} has succeeded`);
    },
    stop: async (): Promise<void> => {
      await engine.stop();
      rmSync(folder, { recursive: true });
    },
  };
};

/** A heap far smaller than the heap of a function. */
const heap = ['--max-old-space-size=80', '--max-semi-space-size=4', '--expose-gc'];

/** @returns undefined if the process failed */
const measure = async (args: readonly string[]): Promise<Measured | undefined> => {
  const child = spawn(process.execPath, [...heap, 'test/support/seal-process.ts', ...args], {
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
  if (!printed) return undefined;
  const { milliseconds, processor, live, resident, ...outcome } = JSON.parse(printed);
  const [elapsed, own] = [milliseconds * 1000, processor * 1000];
  return { elapsed, own, live: live / 1e6, resident: resident / 1e6, temporary, outcome };
};

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
