import { execFileSync } from 'node:child_process';
import {
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { describe, expect, it, onTestFinished } from 'vitest';
import { folderArchive, removeUnfinished } from '../../../lib/seal/folder-archive.ts';
import { fileName } from '../../../lib/seal/header.ts';
import { seal } from '../../../lib/seal/sealer.ts';
import { findEnd } from '../../../lib/seal/walk.ts';
import { makeTrail } from '../../support/sealed-trail.ts';

const makeFolder = () => {
  const folder = mkdtempSync(join(tmpdir(), 'archive-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  return folder;
};

/** Makes a file of zeros of some size, which takes no space on the disk. */
const makeSparse = (path: string, size: number) => {
  writeFileSync(path, '');
  truncateSync(path, size);
};

describe('An archive in a folder', () => {
  it.each([
    ['a named pipe', (path: string) => execFileSync('mkfifo', [path])],
    ['a folder', (path: string) => mkdirSync(path)],
    ['a link to itself', (path: string) => symlinkSync(path, path)],
    ['a file of 3 GB', (path: string) => makeSparse(path, 3e9)],
  ])('ignores %s in place of the next file, and sealing continues behind it', async (_, make) => {
    const folder = makeFolder();
    const trail = { ...makeTrail(), archive: folderArchive(folder) };
    await seal(trail, new Date(trail.now));
    make(join(folder, fileName(2)));

    const { newest } = await seal(trail, new Date(trail.now + 120_000));

    expect(newest.number).toBe(3);
    const { archive, signer } = trail;
    const end = await findEnd({ archive, publicKey: signer.publicKey }, trail.now);
    expect(end.newest?.previous).not.toBeNull();
  });

  it('does not read a link to a file, although it leads to the same bytes', async () => {
    const folder = makeFolder();
    writeFileSync(join(folder, 'a-file'), 'content');
    symlinkSync(join(folder, 'a-file'), join(folder, 'a-link'));

    await expect(folderArchive(folder).read('a-link', 0, 9)).rejects.toMatchObject({
      code: 'ELOOP',
    });
  });

  it('has only finished files, readable only by the account of the service', async () => {
    const folder = join(makeFolder(), 'archive', 'of-audit');

    await folderArchive(folder).create('a-file', Buffer.from('content'));

    expect(readdirSync(folder)).toEqual(['a-file']);
    expect(readFileSync(join(folder, 'a-file'), 'utf8')).toBe('content');
    expect(statSync(folder).mode & 0o777).toBe(0o700);
    expect(statSync(join(folder, 'a-file')).mode & 0o777).toBe(0o600);
  });

  // Only Linux lists the files that a process has open.
  it.runIf(process.platform === 'linux')('leaves no file open once it is written', async () => {
    const folder = makeFolder();

    await folderArchive(folder).create('a-file', Buffer.from('content'));

    const open = readdirSync('/proc/self/fd').map((name) => {
      const path = `/proc/self/fd/${name}`;
      // The list of open files was open too, and is closed now.
      return lstatSync(path, { throwIfNoEntry: false }) ? readlinkSync(path) : '';
    });
    expect(open.filter((path) => path.startsWith(folder))).toEqual([]);
  });

  it('keeps a file as it is when the same name is written again', async () => {
    const folder = makeFolder();
    const archive = folderArchive(folder);
    await archive.create('a-file', Buffer.from('content'));

    expect(await archive.create('a-file', Buffer.from('other'))).toBe(false);

    expect(readdirSync(folder)).toEqual(['a-file']);
    expect(readFileSync(join(folder, 'a-file'), 'utf8')).toBe('content');
  });

  it('keeps nothing of a file that cannot get its name', async () => {
    const folder = makeFolder();

    const created = folderArchive(folder).create('no-folder/a-file', Buffer.from('content'));

    await expect(created).rejects.toMatchObject({ code: 'ENOENT' });
    expect(readdirSync(folder)).toEqual([]);
  });

  it('lists names in their order', async () => {
    const folder = makeFolder();
    for (const name of ['c', 'a', 'b']) writeFileSync(join(folder, name), '');

    const listed = await Readable.from(folderArchive(folder).list()).toArray();

    expect(listed.map(({ name }) => name)).toEqual(['a', 'b', 'c']);
  });

  it('returns a range of a file, up to the end of the file', async () => {
    const folder = makeFolder();
    writeFileSync(join(folder, 'a-file'), '0123456789');

    const read = async (start: number, end: number) =>
      String(await folderArchive(folder).read('a-file', start, end));

    expect(await read(2, 5)).toBe('234');
    expect(await read(8, 99)).toBe('89');
    expect(await read(10, 99)).toBe('');
  });

  it('is empty as long as its folder does not exist, and fails if something else has its path', async () => {
    const path = join(makeFolder(), 'archive');
    const list = () => Readable.from(folderArchive(path).list()).toArray();

    expect(await list()).toEqual([]);
    expect(await folderArchive(path).read('a-file', 0, 9)).toBeUndefined();
    await removeUnfinished(path);

    writeFileSync(path, '');
    await expect(list()).rejects.toMatchObject({ code: 'ENOTDIR' });
    await expect(folderArchive(path).read('a-file', 0, 9)).rejects.toMatchObject({
      code: 'ENOTDIR',
    });
  });

  it('removes only unfinished files', async () => {
    const folder = makeFolder();
    for (const name of ['a-file', 'left.unfinished']) writeFileSync(join(folder, name), '');
    mkdirSync(join(folder, 'folder.unfinished', 'within'), { recursive: true });

    await removeUnfinished(folder);

    expect(readdirSync(folder)).toEqual(['a-file']);
  });
});
