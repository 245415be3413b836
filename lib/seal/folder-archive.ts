/** The seal on one machine: its archive in a folder, and its key. */
import {
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  randomUUID,
  sign,
} from 'node:crypto';
import { constants } from 'node:fs';
import { type FileHandle, link, mkdir, open, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import type { Archive } from './archive.ts';
import type { SearchedArchive } from './bounded-trail.ts';
import type { Signer } from './header.ts';

/** The file of the public key in the folder of an archive (SPKI, PEM). */
export const publicKeyName = 'public-key.pem';

const unfinishedEnd = '.unfinished';

/** An archive in a folder, which is created when the first file is written. */
export function folderArchive(folder: string): Archive {
  return {
    async *list() {
      const names = await readdir(folder).catch((error) => {
        if (codeOf(error) === 'ENOENT') return [];
        throw error;
      });
      for (const name of names.sort()) yield { name };
    },
    read: async (name, start, end) => {
      const handle = await openFile(join(folder, name));
      return handle && buffer(handle.createReadStream({ start, end: end - 1 }));
    },
    create: async (name, content) => {
      await mkdir(folder, { recursive: true, mode: 0o700 });
      // A link appears in one step and, unlike a rename, never replaces another file.
      const unfinished = join(folder, `${randomUUID()}${unfinishedEnd}`);
      const handle = await open(unfinished, 'wx', 0o600);
      try {
        await handle.writeFile(content);
        await handle.sync();
        const isNew = await linkOnce(unfinished, join(folder, name));
        await sync(folder);
        return isNew;
      } finally {
        await handle.close();
        await rm(unfinished, { force: true });
      }
    },
  };
}

export function folderReader(folder: string): SearchedArchive {
  const { list, read } = folderArchive(folder);
  return {
    listFrom: async (from) => {
      const names: string[] = [];
      for await (const { name } of list()) if (name >= from) names.push(name);
      return { names, isLast: true };
    },
    read,
  };
}

/** Deletes unfinished files of sealers that were killed. */
export async function removeUnfinished(folder: string): Promise<void> {
  for (const name of await readdir(folder).catch(() => [])) {
    if (name.endsWith(unfinishedEnd))
      await rm(join(folder, name), { force: true, recursive: true });
  }
}

/** A new Ed25519 key (PKCS 8, PEM). */
export function makeKey(): string {
  return generateKeyPairSync('ed25519')
    .privateKey.export({ type: 'pkcs8', format: 'pem' })
    .toString();
}

/** @param pem an Ed25519 key (PKCS 8) */
export function localSigner(pem: string): Signer {
  const key = createPrivateKey(pem);
  return { publicKey: createPublicKey(key), sign: async (message) => sign(null, message, key) };
}

function codeOf(error: unknown) {
  return (error as NodeJS.ErrnoException).code;
}

/** Opens a regular file. @returns undefined for a link, a folder or a pipe, and if there is nothing of that name */
async function openFile(path: string): Promise<FileHandle | undefined> {
  // Opening a named pipe must not wait for a writer.
  const flags = constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOFOLLOW;
  const handle = await open(path, flags).catch((error) => {
    if (codeOf(error) === 'ENOENT') return undefined;
    throw error;
  });
  if ((await handle?.stat())?.isFile()) return handle;
  await handle?.close();
  return undefined;
}

/** @returns false if there is a file of that name */
async function linkOnce(from: string, to: string): Promise<boolean> {
  try {
    await link(from, to);
    return true;
  } catch (error) {
    if (codeOf(error) !== 'EEXIST') throw error;
    return false;
  }
}

/** Makes the content of a file, or the names in a folder, survive a loss of power. */
async function sync(path: string): Promise<void> {
  const handle = await open(path, 'r');
  await handle.sync().finally(() => handle.close());
}
