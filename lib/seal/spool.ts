/** Temporary files: bytes, and tables, that would take too much memory. */
import { createHash, randomUUID } from 'node:crypto';
import { type FileHandle, open, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { Readable } from 'node:stream';

/** Bytes that are held: what was read of them cannot change any more. */
export interface Spool {
  readonly size: number;
  readonly sha256: Buffer;
  /** All of them, from the beginning each time. */
  read(): AsyncIterable<Uint8Array>;
  /** Frees them. */
  close(): Promise<void>;
}

/** Bytes that are held in memory; what is longer, in a file. */
export const maxInMemory = 1_048_576;

/** A file without a name, which disappears with this process. */
const openNameless = async (): Promise<FileHandle> => {
  const path = join(tmpdir(), `seal-${randomUUID()}`);
  const file = await open(path, 'wx+', 0o600);
  await rm(path);
  return file;
};

/**
 * Holds bytes, so that memory does not grow with them.
 * @throws errors of the bytes' source and of the file system
 */
export const spool = async (bytes: AsyncIterable<Uint8Array>): Promise<Spool> => {
  const hash = createHash('sha256');
  let held: Uint8Array[] = [];
  let size = 0;
  let file: FileHandle | undefined;
  const close = async () => file?.close();
  try {
    for await (const part of bytes) {
      hash.update(part);
      size += part.length;
      held.push(part);
      if (size <= maxInMemory) continue;
      file ??= await openNameless();
      for (const each of held) await file.writeFile(each);
      held = [];
    }
  } catch (error) {
    await close();
    throw error;
  }
  const read = () =>
    file ? file.createReadStream({ start: 0, autoClose: false }) : Readable.from(held);
  return { size, sha256: hash.digest(), read, close };
};

type Row = Readonly<Record<string, unknown>>;
type Values = readonly (string | number | Uint8Array | null)[];

/**
 * Tables for what would take too much memory. Each method prepares a statement as a function; that of
 * `change` returns whether it changed anything, and `has` takes the rest of SELECT 1 FROM.
 * @param tables the statements that make the tables
 */
export const openScratch = (tables: string) => {
  // A database without a name is a temporary file, which SQLite deletes when the process ends.
  const database = new DatabaseSync('');
  // Nothing in it has to survive a crash.
  database.exec(`PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; ${tables}; BEGIN`);
  return {
    change: (sql: string) => {
      const statement = database.prepare(sql);
      return (...values: Values): boolean => Number(statement.run(...values).changes) > 0;
    },
    has: (sql: string) => {
      const statement = database.prepare(`SELECT 1 FROM ${sql} LIMIT 1`);
      return (...values: Values): boolean => statement.get(...values) !== undefined;
    },
    rows: (sql: string) => {
      const statement = database.prepare(sql);
      return (...values: Values): Iterable<Row> => statement.iterate(...values);
    },
    /** Deletes the tables. */
    close: () => database.close(),
  };
};
