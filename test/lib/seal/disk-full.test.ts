/** A full disk, which a limit of file sizes for one process simulates. */
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, inject, it, onTestFinished } from 'vitest';
import { makeEntry } from '../../../lib/audit/entry.ts';
import { toItem } from '../../../lib/audit/record.ts';
import { makeKey } from '../../../lib/seal/folder-archive.ts';
import { useOwnTables } from '../../support/own-tables.ts';
import { writeBatches } from '../../support/write-batches.ts';

const entries = 600;
const start = Date.UTC(2026, 0, 1);
const now = new Date(start + entries * 100 + 600_000).toISOString();

/** Characters that compression hardly shortens. */
const noise = (from: number): string =>
  Array.from({ length: 20 }, (_, i) =>
    createHash('sha512').update(`${from} ${i}`).digest('base64'),
  ).join('');

const { audit } = await useOwnTables();
const items = Array.from({ length: entries }, (_, i) => {
  const times = { now: new Date(start + i * 100), random: (below: number) => i % below };
  const action = { action: 'LOGIN', resource: 'users', result: 'FAILURE' } as const;
  const entry = makeEntry({ ...action, details: { noise: noise(i) } }, times);
  return toItem(entry, { writeId: `write-${i}` });
});
await writeBatches(inject('engine'), audit, items);

/** The limit is in blocks of 512 bytes, or of 1,024 bytes in some shells. */
const limit = 'trap "" XFSZ; ulimit -f 700;';

const runIn = (folder: string, size: number) => {
  mkdirSync(join(folder, 'archive'));
  writeFileSync(join(folder, 'key.pem'), makeKey());
  return (action: 'seal' | 'verify', before = '') => {
    const args = `test/support/seal-process.ts ${action} '${folder}' ${now} ${size}`;
    const command = `${before} exec '${process.execPath}' ${args}`;
    const { status, stdout, stderr } = spawnSync('sh', ['-c', command], { encoding: 'utf8' });
    return { status, stderr, outcome: stdout ? JSON.parse(stdout) : undefined };
  };
};

it('A run on a disk without room for a file of the archive fails, and no entry is lost', () => {
  const folder = mkdtempSync(join(tmpdir(), 'disk-full-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const run = runIn(folder, entries);

  const full = run('seal', limit);

  expect([full.status, full.outcome]).toEqual([1, undefined]);
  expect(full.stderr).toContain('EFBIG');
  expect(readdirSync(join(folder, 'archive'))).toEqual([]);

  expect(run('seal').status).toBe(0);
  expect(run('verify')).toMatchObject({ outcome: { findings: [], entries, waiting: 0 } });
});
