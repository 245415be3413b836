/** Something else in the folder of an archive, in place of a file or beside it. */
import { execFileSync } from 'node:child_process';
import {
  linkSync,
  mkdirSync,
  mkdtempSync,
  renameSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, expect, it } from 'vitest';
import { folderArchive } from '../../lib/seal/folder.ts';
import { lineOf } from '../../lib/seal/line.ts';
import { isFault } from '../../lib/seal/verification.ts';
import { pythonProgram } from '../support/python.ts';
import { counted, seed } from '../support/runs.ts';
import { verifyAll } from '../support/sealed-trail.ts';
import { sound } from './tampering.ts';

const root = mkdtempSync(join(tmpdir(), 'in-place-'));
afterAll(() => rmSync(root, { recursive: true }));

/** Bytes: 3 GB, which take no room. */
const long = 3 * 10 ** 9;
const makeSparse = (path: string) => {
  writeFileSync(path, '');
  truncateSync(path, long);
};

/** What is put in place of a file, which lies under `before` then. */
const substitutes: Readonly<Record<string, (path: string, before: string) => void>> = {
  'a sparse file of 3 GB': makeSparse,
  'an empty file': (path) => writeFileSync(path, ''),
  'a folder': (path) => mkdirSync(path),
  'a folder with the file in it': (path, before) => {
    mkdirSync(path);
    renameSync(before, join(path, 'file'));
  },
  'a named pipe': (path) => execFileSync('mkfifo', [path]),
  'a link to itself': (path) => symlinkSync(path, path),
  'a link to nothing': (path) => symlinkSync(join(root, 'nothing'), path),
  'a link to a folder': (path) => symlinkSync(root, path),
  'a link to zeros without end': (path) => symlinkSync('/dev/zero', path),
};

/** The same bytes at the same name, in another way: nothing that is to be told. */
const sameBytes: typeof substitutes = {
  'a link to the file': (path, before) => symlinkSync(before, path),
  'a second name of the file': (path, before) => linkSync(before, path),
};

const names = [...sound.archive.files.keys()];
const cases = (made: typeof substitutes, numRuns: number) =>
  fc.sample(fc.tuple(fc.constantFrom(...names), fc.constantFrom(...Object.keys(made))), {
    ...{ seed, numRuns },
  });

let made = 0;
/** A folder with the archive, and with what the second verifier has of the table. */
const write = (): string => {
  made += 1;
  const folder = join(root, String(made));
  mkdirSync(folder);
  for (const [name, content] of sound.archive.files) writeFileSync(join(folder, name), content);
  const lines = [...sound.source.items.values()].map((item) => `${lineOf(item)}\n`);
  writeFileSync(join(folder, 'table.ndjson'), lines.join(''));
  return folder;
};

/** A folder in which something else lies in place of a file. */
const writeWith = (name: string, make: (path: string, before: string) => void): string => {
  const folder = write();
  const before = join(folder, 'before');
  renameSync(join(folder, name), before);
  make(join(folder, name), before);
  return folder;
};

const verify = counted(async (folder: string) => {
  const { source, signer, now } = sound;
  const trail = { source, publicKey: signer.publicKey, now };
  const { findings } = await verifyAll({ ...trail, archive: folderArchive(folder) });
  return findings.filter(isFault);
});

/** The verdicts of the verifier in Python. */
const secondVerdicts = (folders: readonly string[]): readonly string[] => {
  const python = pythonProgram('python', {
    requirements: 'test/properties/verify_archive.txt',
    // Of its own: another file of tests may install the same packages at the same time.
    folder: 'node_modules/.cache/python-of-folders',
  });
  const key = join(root, 'public-key.pem');
  writeFileSync(key, sound.signer.publicKey.export({ type: 'spki', format: 'pem' }));
  const program = 'test/properties/verify_archive.py';
  const args = [program, key, String(Math.trunc(sound.now / 1000)), ...folders];
  return execFileSync(python, args, { encoding: 'utf8' }).trimEnd().split('\n');
};

it('Whatever lies in place of a file is named as unreadable, also by the second verifier', async () => {
  const folders: string[] = [];
  for (const [name, kind] of cases(substitutes, 120)) {
    const folder = writeWith(name, substitutes[kind] ?? expect.unreachable());
    // The second verifier holds a file in memory.
    if (kind !== 'a sparse file of 3 GB') folders.push(folder);

    const faults = await verify(folder);

    const named = faults.filter(({ kind }) => kind !== 'unclear');
    expect(named).toEqual([{ kind: 'unreadable', subject: name }]);
  }

  expect(secondVerdicts(folders).filter((verdict) => verdict === 'intact')).toEqual([]);
});

it('The same bytes behind a link are the file, also for the second verifier', async () => {
  const folders = cases(sameBytes, 20).map(([name, kind]) =>
    writeWith(name, sameBytes[kind] ?? expect.unreachable()),
  );

  for (const folder of folders) expect(await verify(folder)).toEqual([]);

  expect(new Set(secondVerdicts(folders))).toEqual(new Set(['intact']));
});
