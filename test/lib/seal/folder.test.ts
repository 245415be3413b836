import { execFileSync } from 'node:child_process';
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { readFile } from '../../../lib/seal/archive.ts';
import { folderArchive, removeUnfinished } from '../../../lib/seal/folder.ts';
import { sealWindows } from '../../../lib/seal/sealer.ts';
import { makeTrail } from '../../support/sealed-trail.ts';

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

/** Bytes: 5 GiB. */
const largest = 5 * 1024 ** 3;
/** Bytes that say of themselves how many they are. */
const bytesOfSize = (size: number) => ({
  size,
  sha256: Buffer.of(),
  close: async () => undefined,
  read: async function* () {
    yield Buffer.from('x');
  },
});

describe('In a folder', () => {
  it.each([
    ['a named pipe', (path: string) => execFileSync('mkfifo', [path])],
    ['a folder', (path: string) => mkdirSync(path)],
    ['a link to itself', (path: string) => symlinkSync(path, path)],
    ['a file that is larger than any digest', (path: string) => makeSparse(path, 2 ** 31)],
    ['a file that no sealer can have written', (path: string) => makeSparse(path, 2 ** 33)],
  ])('%s in place of a digest is no digest, and sealing goes past it', async (_, make) => {
    const folder = makeFolder();
    const trail = { ...makeTrail(), archive: folderArchive(folder) };
    await sealWindows(trail, new Date(trail.now));
    const name = '20991231T000000000Z.digest.json';
    make(join(folder, name));
    const skipped: string[] = [];

    const later = new Date(trail.now + 120_000);
    const next = await sealWindows(trail, later, (names) => skipped.push(...names));

    expect(await readFile(trail.archive, name)).toBeUndefined();
    expect(next?.previous).not.toBeNull();
    expect(skipped).toEqual([name]);
  });

  it('files lie that only the account of the service can read, under their names alone', async () => {
    const folder = join(makeFolder(), 'archive', 'of-audit');

    await folderArchive(folder).create('a-file', Buffer.from('content'));

    expect(readdirSync(folder)).toEqual(['a-file']);
    expect(readFileSync(join(folder, 'a-file'), 'utf8')).toBe('content');
    expect(statSync(folder).mode & 0o777).toBe(0o700);
    expect(statSync(join(folder, 'a-file')).mode & 0o777).toBe(0o600);
  });

  it('a file stays as it is when it is written again', async () => {
    const folder = makeFolder();
    const archive = folderArchive(folder);
    await archive.create('a-file', Buffer.from('content'));

    expect(await archive.create('a-file', Buffer.from('other'))).toBe(false);

    expect(readdirSync(folder)).toEqual(['a-file']);
    expect(readFileSync(join(folder, 'a-file'), 'utf8')).toBe('content');
  });

  it('nothing is left of a file that cannot lie under its name', async () => {
    const folder = makeFolder();

    const created = folderArchive(folder).create('no-folder/a-file', Buffer.from('content'));

    await expect(created).rejects.toMatchObject({ code: 'ENOENT' });
    expect(readdirSync(folder)).toEqual([]);
  });

  it('files are written and read up to 5 GiB, the most that S3 takes', async () => {
    const folder = makeFolder();
    const archive = folderArchive(folder);
    makeSparse(join(folder, 'larger'), largest + 1);
    makeSparse(join(folder, 'largest'), largest);

    expect(await archive.create('written', bytesOfSize(largest))).toBe(true);
    await expect(archive.create('too-large', bytesOfSize(largest + 1))).rejects.toMatchObject({
      name: 'FileTooLarge',
    });
    const opened = await archive.open('largest');
    expect(await archive.open('larger')).toBeUndefined();

    expect(opened).toBeDefined();
    for await (const _ of opened ?? []) break;
    expect(readdirSync(folder).sort()).toEqual(['larger', 'largest', 'written']);
  });

  it('names are listed in their order from one on', async () => {
    const folder = makeFolder();
    for (const name of ['c', 'a', 'b']) writeFileSync(join(folder, name), '');
    const names: string[] = [];

    for await (const { name } of folderArchive(folder).list('b')) names.push(name);

    expect(names).toEqual(['b', 'c']);
  });

  it('is nothing as long as there is no folder, and a fault where that is something else', async () => {
    const path = join(makeFolder(), 'archive');
    const list = async () => {
      for await (const _ of folderArchive(path).list('')) return false;
      return true;
    };

    expect(await list()).toBe(true);
    expect(await folderArchive(path).open('a-file')).toBeUndefined();
    await removeUnfinished(path);

    writeFileSync(path, '');
    await expect(list()).rejects.toMatchObject({ code: 'ENOTDIR' });
    await expect(folderArchive(path).open('a-file')).rejects.toMatchObject({
      code: 'ENOTDIR',
    });
  });

  it('nothing is taken away but what was not finished', async () => {
    const folder = makeFolder();
    for (const name of ['a-file', 'left.unfinished']) writeFileSync(join(folder, name), '');
    mkdirSync(join(folder, 'folder.unfinished', 'within'), { recursive: true });

    await removeUnfinished(folder);

    expect(readdirSync(folder)).toEqual(['a-file']);
  });
});
