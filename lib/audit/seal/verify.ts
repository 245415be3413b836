/** Compares the archive with itself, and with the table (lib/audit/README.md, Verification). */
import type { KeyObject } from 'node:crypto';
import { type Archive, type ArchivedFile, linesOf, readEntriesFile, readFile } from './archive.ts';
import {
  beginning,
  compact,
  digestName,
  isDigestName,
  readDigest,
  type SignedDigest,
  timeInName,
} from './digest.ts';
import { type Item, lineOf, replayedBy, type SealedLine, sha256, wrongIndexKeys } from './line.ts';
import { recheckOf, timeBefore } from './sealer.ts';
import { idText, openSnapshot, type Seen, type Snapshot } from './snapshot.ts';
import type { Spool } from './spool.ts';
import type { EntrySource } from './table.ts';

/** What can be found, and what it means. */
export const findingKinds = {
  late: 'came late, and was sealed then',
  changed: 'is not what was sealed',
  deleted: 'was sealed and is not in the table',
  inserted: 'is in the table, but was not sealed in its time',
  unclear: 'may have been sealed: what would say so cannot be read',
  hidden: 'lacks keys of indexes or has wrong ones, so that not every query shows it',
  missing: 'has no digest',
  unreadable: 'is not there, or not as it was sealed',
  'wrongly signed': 'is not signed by the key',
  moved: 'is a digest of another window',
  forked: 'does not follow the digest before it',
  altered: 'was overwritten or deleted; its first version counts',
  behind: 'is the end of the newest window: sealing has stopped, or digests were taken away',
  shorter: 'was the newest digest when this was verified before, and is not there any more',
  different: 'is another digest than the one that was verified before',
} as const;

export interface Finding {
  readonly kind: keyof typeof findingKinds;
  /** The id of an entry, the name of a file, or a time. */
  readonly subject: string;
  /** Lines of an entry: as it was sealed, as it is; or what else there is to say. */
  readonly before?: string;
  readonly after?: string;
}

/** Whether a finding says that the trail is not intact. */
export const isFault = ({ kind }: Finding): boolean => kind !== 'late';

export interface Verified {
  readonly windows: number;
  /** That were sealed. */
  readonly entries: number;
  /** Entries of the table that are not, as they are too new. */
  readonly unsealed: number;
  readonly newest: SignedDigest | undefined;
}

export interface Verification {
  readonly archive: Archive;
  readonly publicKey: KeyObject;
  /** Windows that begin then; absent: all. */
  readonly since?: string;
  /** Exclusive. */
  readonly until?: string;
  /** Absent: the archive is compared with itself only. */
  readonly source?: EntrySource;
  /** How entries of a time are read of it; absent: all are, past the indexes. */
  readonly entriesBetween?: EntrySource['between'];
  /** @param fraction of the windows; undefined while the table is read */
  readonly progress?: (fraction: number | undefined, entries: number) => void;
}

/** After every time. */
const endOfTime = '~';

interface Listing {
  /** In the order of their windows. */
  readonly digests: readonly ArchivedFile[];
  /** All others, by name. */
  readonly files: ReadonlyMap<string, ArchivedFile>;
  /** When the first window begins that is not in the list. */
  readonly next?: string;
}

/** Yields what is altered. */
async function* list(
  archive: Archive,
  { since = beginning, until = endOfTime }: Pick<Verification, 'since' | 'until'>,
): AsyncGenerator<Finding, Listing> {
  const digests: ArchivedFile[] = [];
  const files = new Map<string, ArchivedFile>();
  for await (const file of archive.list(compact(since))) {
    const time = isDigestName(file.name) ? timeInName(file.name) : undefined;
    if (time && time >= until) return { digests, files, next: time };
    if (time) digests.push(file);
    else files.set(file.name, file);
    if (file.altered) yield { kind: 'altered', subject: file.name };
  }
  return { digests, files };
}

interface Window {
  readonly file: ArchivedFile;
  /** Or what is wrong with it. */
  readonly digest: SignedDigest | 'unreadable' | 'wrongly signed' | 'moved';
  /** The file of its entries; absent when it is not the one that was sealed. */
  readonly content?: Spool | undefined;
}

const readWindow = async (
  { archive, publicKey }: Verification,
  { files }: Listing,
  file: ArchivedFile,
): Promise<Window> => {
  const bytes = await readFile(archive, file);
  const digest = bytes ? readDigest(bytes, publicKey) : 'unreadable';
  if (typeof digest === 'string') return { file, digest };
  if (digestName(digest.from) !== file.name) return { file, digest: 'moved' };
  return { file, digest, content: await readEntriesFile(archive, digest, files) };
};

/** Windows that are read at a time: each is two waits for a store that is far away. */
const readAhead = 32;

async function* readWindows(verification: Verification, listing: Listing): AsyncGenerator<Window> {
  const { digests } = listing;
  for (let at = 0; at < digests.length; at += readAhead) {
    const some = digests.slice(at, at + readAhead);
    const windows = await Promise.all(some.map((file) => readWindow(verification, listing, file)));
    try {
      yield* windows;
    } finally {
      for (const { content } of windows) await content?.close();
    }
  }
}

/** A time of which the archive does not say what was sealed. */
interface Gap {
  readonly from: string;
  until: string;
  readonly mayHoldLate: boolean;
}

/** How far windows have been followed. */
interface Walk {
  newest: SignedDigest | undefined;
  readonly gaps: Gap[];
  /** The gap of digests that cannot be read, until the next that can. */
  open: Gap | undefined;
  windows: number;
  entries: number;
}

/** Compares a digest with the one before. */
function* follow(walk: Walk, digest: SignedDigest, expected: string): Generator<Finding> {
  const { newest, open } = walk;
  const end = open?.from ?? digest.from;
  if (end > expected) {
    walk.gaps.push({ from: expected, until: end, mayHoldLate: true });
    yield { kind: 'missing', subject: expected, before: `until ${end}` };
  }
  const follows = digest.from === expected && digest.previous?.sha256 === newest?.sha256;
  if (digest.from < expected || (digest.from === expected && !follows)) {
    yield { kind: 'forked', subject: digestName(digest.from) };
  }
}

/** Takes one step along the chain. */
function* step(walk: Walk, { file, digest, content }: Window, since: string): Generator<Finding> {
  walk.windows += 1;
  if (typeof digest === 'string') {
    yield { kind: digest, subject: file.name };
    if (walk.open) return;
    walk.open = { from: timeInName(file.name), until: endOfTime, mayHoldLate: true };
    walk.gaps.push(walk.open);
    return;
  }
  const expected = walk.newest?.until ?? (since === beginning ? beginning : undefined);
  if (expected !== undefined) yield* follow(walk, digest, expected);
  if (walk.open) walk.open.until = digest.from;
  walk.open = undefined;
  walk.newest = digest;
  walk.entries += digest.entries.count;
  if (content) return;
  yield { kind: 'unreadable', subject: digest.entries.file };
  const { from, until, entries } = digest;
  walk.gaps.push({ from, until, mayHoldLate: entries.late > 0 });
}

/** The table, and its part that a snapshot holds. */
interface Compared {
  readonly source: EntrySource;
  readonly snapshot: Snapshot;
  readonly from: string;
  readonly until: string;
}

const itemOf = async (source: EntrySource, id: unknown): Promise<Item | undefined> =>
  typeof id === 'number' && Number.isSafeInteger(id) ? (await source.byIds([id]))[0] : undefined;

async function* compareLine(
  { source, snapshot, from, until }: Compared,
  { id, created_at, late, line }: SealedLine,
): AsyncGenerator<Finding> {
  const subject = idText(id);
  const found = snapshot.find(id);
  if (late && !found?.met) yield { kind: 'late', subject };
  snapshot.meet(id);
  if (found?.hash === sha256(line).toString('hex')) return;
  const time = String(created_at);
  const isHeld = found || (time >= from && time < until);
  const item = isHeld && !found ? undefined : await itemOf(source, id);
  const after = item && lineOf(item);
  if (after === undefined) yield { kind: 'deleted', subject, before: line };
  else if (after !== line) yield { kind: 'changed', subject, before: line, after };
}

/** Fills a snapshot. */
async function* takeSnapshot(
  { source, entriesBetween, progress }: Verification,
  { snapshot, from, until }: Compared,
): AsyncGenerator<Finding> {
  let count = 0;
  for await (const item of entriesBetween?.(from, until) ?? source?.all() ?? []) {
    const time = String(item.created_at);
    if (from !== beginning && time < from) continue;
    if (until !== endOfTime && time >= until) continue;
    snapshot.add(item);
    count += 1;
    progress?.(undefined, count);
    const wrong = wrongIndexKeys(item);
    if (wrong.length > 0) {
      yield { kind: 'hidden', subject: idText(item.id), before: wrong.join(', ') };
    }
  }
}

async function* lateLinesOf({ digest, content }: Window): AsyncGenerator<SealedLine> {
  const isWanted = typeof digest === 'object' && digest.entries.late > 0;
  for await (const line of isWanted && content ? linesOf(content) : []) if (line.late) yield line;
}

/** The windows after those that were asked for. */
async function* windowsAfter(verification: Verification, since: string): AsyncGenerator<Window> {
  const names = list(verification.archive, { since });
  let listed = await names.next();
  // What is altered there is not asked for.
  while (!listed.done) listed = await names.next();
  yield* readWindows(verification, listed.value);
}

/** Meets entries that were sealed after the windows that were asked for. */
const meetLater = async (
  verification: Verification,
  walk: Walk,
  { snapshot, until }: Compared,
): Promise<void> => {
  const [someUnmet] = until === endOfTime ? [] : snapshot.unmet();
  if (!someUnmet) return;
  for await (const window of windowsAfter(verification, until)) {
    for (const _ of step(walk, window, until));
    for await (const { id, line } of lateLinesOf(window)) {
      if (snapshot.find(id)?.hash === sha256(line).toString('hex')) snapshot.meet(id);
    }
  }
};

/** Hashes of entries that `replay-audit` wrote after the newest window, by id. */
const replayedSince = async (
  { source }: Compared,
  time: string,
): Promise<ReadonlyMap<string, string>> => {
  const replayed = new Map<string, string>();
  for await (const item of source.between(time, endOfTime)) {
    for (const { id, sha256 } of replayedBy(item)) replayed.set(idText(id), sha256);
  }
  return replayed;
};

type Judgement = 'unclear' | 'unsealed' | 'inserted';

/** @returns what an entry is that no window holds */
const judge = async (
  compared: Compared,
  { newest, gaps }: Walk,
): Promise<(e: Seen) => Judgement> => {
  const end = newest?.until ?? beginning;
  const recheck = timeBefore(end, recheckOf(newest?.interval ?? 0));
  const replayed = await replayedSince(compared, end);
  return ({ id, created_at: time, hash }) => {
    if (gaps.some(({ from, until }) => time >= from && time < until)) return 'unclear';
    if (time >= recheck || replayed.get(id) === hash) return 'unsealed';
    const mayBeLate = gaps.some(({ until, mayHoldLate }) => mayHoldLate && time < until);
    return mayBeLate ? 'unclear' : 'inserted';
  };
};

/** @returns how many entries that no window holds are too new for one */
async function* judgeUnmet(compared: Compared, walk: Walk): AsyncGenerator<Finding, number> {
  const judgementOf = await judge(compared, walk);
  let unsealed = 0;
  for (const entry of compared.snapshot.unmet()) {
    const { id: subject } = entry;
    const kind = judgementOf(entry);
    if (kind === 'unsealed') {
      unsealed += 1;
      continue;
    }
    const item = await itemOf(compared.source, Number(subject));
    yield { kind, subject, ...(item ? { after: lineOf(item) } : {}) };
  }
  return unsealed;
}

/** Follows the windows of a list, and compares their entries with the table, if there is one. */
async function* walkWindows(
  verification: Verification,
  listing: Listing,
  walk: Walk,
  compared: Compared | undefined,
): AsyncGenerator<Finding> {
  const { since = beginning, progress } = verification;
  const { next } = listing;
  for await (const window of readWindows(verification, listing)) {
    yield* step(walk, window, since);
    progress?.(walk.windows / listing.digests.length, walk.entries);
    if (!compared || !window.content) continue;
    for await (const line of linesOf(window.content)) yield* compareLine(compared, line);
  }
  const end = walk.newest?.until;
  if (next && end && !walk.open && end < next) {
    yield { kind: 'missing', subject: end, before: `until ${next}` };
  }
}

/**
 * Verifies windows: the archive by itself, and entries of the table by the archive. Memory holds the
 * list of windows and the compressed entries of a few.
 * @returns what was verified; findings are yielded, an entry's under its id
 * @throws whatever archive and table throw
 */
export async function* verifyTrail(verification: Verification): AsyncGenerator<Finding, Verified> {
  const { archive, source, since = beginning } = verification;
  const listing = yield* list(archive, verification);
  const walk: Walk = { newest: undefined, gaps: [], open: undefined, windows: 0, entries: 0 };
  const [first] = listing.digests;
  const from = since === beginning ? since : first && timeInName(first.name);
  // No window begins in that time, so that nothing of the table is to be compared.
  if (!source || from === undefined) {
    yield* walkWindows(verification, listing, walk, undefined);
    return { ...walk, unsealed: 0 };
  }
  const snapshot = openSnapshot();
  try {
    // What is older than the first of these windows is of the window before.
    const compared = { source, snapshot, from, until: listing.next ?? endOfTime };
    yield* takeSnapshot(verification, compared);
    snapshot.sort();
    yield* walkWindows(verification, listing, walk, compared);
    const { newest } = walk;
    await meetLater(verification, walk, compared);
    const unsealed = yield* judgeUnmet(compared, walk);
    return { windows: walk.windows, entries: walk.entries, unsealed, newest };
  } finally {
    snapshot.close();
  }
}
