/** Puts sealed entries back that a table from a backup lacks (infra/runbooks.md, Restore). */
import { dayInMilliseconds } from '../ground/time.ts';
import {
  ahead,
  numbersIn,
  readHeaderOf,
  readLines,
  type SealedLine,
  type Trail,
} from './archive.ts';
import { isSigned, type SignedHeader, timeBefore } from './header.ts';
import { hasLeft, type Item, idText } from './line.ts';

export interface Replay extends Trail {
  /** The time to which the table was restored. Earlier entries that are missing are findings, and stay missing. */
  readonly restored: string;
  /** Milliseconds since 1970. */
  readonly now: number;
  /** Writes an entry, unless the table has an entry with its id. @throws {SyntaxError} if the table cannot hold it */
  readonly put: (item: Item) => Promise<boolean>;
  /** Receives every entry of the files that are read, oldest file first. */
  readonly seen: (item: Item) => void;
  /** Receives the subjects that cannot be put back, with the reason. */
  readonly left: (subject: string, why: string) => void;
}

/** How many entries were put back, and how many were in the table already. */
export interface Replayed {
  files: number;
  written: number;
  present: number;
}

/**
 * Writes the entries that a verification would report as missing. It can be interrupted and repeated.
 * @param done counts the files and entries
 * @throws errors of archive and table
 */
export async function replay(by: Replay, done: Replayed): Promise<void> {
  for (const header of await filesSince(by)) {
    const lines = new Map<string, SealedLine>();
    const wrong = await readLines(by, header, (sealed) => {
      by.seen(sealed.item);
      const id = idText(sealed.item.id);
      // The first line of an id counts.
      if (!lines.has(id)) lines.set(id, sealed);
    });
    if (wrong) by.left(`file ${header.number}`, wrong);
    const items = [...lines.values()].map(({ item }) => item);
    await writeAll(
      by,
      items.filter((item) => !hasLeft(item, by.now)),
      done,
    );
    done.files += 1;
  }
}

/** Milliseconds by which the clocks of the table, of the sealer and of writers of entries may differ. */
const tolerance = 5000;

/**
 * The files, oldest first, that were written after the time to which the table was restored, or that have an entry
 * from after that time. The table already had all entries of other files at that time.
 */
async function filesSince(by: Replay): Promise<readonly SignedHeader[]> {
  const since = timeBefore(by.restored, tolerance);
  const end = timeBefore(by.restored, dayInMilliseconds);
  const numbers = (await numbersIn(by)).reverse();
  const found: SignedHeader[] = [];
  for await (const { number, header } of ahead(numbers, (each) => readHeaderOf(by, each))) {
    if (!isSigned(header)) by.left(`file ${number}`, 'It is not signed by the key');
    else if (header.at < end) break;
    else if (header.at >= since || (header.newest ?? '') >= since) found.push(header);
  }
  return found.reverse();
}

const atOnce = 16;

async function writeAll(by: Replay, items: readonly Item[], done: Replayed): Promise<void> {
  const write = async (item: Item) => {
    try {
      if (await by.put(item)) done.written += 1;
      else done.present += 1;
    } catch (error) {
      if (!(error instanceof SyntaxError)) throw error;
      by.left(`entry ${idText(item.id)}`, error.message);
    }
  };
  for (let at = 0; at < items.length; at += atOnce) {
    await Promise.all(items.slice(at, at + atOnce).map(write));
  }
}
