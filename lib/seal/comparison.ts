/** The table beside the windows of an archive (lib/seal/README.md, Verification). */
import { hasExpired } from '../audit/retention.ts';
import type { Chain, Gap } from './chain.ts';
import { beginning, endOfTime, graceOf } from './digest.ts';
import {
  type Item,
  idText,
  isInPlace,
  isTime,
  lineOf,
  numberOf,
  replayedBy,
  type SealedLine,
  wrongIndexKeys,
} from './line.ts';
import { type Notes, type Seen, seenIn } from './notes.ts';
import { readAgainAfter } from './sealer.ts';
import type { EntrySource } from './table.ts';
import type { Finding, Verification } from './verification.ts';

type Findings = AsyncGenerator<Finding>;

const keyOf = (item: Item): string => String(item.created_at_id);

/** The number in the text of an id, if there is one. */
const numberIn = (id: string): readonly string[] => {
  const number = /^(?:\{"N":")?(-?[\d.]+(?:[Ee][+-]?\d+)?)(?:"\})?$/.exec(id)?.[1];
  return number === undefined ? [] : [number];
};

/** Entries in order, taken as far as a key. */
const inOrder = (items: AsyncIterable<Item>) => {
  const iterator = items[Symbol.asyncIterator]();
  let head: Promise<IteratorResult<Item>> | IteratorResult<Item> | undefined;
  return async (limit: string, isIncluded = false): Promise<Item | undefined> => {
    head = await (head ?? iterator.next());
    if (head.done) return undefined;
    const item = head.value;
    const key = keyOf(item);
    if (key > limit || (key === limit && !isIncluded)) return undefined;
    head = undefined;
    return item;
  };
};

function* wrongKeysOf(item: Item): Generator<Finding> {
  const wrong = wrongIndexKeys(item);
  if (wrong.length === 0) return;
  const values = wrong.map((name) => `${name}: ${idText(item[name])}`);
  yield { kind: 'hidden', subject: idText(item.id), before: values.join(', ') };
}

/** Sealed entries that are looked for by their ids at a time. */
const batchSize = 100;

/** In place of a table where there is none to compare with. */
const noTable: EntrySource = {
  between: async function* () {},
  all: async function* () {},
  byIds: async () => [],
};

/** What the table has beside the windows that are read. */
export class Comparison {
  readonly counts = {
    ...{ expired: 0, unsealed: 0, unproven: 0 },
    unsealedSince: undefined as string | undefined,
  };
  private pending: { readonly line: SealedLine; readonly window: string }[] = [];
  private readonly take: ReturnType<typeof inOrder>;
  private readonly source: EntrySource;
  /** Whether there is a table to compare with. */
  private readonly isThere: boolean;
  private readonly notes: Notes;
  private readonly chain: Chain;
  private readonly now: number;
  /** Whether all entries were read past the indexes, so that what those do not show is noted. */
  private readonly isScanned: boolean;
  private readonly since: string;
  /** When the time begins of which the next run of the sealer seals entries. */
  private awaited = beginning;
  private readonly verification: Verification;

  constructor(verification: Verification, notes: Notes, chain: Chain) {
    const {
      source = noTable,
      since = beginning,
      until = endOfTime,
      now = Date.now(),
      scan = false,
    } = verification;
    this.verification = verification;
    this.source = source;
    this.isThere = source !== noTable;
    this.notes = notes;
    this.chain = chain;
    this.now = now;
    this.isScanned = scan;
    this.since = since;
    this.take = inOrder(source.between(since, until));
  }

  /** Notes entries that the index by time does not show where they are; reports wrong keys. */
  async *scan({ since = '', until = endOfTime, progress }: Verification): Findings {
    let count = 0;
    for await (const item of this.source.all()) {
      count += 1;
      progress?.(undefined, count);
      const time = idText(item.created_at ?? '');
      const isWanted = time >= since && (until === endOfTime || time < until);
      if (!isWanted) continue;
      yield* wrongKeysOf(item);
      if (!isInPlace(item)) this.addUnmet(item);
    }
  }

  /** Reports wrong keys of an entry of the index, unless a scan has. */
  private *checkKeys(item: Item): Generator<Finding> {
    if (!this.isScanned) yield* wrongKeysOf(item);
  }

  /** Whether an entry of the index is noted by a scan. */
  private isNoted(item: Item): boolean {
    return this.isScanned && !isInPlace(item);
  }

  private *note(item: Item): Generator<Finding> {
    if (this.isNoted(item)) return;
    yield* this.checkKeys(item);
    this.addUnmet(item);
  }

  private addUnmet(item: Item): void {
    const { id, created_at, hash } = seenIn(item);
    this.notes.addUnmet(id, created_at, hash);
  }

  /** Passes entries of which no window tells: they are looked at when all is read. */
  async skipTo(time: string): Promise<void> {
    while (await this.take(time));
  }

  /** Notes entries of the table until a time that no line has. */
  async *finishWindow(until: string): Findings {
    for (let item = await this.take(until); item; item = await this.take(until)) {
      yield* this.note(item);
    }
  }

  /** Compares a line that is in order. */
  async *compare(line: SealedLine, key: string, window: string): Findings {
    if (!this.isThere) return;
    for (let item = await this.take(key, true); item; item = await this.take(key, true)) {
      if (keyOf(item) !== key) {
        yield* this.note(item);
        continue;
      }
      yield* this.checkKeys(item);
      if (lineOf(item) !== line.line) yield* this.lookUp(line, window);
      return;
    }
    if (hasExpired(line, this.now)) this.counts.expired += 1;
    else yield* this.lookUp(line, window);
  }

  /** Compares a line with the table by its id, some at a time. */
  async *lookUp(line: SealedLine, window: string): Findings {
    if (this.isThere) this.pending.push({ line, window });
    if (this.pending.length === batchSize) yield* this.flush();
  }

  async *flush(): Findings {
    const pending = this.pending;
    this.pending = [];
    const ids = pending.flatMap(({ line }) => numberOf(line.id) ?? []);
    const items = await this.source.byIds(ids);
    const found = new Map(items.map((item) => [idText(item.id), item]));
    for (const { line, window } of pending) {
      yield* this.resolve(line, window, found.get(idText(line.id)));
    }
  }

  private *resolve(sealed: SealedLine, window: string, item: Item | undefined): Generator<Finding> {
    const { id, line } = sealed;
    const subject = idText(id);
    const stored = item && lineOf(item);
    if (stored === line) {
      this.notes.meet(sealed);
    } else if (item && stored !== undefined) {
      const isFirst = this.wasSealedBefore(item, stored, window);
      if (!this.notes.tell(id)) return;
      yield isFirst
        ? { kind: 'resealed', subject, before: stored, after: line }
        : { kind: 'changed', subject, before: line, after: stored };
    } else if (hasExpired(sealed, this.now)) {
      this.counts.expired += 1;
    } else if (this.notes.tell(id)) {
      yield { kind: 'deleted', subject, before: line };
    }
  }

  /** Whether an entry was sealed as the table has it before a window that has it otherwise. */
  private wasSealedBefore(item: Item, stored: string, window: string): boolean {
    const { id, created_at } = item;
    const late = this.notes.lateWindow(id, stored);
    if (late !== undefined && late < window) return true;
    return (
      isInPlace(item) &&
      isTime(created_at) &&
      created_at < window &&
      created_at >= this.since &&
      !this.chain.gaps.some(({ from, until }) => created_at >= from && created_at < until) &&
      !this.notes.isUnmet(id)
    );
  }

  private isTimely(time: string): boolean {
    const { interval = 60 } = this.chain.newest ?? {};
    return isTime(time) && Date.parse(time) <= this.now + graceOf(interval);
  }

  /** What an entry of the table is that no window has. */
  private judge({ id, created_at: time, hash }: Seen) {
    const { gaps } = this.chain;
    const kindIn = (gap: Gap) => (this.chain.hasLeft(gap) ? 'unproven' : 'unclear');
    const gap = gaps.find(({ from, until }) => time >= from && time < until);
    if (gap) return kindIn(gap);
    const isAwaited = time >= this.awaited || this.notes.isReplayed(id, hash);
    if (isAwaited && this.isTimely(time)) return 'unsealed';
    const late = gaps.find(({ until, mayHoldLate }) => mayHoldLate && time < until);
    return late ? kindIn(late) : 'inserted';
  }

  private async *tellUnmet(entry: Seen, item?: Item): Findings {
    const { id: subject, created_at } = entry;
    const kind = this.judge(entry);
    if (kind === 'unproven') this.counts.unproven += 1;
    else if (kind === 'unsealed') {
      const { unsealedSince: oldest = created_at } = this.counts;
      this.counts.unsealed += 1;
      this.counts.unsealedSince = created_at < oldest ? created_at : oldest;
    } else {
      const [stored] = item ? [item] : await this.source.byIds(numberIn(subject));
      yield { kind, subject, ...(stored ? { after: lineOf(stored) } : {}) };
    }
  }

  /** Entries of a time that no window tells of, but those that were sealed late. */
  private async *tellBetween(from: string, until: string): Findings {
    if (from >= until) return;
    for await (const item of this.source.between(from, until)) {
      if (this.isNoted(item)) continue;
      yield* this.checkKeys(item);
      const line = lineOf(item);
      if (this.notes.isTold(item.id) || this.notes.lateWindow(item.id, line) !== undefined)
        continue;
      yield* this.tellUnmet(seenIn(item), item);
    }
  }

  /** Notes what the next run of the sealer seals: from when on, and what replays of then list. */
  async noteAwaited(): Promise<void> {
    const { newest } = this.chain;
    if (newest && this.isThere)
      this.awaited = (await readAgainAfter(newest, this.verification)).since;
    for await (const item of this.source.between(this.awaited, endOfTime)) {
      if (!this.isTimely(String(item.created_at))) continue;
      for (const { id, sha256: hash } of replayedBy(item)) this.notes.replay(String(id), hash);
    }
  }

  /** Tells what the table has that no window has. @param end of the part; absent: of the chain */
  async *finish(end?: string): Findings {
    yield* this.flush();
    const { gaps, newest } = this.chain;
    for (const { from, until } of gaps.toSorted((a, b) => (a.from < b.from ? -1 : 1))) {
      const isToTell = until !== endOfTime && from < (end ?? endOfTime);
      if (isToTell) yield* this.tellBetween(from, until);
    }
    if (end === undefined) yield* this.tellBetween(newest?.until ?? beginning, endOfTime);
    for (const entry of this.notes.unmet()) yield* this.tellUnmet(entry);
  }
}
