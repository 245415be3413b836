/** Compares the archive with itself, and with the table (lib/audit/README.md, Verification). */
import type { KeyObject } from 'node:crypto';
import { hasExpired } from '../retention.ts';
import {
  type Archive,
  type ArchivedFile,
  isOfContent,
  linesOf,
  readEntriesFile,
  readFile,
} from './archive.ts';
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
import { graceOf, recheckOf, timeBefore } from './sealer.ts';
import { idText, openSnapshot, type Seen, type Snapshot } from './snapshot.ts';
import type { Spool } from './spool.ts';
import type { EntrySource } from './table.ts';

/** What can be found, and what it means. */
export const findingKinds = {
  late: 'came late, and was sealed then',
  changed: 'is not what was sealed',
  deleted: 'was sealed and is not in the table',
  misplaced: 'was sealed in a window in which it is not',
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
  'other key': 'is not the key of --public-key',
  'new key': 'is another key than when this was verified before',
  shorter: 'was the newest digest when this was verified before, and is not there any more',
  different: 'is another digest than the one that was verified before',
} as const;

export interface Finding {
  readonly kind: keyof typeof findingKinds;
  /** The id of an entry, the name of a file, a time, or the fingerprint of a key. */
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
  /** Of these, how many have left the table because their time was over. */
  readonly expired: number;
  /** Entries of the table that are not, as they are too new. */
  readonly unsealed: number;
  /** Those that are older than the archive, where its beginning has left it: nothing proves them. */
  readonly unproven: number;
  readonly newest: SignedDigest | undefined;
}

export interface Verification {
  readonly archive: Archive;
  readonly publicKey: KeyObject;
  /** Windows that begin then; absent: all. */
  readonly since?: string;
  /** Exclusive. */
  readonly until?: string;
  /** Windows that end before then may have left the archive; absent: none may. */
  readonly keptSince?: string | undefined;
  /** Milliseconds since 1970: what has expired by then may have left the table; absent: the clock. */
  readonly now?: number;
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
  /** Names that only a digest has, with no time in them. */
  readonly misnamed: readonly string[];
  /** All others, by name. */
  readonly files: ReadonlyMap<string, ArchivedFile>;
  /** Names, of both. */
  readonly altered: readonly string[];
  /** When the first window begins that is not in the list. */
  readonly next?: string;
}

type Range = Pick<Verification, 'since' | 'until' | 'keptSince'>;

/** The time in the name of a digest; undefined when there is none. */
const timeOf = (name: string): string | undefined => {
  const time = timeInName(name);
  const read = isDigestName(name) ? Date.parse(time) : Number.NaN;
  return !Number.isNaN(read) && new Date(read).toISOString() === time ? time : undefined;
};

const listAll = async (
  archive: Archive,
  { since = beginning, until = endOfTime }: Range,
): Promise<Listing> => {
  const [digests, altered, misnamed]: [ArchivedFile[], string[], string[]] = [[], [], []];
  const files = new Map<string, ArchivedFile>();
  const add = (file: ArchivedFile, isDigest: boolean): void => {
    if (isDigest) digests.push(file);
    else if (file.name.endsWith('.digest.json')) misnamed.push(file.name);
    else files.set(file.name, file);
    if (file.altered) altered.push(file.name);
  };
  const listing = { digests, files, altered, misnamed };
  for await (const file of archive.list(since === beginning ? '' : compact(since))) {
    const time = timeOf(file.name);
    if (time && time >= until) return { ...listing, next: time };
    add(file, time !== undefined);
  }
  return listing;
};

/** The files of a range but for those that may have left the archive, as a whole or in part. */
const list = async (archive: Archive, range: Range): Promise<Listing> => {
  const listing = await listAll(archive, range);
  const { keptSince } = range;
  if (keptSince === undefined) return listing;
  const times = listing.digests.map(({ name }) => timeInName(name));
  // The window in which that time is ends after it.
  const first = [...times, listing.next ?? endOfTime].findLast((time) => time <= keptSince);
  const isKept = (name: string) => first === undefined || name >= compact(first);
  return {
    ...listing,
    digests: listing.digests.filter(({ name }) => isKept(name)),
    altered: listing.altered.filter(isKept),
  };
};

/** When the first window of a list must begin; undefined where any may be the first. */
const startOf = ({ since = beginning, keptSince }: Range, { digests, next }: Listing) => {
  if (since !== beginning) return undefined;
  const first = digests[0] ? timeInName(digests[0].name) : next;
  if (keptSince === undefined || first === beginning) return beginning;
  return first !== undefined && first <= keptSince ? undefined : keptSince;
};

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
  /** Entries that have left the table because their time was over. */
  expired: number;
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

/**
 * Takes one step along the chain.
 * @param start when its first window must begin; absent: any time
 */
function* step(walk: Walk, { file, digest, content }: Window, start?: string): Generator<Finding> {
  walk.windows += 1;
  if (typeof digest === 'string') {
    yield { kind: digest, subject: file.name };
    if (walk.open) return;
    walk.open = { from: timeInName(file.name), until: endOfTime, mayHoldLate: true };
    walk.gaps.push(walk.open);
    return;
  }
  const expected = walk.newest?.until ?? start;
  if (expected !== undefined) yield* follow(walk, digest, expected);
  if (walk.open) walk.open.until = digest.from;
  walk.open = undefined;
  walk.newest = digest;
  walk.entries += digest.entries.count;
  if (!content) yield skipEntries(walk, digest);
}

/** Notes that the entries of a window cannot be read. */
const skipEntries = (walk: Walk, { from, until, entries }: SignedDigest): Finding => {
  walk.gaps.push({ from, until, mayHoldLate: entries.late > 0 });
  return { kind: 'unreadable', subject: entries.file };
};

/** The table, and its part that a snapshot holds. */
interface Compared {
  readonly source: EntrySource;
  readonly snapshot: Snapshot;
  readonly from: string;
  readonly until: string;
  readonly now: number | undefined;
}

const itemOf = async (source: EntrySource, id: unknown): Promise<Item | undefined> =>
  typeof id === 'number' && Number.isSafeInteger(id) ? (await source.byIds([id]))[0] : undefined;

/** An entry of a line as the table has it now; undefined when it is not there. */
const storedLine = async (
  { source, from, until, now = Date.now() }: Compared,
  sealed: SealedLine,
  found: Seen | undefined,
): Promise<string | undefined> => {
  const isWhole = from === beginning && until === endOfTime;
  const time = String(sealed.created_at);
  const isHeld = time >= from && time < until;
  // Of a part, one whose time was changed is not in the snapshot; those that expired are many.
  if (!found && (isWhole || (isHeld && hasExpired(sealed, now)))) return undefined;
  const item = await itemOf(source, sealed.id);
  return item && lineOf(item);
};

/** What follows from a line and the window in which it was sealed. */
function* checkLine(
  snapshot: Snapshot,
  { from, until }: SignedDigest,
  { id, created_at, late }: SealedLine,
): Generator<Finding> {
  const subject = idText(id);
  if (late) {
    if (snapshot.noteLate(id)) yield { kind: 'late', subject };
    return;
  }
  const time = String(created_at);
  if (time >= from && time < until) return;
  yield { kind: 'misplaced', subject, before: `${time} is not from ${from} until ${until}` };
}

async function* compareLine(
  compared: Compared,
  sealed: SealedLine,
  walk: Walk,
): AsyncGenerator<Finding> {
  const { snapshot, now = Date.now() } = compared;
  const { id, line: before } = sealed;
  const subject = idText(id);
  const found = snapshot.find(id);
  snapshot.meet(id);
  if (found?.hash === sha256(before).toString('hex')) return;
  const after = await storedLine(compared, sealed, found);
  if (after !== undefined) {
    if (after !== before) yield { kind: 'changed', subject, before, after };
  } else if (hasExpired(sealed, now)) walk.expired += 1;
  else yield { kind: 'deleted', subject, before };
}

/** Fills a snapshot. @returns how many entries are too old for it */
async function* takeSnapshot(
  { source, entriesBetween, progress }: Verification,
  { snapshot, from, until }: Compared,
): AsyncGenerator<Finding, number> {
  let count = 0;
  let older = 0;
  for await (const item of entriesBetween?.(from, until) ?? source?.all() ?? []) {
    const time = String(item.created_at);
    if (from !== beginning && time < from) {
      older += 1;
      continue;
    }
    if (until !== endOfTime && time >= until) continue;
    snapshot.add(item);
    count += 1;
    progress?.(undefined, count);
    const wrong = wrongIndexKeys(item);
    if (wrong.length > 0) {
      yield { kind: 'hidden', subject: idText(item.id), before: wrong.join(', ') };
    }
  }
  return older;
}

async function* lateLinesOf({ digest, content }: Window): AsyncGenerator<SealedLine> {
  const isWanted = typeof digest === 'object' && digest.entries.late > 0;
  for await (const line of isWanted && content ? linesOf(content) : []) if (line.late) yield line;
}

/** The windows after those that were asked for. */
async function* windowsAfter(verification: Verification, since: string): AsyncGenerator<Window> {
  yield* readWindows(verification, await listAll(verification.archive, { since }));
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
    for (const _ of step(walk, window));
    for await (const { id, line } of lateLinesOf(window)) {
      if (snapshot.find(id)?.hash === sha256(line).toString('hex')) snapshot.meet(id);
    }
  }
};

const timeForm = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;

/** Whether the service may have written an entry of a time: none is to come, or of another form. */
type IsTimely = (time: string) => boolean;

const timelyAt =
  (now: number, interval: number): IsTimely =>
  (time) =>
    timeForm.test(time) && Date.parse(time) <= now + graceOf(interval);

/** Hashes of entries that `replay-audit` wrote after the newest window, by id. */
const replayedSince = async (
  { source }: Compared,
  since: string,
  isTimely: IsTimely,
): Promise<ReadonlyMap<string, string>> => {
  const replayed = new Map<string, string>();
  for await (const item of source.between(since, endOfTime)) {
    if (!isTimely(String(item.created_at))) continue;
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
  const { until: end, interval } = newest ?? { until: beginning, interval: 60 };
  const recheck = timeBefore(end, recheckOf(interval));
  const isTimely = timelyAt(compared.now ?? Date.now(), interval);
  const replayed = await replayedSince(compared, end, isTimely);
  return ({ id, created_at: time, hash }) => {
    if (gaps.some(({ from, until }) => time >= from && time < until)) return 'unclear';
    const isAwaited = time >= recheck || replayed.get(id) === hash;
    if (isAwaited && isTimely(time)) return 'unsealed';
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

/** What is known while windows are walked. */
interface Walking {
  readonly walk: Walk;
  readonly snapshot: Snapshot;
  /** Absent: there is no table to compare with. */
  readonly compared?: Compared;
}

/** Checks the entries of a window, and compares them with the table, if there is one. */
async function* walkLines(
  { walk, snapshot, compared }: Walking,
  digest: SignedDigest,
  content: Spool,
): AsyncGenerator<Finding> {
  let count = 0;
  try {
    for await (const line of linesOf(content)) {
      count += 1;
      yield* checkLine(snapshot, digest, line);
      if (compared) yield* compareLine(compared, line, walk);
    }
  } catch (error) {
    if (!isOfContent(error)) throw error;
    count = Number.NaN;
  }
  if (count !== digest.entries.count) yield skipEntries(walk, digest);
}

/** Follows the windows of a list, with their entries. */
async function* walkWindows(
  verification: Verification,
  listing: Listing,
  walking: Walking,
): AsyncGenerator<Finding> {
  const { progress } = verification;
  const { walk } = walking;
  const { next } = listing;
  const start = startOf(verification, listing);
  for await (const window of readWindows(verification, listing)) {
    yield* step(walk, window, start);
    progress?.(walk.windows / listing.digests.length, walk.entries);
    const { digest, content } = window;
    if (content && typeof digest === 'object') yield* walkLines(walking, digest, content);
  }
  const end = walk.newest?.until ?? start;
  if (next && end && !walk.open && end < next) {
    yield { kind: 'missing', subject: end, before: `until ${next}` };
  }
}

const newWalk = (): Walk => ({
  ...{ newest: undefined, gaps: [], open: undefined },
  ...{ windows: 0, entries: 0, expired: 0 },
});

/**
 * From which time on entries are compared: what is older is of a window before, or of none.
 * @returns undefined when no window begins in the time, so that there is nothing to compare
 */
const comparedFrom = (verification: Verification, listing: Listing): string | undefined => {
  if (startOf(verification, listing) === beginning) return beginning;
  const [first] = listing.digests;
  return first && timeInName(first.name);
};

/** Walks a list with the table beside it. */
async function* compareWindows(
  verification: Verification,
  listing: Listing,
  { source, snapshot, from }: Pick<Compared, 'source' | 'snapshot' | 'from'>,
): AsyncGenerator<Finding, Verified> {
  const walk = newWalk();
  const until = listing.next ?? endOfTime;
  const compared = { source, snapshot, from, until, now: verification.now };
  const older = yield* takeSnapshot(verification, compared);
  snapshot.sort();
  yield* walkWindows(verification, listing, { walk, snapshot, compared });
  const { newest, windows, entries, expired } = walk;
  await meetLater(verification, walk, compared);
  const unsealed = yield* judgeUnmet(compared, walk);
  // Of a part, those that are older are in the windows before it.
  const unproven = verification.since === undefined ? older : 0;
  return { windows, entries, expired, unsealed, unproven, newest };
}

/**
 * Verifies windows: the archive by itself, and entries of the table by the archive. Memory holds the
 * list of windows and the compressed entries of a few.
 * @returns what was verified; findings are yielded, an entry's under its id
 * @throws whatever archive and table throw
 */
export async function* verifyTrail(verification: Verification): AsyncGenerator<Finding, Verified> {
  const { archive, source } = verification;
  const listing = await list(archive, verification);
  for (const subject of listing.altered) yield { kind: 'altered', subject };
  for (const subject of listing.misnamed) yield { kind: 'unreadable', subject };
  const from = comparedFrom(verification, listing);
  const snapshot = openSnapshot();
  try {
    if (source && from !== undefined) {
      return yield* compareWindows(verification, listing, { source, snapshot, from });
    }
    const walk = newWalk();
    yield* walkWindows(verification, listing, { walk, snapshot });
    return { ...walk, unsealed: 0, unproven: 0 };
  } finally {
    snapshot.close();
  }
}
