/** Compares the table with the windows of an archive (lib/seal/README.md, Verification). */
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
  timeTextOf,
  wrongIndexKeys,
} from './line.ts';
import { type Notes, type Seen, seenIn } from './notes.ts';
import { readAgainAfter } from './sealer.ts';
import type { EntrySource } from './table.ts';
import type { Finding, Verification } from './verification.ts';

type Findings = AsyncGenerator<Finding>;

const keyOf = (item: Item): string => String(item.created_at_id);

/** The number in the text of an id, if it is one. */
const numberIn = (id: string): readonly string[] => {
  const number = /^(?:\{"N":")?(-?[\d.]+(?:[Ee][+-]?\d+)?)(?:"\})?$/.exec(id)?.[1];
  return number === undefined ? [] : [number];
};

/** Takes entries that are in order one by one, up to a key. */
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

/** How many sealed entries are looked up by their ids at once. */
const batchSize = 100;

/** Stands for the table when there is none to compare with. */
const noTable: EntrySource = {
  between: async function* () {},
  all: async function* () {},
  byIds: async () => [],
};

/** The comparison of the table with windows that are read in order. */
export class Comparison {
  readonly counts = {
    expired: 0,
    unsealed: 0,
    unproven: 0,
    unsealedSince: undefined as string | undefined,
  };
  private pending: { readonly line: SealedLine; readonly window: string }[] = [];
  /** The next run of the sealer seals entries from this time on. */
  private awaited = beginning;
  private readonly notes: Notes;
  private readonly chain: Chain;
  private readonly verification: Verification;
  private readonly source: EntrySource;
  private readonly since: string;
  private readonly now: number;
  private readonly take: ReturnType<typeof inOrder>;

  constructor(verification: Verification, notes: Notes, chain: Chain) {
    const { source = noTable, since = beginning, until = endOfTime } = verification;
    this.notes = notes;
    this.chain = chain;
    this.verification = verification;
    this.source = source;
    this.since = since;
    this.now = chain.now;
    this.take = inOrder(source.between(since, until));
  }

  /** Scans the table: notes entries that the index by time does not show, and reports wrong keys. */
  async *scan(): Findings {
    const { since = '', until = endOfTime, progress } = this.verification;
    let count = 0;
    for await (const item of this.source.all()) {
      count += 1;
      progress?.(undefined, count);
      const time = timeTextOf(item);
      const isWanted = time >= since && (until === endOfTime || time < until);
      if (!isWanted) continue;
      yield* wrongKeysOf(item);
      if (!isInPlace(item)) this.addUnmatched(item);
    }
  }

  /** Reports wrong index keys of an entry, unless a scan has reported them. */
  private *checkKeys(item: Item): Generator<Finding> {
    if (!this.verification.scan) yield* wrongKeysOf(item);
  }

  /** Whether a scan has noted an entry that the index by time does not show where it belongs. */
  private isNoted(item: Item): boolean {
    return this.verification.scan === true && !isInPlace(item);
  }

  private *note(item: Item): Generator<Finding> {
    if (this.isNoted(item)) return;
    yield* this.checkKeys(item);
    this.addUnmatched(item);
  }

  private addUnmatched(item: Item): void {
    const { id, created_at, hash } = seenIn(item);
    this.notes.addUnmatched(id, created_at, hash);
  }

  /** Skips entries of a gap, which are judged when all windows are read. */
  async skipTo(time: string): Promise<void> {
    while (await this.take(time));
  }

  /** Notes the rest of the table's entries until a time: no line has them. */
  async *finishWindow(until: string): Findings {
    for (let item = await this.take(until); item; item = await this.take(until)) {
      yield* this.note(item);
    }
  }

  /** Compares a line that is in order with the next entries of the table. */
  async *compare(line: SealedLine, key: string, window: string): Findings {
    if (this.source === noTable) return;
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

  /** Compares a line with the table by its id; lines are looked up in batches. */
  async *lookUp(line: SealedLine, window: string): Findings {
    if (this.source !== noTable) this.pending.push({ line, window });
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
      this.notes.match(sealed);
    } else if (item && stored !== undefined) {
      const isFirst = this.wasSealedBefore(item, stored, window);
      if (!this.notes.report(id)) return;
      yield isFirst
        ? { kind: 'resealed', subject, before: stored, after: line }
        : { kind: 'changed', subject, before: line, after: stored };
    } else if (hasExpired(sealed, this.now)) {
      this.counts.expired += 1;
    } else if (this.notes.report(id)) {
      yield { kind: 'deleted', subject, before: line };
    }
  }

  /** Whether the content that the table has was sealed before the window with other content. */
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
      !this.notes.isUnmatched(id)
    );
  }

  private isTimely(time: string): boolean {
    const { interval = 60 } = this.chain.newest ?? {};
    return isTime(time) && Date.parse(time) <= this.now + graceOf(interval);
  }

  /** Judges an entry of the table that no window has. */
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

  private async *reportUnmatched(entry: Seen, item?: Item): Findings {
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

  /** Judges the entries of a gap, except those that were sealed late. */
  private async *reportBetween(from: string, until: string): Findings {
    if (from >= until) return;
    for await (const item of this.source.between(from, until)) {
      if (this.isNoted(item)) continue;
      yield* this.checkKeys(item);
      const line = lineOf(item);
      if (this.notes.isReported(item.id) || this.notes.lateWindow(item.id, line) !== undefined)
        continue;
      yield* this.reportUnmatched(seenIn(item), item);
    }
  }

  /** Notes what the next run of the sealer will seal: from which time on, and which replayed entries. */
  async noteAwaited(): Promise<void> {
    const { newest } = this.chain;
    if (newest && this.source !== noTable) {
      const { since } = await readAgainAfter(newest, this.verification);
      // A run that closes several windows may end before it has caught up.
      this.awaited = since < newest.until ? since : newest.until;
    }
    for await (const item of this.source.between(this.awaited, endOfTime)) {
      if (!this.isTimely(String(item.created_at))) continue;
      for (const { id, sha256: hash } of replayedBy(item)) this.notes.replay(String(id), hash);
    }
  }

  /** Judges what no window has. @param end of the part that was verified; absent: the whole chain was */
  async *finish(end?: string): Findings {
    yield* this.flush();
    const { gaps, newest } = this.chain;
    for (const { from, until } of gaps.toSorted((a, b) => (a.from < b.from ? -1 : 1))) {
      const isToTell = until !== endOfTime && from < (end ?? endOfTime);
      if (isToTell) yield* this.reportBetween(from, until);
    }
    if (end === undefined) yield* this.reportBetween(newest?.until ?? beginning, endOfTime);
    for (const entry of this.notes.unmatched()) yield* this.reportUnmatched(entry);
  }
}
