/** Seals the entries that are in no file yet, file by file (lib/seal/README.md, Runs). */
import { buffer } from 'node:stream/consumers';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import { namedError } from '../ground/errors.ts';
import { type Archive, memberOf, readHeaderOf, readLines } from './archive.ts';
import type * as checkRequest from './check-request.ts';
import {
  type Check,
  fileName,
  fingerprintOf,
  type Header,
  isSigned,
  type SignedHeader,
  type Signer,
  signHeader,
  type Tally,
  tallyLine,
} from './header.ts';
import { type Item, idText, keyOf, lineOf, replayedBy, sha256 } from './line.ts';
import type * as shownHeader from './newest-header.ts';
import { openScratch } from './scratch.ts';
import type { EntrySource } from './table.ts';
import { type End, findEnd } from './walk.ts';
import type * as wholeCheck from './whole-check.ts';

export interface Sealing {
  readonly archive: Archive;
  readonly source: EntrySource;
  readonly signer: Signer;
  /** Seconds from run to run. */
  readonly interval: number;
  /** Days after which files leave the archive; 0 or absent: never. */
  readonly archiveDays?: number;
  /** The most lines of a file; absent: 100,000. */
  readonly size?: number;
  /** The lines of the newest two days that a run checks, and as many of older files; absent: 1,000,000. */
  readonly checked?: number | undefined;
  /** The store of the newest header, from which the line is shown. */
  readonly shown?: typeof shownHeader;
  /** The store of an admin's request for a check. */
  readonly asked?: Pick<typeof checkRequest, 'read' | 'remove'>;
  /** The store of the whole check that an admin has requested last. */
  readonly whole?: Pick<typeof wholeCheck, 'read' | 'write'>;
}

export interface RunOptions {
  /** The outcome of a check, for the header; absent: the outcome in the newest file is repeated. */
  readonly check?: Check;
  readonly isOver?: () => boolean;
}

export interface Sealed {
  readonly newest: SignedHeader;
  /** The place where the run has continued the archive. */
  readonly end: End;
  /** Whether all entries were sealed that were due. */
  readonly isCaughtUp: boolean;
}

/** How often a run may begin again because another sealer has interfered. */
const maxAttempts = 5;

/**
 * Seals entries that are in no file, file by file. A run writes at least one file, and may be ended at any instant.
 * @throws {BrokenTrail} when too many files are not signed by the key; Error `Contention`; DomainError
 *   STORAGE_FAULT; errors of archive and signer
 */
export async function seal(sealing: Sealing, now: Date, options: RunOptions = {}): Promise<Sealed> {
  for (let attempt = 0; attempt < maxAttempts; attempt += 1) {
    const run = await openRun(sealing, now);
    try {
      const sealed = await sealRun(run, options);
      if (sealed) return sealed;
    } finally {
      await run.items.return(undefined);
      run.noted.close();
    }
  }
  throw namedError('Contention');
}

type Noted = ReturnType<typeof openNoted>;

/** An item that a run looks at, and the key at which the next run would see it again. */
interface Looked {
  readonly item: Item;
  readonly key: string;
}

interface Run {
  readonly sealing: Sealing;
  readonly now: Date;
  readonly end: End;
  readonly noted: Noted;
  readonly items: AsyncGenerator<Looked>;
  /** The next item to look at; absent before the first. */
  next?: IteratorResult<Looked>;
}

async function openRun(sealing: Sealing, now: Date): Promise<Run> {
  const noted = openNoted();
  const trail = { archive: sealing.archive, publicKey: sealing.signer.publicKey };
  const passed = async (header: SignedHeader) => {
    await readLines(trail, header, ({ item }) => void noted.add(idText(item.id)));
  };
  try {
    const end = await findEnd(trail, now.getTime(), { interval: sealing.interval, passed });
    return { sealing, now, end, noted, items: lookAt(sealing, end, noted) };
  } catch (error) {
    noted.close();
    throw error;
  }
}

/** The ids of entries that are in files, on the disk. */
function openNoted() {
  const { change, has, close } = openScratch(
    'CREATE TABLE noted (id INTEGER PRIMARY KEY) WITHOUT ROWID',
  );
  return {
    /** @returns whether the id is new */
    add: change('INSERT OR IGNORE INTO noted VALUES (?)'),
    has: has('noted WHERE id = ?'),
    close,
  };
}

const batchSize = 100;

/** Yields entries in the order of the index, and after each replay the entries that it lists. */
async function* lookAt(
  { source }: Sealing,
  { look, closed }: End,
  noted: Noted,
): AsyncGenerator<Looked> {
  for await (const item of source.between(look, closed)) {
    const key = keyOf(item);
    yield { item, key };
    const listed = replayedBy(item).filter((id) => !noted.has(id));
    for (let at = 0; at < listed.length; at += batchSize) {
      for (const found of await source.byIds(listed.slice(at, at + batchSize))) {
        yield { item: found, key };
      }
    }
  }
}

/** @returns undefined if another sealer has taken the name of a file meanwhile */
async function sealRun(
  run: Run,
  { check = run.end.newest?.check ?? undefined, isOver = () => false }: RunOptions,
): Promise<Sealed | undefined> {
  const { end } = run;
  let newest = end.newest;
  let last = check ?? null;
  do {
    newest = await sealNext(run, newest, last);
    if (!newest) return undefined;
    last = newest.check;
  } while (!run.next?.done && !isOver());
  return { newest, end, isCaughtUp: run.next?.done === true };
}

interface Draft extends Tally {
  readonly from: string;
  until: string;
}

/** Seals the next file. @returns undefined if another sealer has taken its name meanwhile */
async function sealNext(
  run: Run,
  before: SignedHeader | undefined,
  check: Check | null,
): Promise<SignedHeader | undefined> {
  const { archive, signer } = run.sealing;
  const from = before && before !== run.end.newest ? before.until : run.end.from;
  const draft: Draft = { count: 0, oldest: null, newest: null, from, until: run.end.closed };
  const lines = await pipeline(linesOfFile(run, draft), createGzip(), buffer);
  const header = await nextHeader(run, before, { draft, lines, check });
  const content = Buffer.concat([memberOf(header.line), lines]);
  if (await archive.create(fileName(header.number), content)) return header;
  // The existing file is our own if the response to the write was lost.
  const { header: there } = await readHeaderOf(
    { archive, publicKey: signer.publicKey },
    header.number,
  );
  return isSigned(there) && there.line === header.line ? header : undefined;
}

const defaultSize = 100_000;

/** The most bytes of a file's lines, because they are in memory while they are compressed. */
const maxBytes = 64_000_000;

/** Characters that are compressed at once, because each call takes a while. */
const atOnce = 16_384;

/** Writes lines of entries that are in no file, until no entry is left or the file is full. */
async function* linesOfFile(run: Run, draft: Draft): AsyncGenerator<string> {
  const { size = defaultSize } = run.sealing;
  let [text, bytes] = ['', 0];
  const isFull = () => draft.count >= size || bytes > maxBytes;
  run.next ??= await run.items.next();
  for (; !run.next.done && !isFull(); run.next = await run.items.next()) {
    const { item } = run.next.value;
    if (!run.noted.add(idText(item.id))) continue;
    tallyLine(draft, item);
    text += `${lineOf(item)}\n`;
    if (text.length < atOnce) continue;
    bytes += Buffer.byteLength(text);
    yield text;
    text = '';
  }
  if (!run.next.done) draft.until = [run.next.value.key, draft.from].sort().at(-1) ?? draft.until;
  yield text;
}

/** Signs the header of the file that follows another file. */
function nextHeader(
  { sealing, now, end }: Run,
  before: SignedHeader | undefined,
  { draft, lines, check }: { draft: Draft; lines: Buffer; check: Check | null },
): Promise<SignedHeader> {
  const { signer, interval, archiveDays = 0 } = sealing;
  let number = (before?.number ?? 0) + 1;
  while (end.taken.has(number)) number += 1;
  const { from, until, count, oldest, newest } = draft;
  const header: Header = {
    format: 3,
    number,
    previous: before?.hash ?? null,
    at: now.toISOString(),
    interval,
    from,
    until,
    count,
    oldest,
    newest,
    length: lines.length,
    sha256: sha256(lines).toString('hex'),
    archive_days: archiveDays,
    check: check && { ...check, later: check.later + count },
    key: fingerprintOf(signer.publicKey),
  };
  return signHeader(header, signer);
}
