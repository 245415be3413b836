/** The sealer, killed at any instant of its first sealing. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { expect, inject, it } from 'vitest';
import { makeEntry } from '../../lib/audit/entry.ts';
import { toItem } from '../../lib/audit/record.ts';
import { makeKey } from '../../lib/seal/folder-archive.ts';
import { numberOf } from '../../lib/seal/header.ts';
import { folderForThisFile } from '../support/folder.ts';
import { useOwnTables } from '../support/own-tables.ts';
import { seed } from '../support/runs.ts';
import { writeBatches } from '../support/write-batches.ts';

const entries = 100_000;
const kills = 10;
const fileSize = 2500;
const start = Date.UTC(2026, 0, 1);
const now = new Date(start + entries * 100 + 600_000).toISOString();

const folder = folderForThisFile();

const { audit } = await useOwnTables();

/** Starts the sealer, or a verification. */
const begin = (action: 'seal' | 'verify') => {
  const args = ['test/support/seal-process.ts', action, folder, now, String(fileSize)];
  return spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
};

const outcomeOf = async (action: 'seal' | 'verify') => {
  const child = begin(action);
  let printed = '';
  for await (const part of child.stdout) printed += part;
  return JSON.parse(printed);
};

const files = () =>
  readdirSync(join(folder, 'archive')).filter((name) => numberOf(name) !== undefined).length;

it('A trail of 100,000 entries is sealed and intact after ten kills of the sealer at random instants', async () => {
  mkdirSync(join(folder, 'archive'));
  writeFileSync(join(folder, 'key.pem'), makeKey());
  for (let from = 0; from < entries; from += 10_000) {
    const items = Array.from({ length: 10_000 }, (_, n) => {
      const i = from + n;
      const times = { now: new Date(start + i * 100), random: (below: number) => i % below };
      const entry = makeEntry({ action: 'LOGIN', resource: 'users', result: 'SUCCESS' }, times);
      return toItem(entry, { writeId: `write-${i}` });
    });
    await writeBatches(inject('engine'), audit, items);
  }
  let random = seed;
  const seen: string[] = [];
  for (let kill = 0; kill < kills; kill += 1) {
    const child = begin('seal');
    const ended = once(child, 'exit');
    random = (random * 48_271) % 2_147_483_647;
    // After at most two more files, so that every kill meets a sealer at work.
    const wanted = files() + (random % 3);
    while (files() < wanted && child.exitCode === null) await wait(5);
    await wait(random % 1000);
    child.kill('SIGKILL');
    const [, signal] = await ended;
    seen.push(`${signal ?? 'ended'} with ${files()} files`);
  }
  console.log(seen.join('\n'));
  expect(seen.filter((each) => each.startsWith('SIGKILL'))).toHaveLength(kills);

  await outcomeOf('seal');
  const verified = await outcomeOf('verify');

  expect(verified).toMatchObject({ findings: [], entries, waiting: 0 });
  expect(verified.files).toBeGreaterThanOrEqual(entries / fileSize);
}, 900_000);
