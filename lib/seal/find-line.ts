/** Finds the sealed line of an entry by the time of its key (functions/README.md, The seal). */
import type { ReadFile } from './archive.ts';
import { type BoundedTrail, OutOfReach } from './bounded-trail.ts';
import {
  graceOf,
  isSigned,
  leftBy,
  lookFrom,
  maxNumber,
  type ReadHeader,
  type SignedHeader,
} from './header.ts';
import { type Item, timeIn } from './line.ts';

export interface Wanted {
  readonly id: number;
  readonly key: string;
  /** Milliseconds since 1970. */
  readonly now: number;
}

export interface SealedIn {
  readonly item: Item;
  readonly file: number;
}

export interface Looked {
  /** The line; absent: the files that may have it do not have it. */
  readonly sealed?: SealedIn;
  /** Whether the next run does not look at the key any more. */
  readonly isOver: boolean;
}

/**
 * Looks for a line in the files that cover its key, and in the next ones as long as their runs have looked at the key,
 * because the index shows entries late.
 * @throws {OutOfReach} and the archive's errors
 */
export async function findLine(trail: BoundedTrail, wanted: Wanted): Promise<Looked> {
  const first = await locate(trail, wanted.key);
  if (!first) return { isOver: false };
  const own = await findIn(trail, first, wanted);
  if (own) return { sealed: own, isOver: true };
  if (first.from > wanted.key) {
    const before = await trail.atOrBelow(first.number - 1);
    throw reasonOfGap(trail, first, wanted.now, before);
  }
  const looked = await findAfter(trail, first, wanted);
  if (looked.sealed) return looked;
  const before = await findBefore(trail, first, wanted);
  return before ? { sealed: before, isOver: true } : looked;
}

/**
 * The first line of an id in the files from the one that covers a key up to one that has a line of the id: whoever writes
 * to the table chooses the key at which a later line is found.
 * @throws {OutOfReach} `not_found` with that file, unless all files between were read; and the archive's errors
 */
export async function requireFirstLine(
  trail: BoundedTrail,
  { id, key }: Wanted,
  found: SealedIn,
): Promise<SealedIn> {
  try {
    let header = await locate(trail, key);
    while (header && header.number < found.file) {
      const item = await trail.findLine(header, id);
      if (item) return { item, file: header.number };
      header = await nextAfter(trail, header);
    }
    if (header?.number === found.file) return found;
  } catch (error) {
    if (!(error instanceof OutOfReach)) throw error;
  }
  throw new OutOfReach('not_found', found.file);
}

/** The files that are guessed by their interval; after that each guess halves the files that are left. */
const mostGuesses = 6;

/** The first signed file that ends after a key, or another one that covers the key; undefined if there is none. */
async function locate(trail: BoundedTrail, key: string): Promise<SignedHeader | undefined> {
  const known = trail.known ?? (await signedUpTo(trail, maxNumber, 0));
  if (!known) return undefined;
  return known.until > key ? descend(trail, key, known) : climb(trail, key, known.number);
}

/** As {@link locate}. @param known a file that ends after the key */
async function descend(trail: BoundedTrail, key: string, known: SignedHeader) {
  let [low, high] = [0, known.number];
  let guess = guessFrom(known, key);
  for (let round = 1; high - low > 1; round += 1) {
    const number = Math.min(Math.max(guess, low + 1), high - 1);
    const found = await signedUpTo(trail, number, low);
    if (found && covers(found, key)) return found;
    // No signed file from the found one to this number ends after the key, unless the found one does.
    [low, high] = endsAfter(found, key) ? [low, found.number] : [number, high];
    const isGuessed = found && round < mostGuesses;
    guess = isGuessed ? guessFrom(found, key) : Math.floor((low + high) / 2);
  }
  const file = await trail.atOrBelow(high);
  if (file?.number !== high) throw new OutOfReach('not_found', high);
  return requireSigned(file);
}

/** The first signed file above a number that ends after a key. */
async function climb(trail: BoundedTrail, key: string, number: number) {
  for (let file = await trail.above(number); file; file = await trail.above(file.number)) {
    if (endsAfter(file.header, key)) return file.header;
  }
  return undefined;
}

/** The newest signed file up to a number and above another one. */
async function signedUpTo(trail: BoundedTrail, number: number, low: number) {
  let file = await trail.atOrBelow(number);
  while (file && file.number > low && !isSigned(file.header)) {
    file = await trail.atOrBelow(file.number - 1);
  }
  return file && file.number > low && isSigned(file.header) ? file.header : undefined;
}

/** The number of the file that covers a key, if all files between follow each other after the interval of one of them. */
function guessFrom({ number, from, until, interval }: SignedHeader, key: string): number {
  const runs = (to: string) =>
    (Date.parse(timeIn(key) ?? '') - Date.parse(timeIn(to) ?? '')) / (1000 * interval);
  const distance = until <= key ? Math.floor(runs(until)) + 1 : Math.floor(runs(from));
  return Number.isNaN(distance) ? Math.floor(number / 2) : number + distance;
}

function requireSigned({ number, header }: ReadFile): SignedHeader {
  if (isSigned(header)) return header;
  throw new OutOfReach('not_found', number, header.fault);
}

/** The line, if a file may have it and has it. */
async function findIn(trail: BoundedTrail, header: SignedHeader, { id, key }: Wanted) {
  const { number, oldest, newest } = header;
  const time = timeIn(key) ?? '';
  const hasTime = oldest !== null && oldest <= time && (newest ?? '') >= time;
  if (!hasTime && !covers(header, key)) return undefined;
  const item = await trail.findLine(header, id);
  return item && { item, file: number };
}

/** Looks in the files after a file whose runs have looked at the key again. */
async function findAfter(
  trail: BoundedTrail,
  first: SignedHeader,
  wanted: Wanted,
): Promise<Looked> {
  let before = first;
  let between: ReadFile | undefined;
  for (let file = await trail.above(first.number); file; file = await trail.above(file.number)) {
    const { header } = file;
    if (!isSigned(header)) {
      between ??= file;
      continue;
    }
    if (header.previous !== before.hash) throw reasonOfGap(trail, header, wanted.now, between);
    if (lookFrom(header.from, header.interval) > wanted.key) return { isOver: true };
    const sealed = await findIn(trail, header, wanted);
    if (sealed) return { sealed, isOver: true };
    [before, between] = [header, undefined];
  }
  return { isOver: nextLook(trail, before, wanted.now) > wanted.key };
}

/** The key or time from which the next run looks. @param newest the newest header */
function nextLook(trail: BoundedTrail, { interval }: SignedHeader, now: number): string {
  const closed = new Date(now - graceOf(interval)).toISOString();
  const last = trail.headers().findLast(({ until }) => until <= closed);
  return lookFrom(last?.until ?? '', interval);
}

/** The signed file that follows a file; undefined if there is none, or another file followed. */
async function nextAfter(trail: BoundedTrail, { number, hash }: SignedHeader) {
  let file = await trail.above(number);
  while (file && !isSigned(file.header)) file = await trail.above(file.number);
  return file && isSigned(file.header) && file.header.previous === hash ? file.header : undefined;
}

/** Looks in the files before a file that end after the key too, because a clock was ahead. */
async function findBefore(trail: BoundedTrail, first: SignedHeader, wanted: Wanted) {
  let file = await trail.atOrBelow(first.number - 1);
  while (file && endsAfter(file.header, wanted.key)) {
    const sealed = await findIn(trail, file.header, wanted);
    if (sealed) return sealed;
    file = await trail.atOrBelow(file.number - 1);
  }
  return undefined;
}

function endsAfter(header: ReadHeader | undefined, key: string): header is SignedHeader {
  return header !== undefined && isSigned(header) && header.until > key;
}

function covers({ from, until }: SignedHeader, key: string): boolean {
  return from <= key && key < until;
}

/**
 * Why a file that may have had the line is not there.
 * @param after the header of the next file @param before the file that is found in its place
 */
function reasonOfGap(
  trail: BoundedTrail,
  after: SignedHeader,
  now: number,
  before: ReadFile | undefined,
): OutOfReach {
  if (before && !isSigned(before.header)) {
    return new OutOfReach('not_found', before.number, before.header.fault);
  }
  const headers = trail.headers();
  const newest = headers.at(-1) ?? after;
  const times = headers.map((header) => leftBy(header, header.at));
  const left = [leftBy(newest, new Date(now).toISOString()), ...times];
  const isExcused = after.from !== '' && left.some((time) => after.from <= time);
  return new OutOfReach(isExcused ? 'left' : 'not_found');
}
