import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { readFile } from '../../../../lib/audit/archive/archive.ts';
import { folderArchive, removeUnfinished } from '../../../../lib/audit/archive/folder.ts';
import { sealWindow } from '../../../../lib/audit/seal/sealer.ts';
import { makeTrail } from '../../../support/sealed-trail.ts';

const makeFolder = () => {
  const folder = mkdtempSync(join(tmpdir(), 'archive-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  return folder;
};

/** Has a file of zeros of some size, which takes no room. */
const makeSparse = (path: string, size: number) => {
  writeFileSync(path, '');
  truncateSync(path, size);
};

describe('In a folder', () => {
  it.each([
    ['a named pipe', (path: string) => execFileSync('mkfifo', [path])],
    ['a folder', (path: string) => mkdirSync(path)],
    ['a file that is larger than any digest', (path: string) => makeSparse(path, 2 ** 31)],
    ['a file that no sealer can have written', (path: string) => makeSparse(path, 2 ** 33)],
  ])('%s in place of a digest is no digest, and sealing goes past it', async (_, make) => {
    const folder = makeFolder();
    const trail = { ...makeTrail(), archive: folderArchive(folder) };
    await sealWindow(trail, new Date(trail.now));
    const name = '20991231T000000000Z.digest.json';
    make(join(folder, name));
    make(join(folder, 'left.unfinished'));
    const skipped: string[] = [];

    await removeUnfinished(folder);
    const later = new Date(trail.now + 120_000);
    const next = await sealWindow(trail, later, (names) => skipped.push(...names));

    expect(await readFile(trail.archive, { name })).toBeUndefined();
    expect(next?.previous).not.toBeNull();
    expect(skipped).toEqual([name]);
  });
});
