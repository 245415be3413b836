/** The table beside the windows of an archive (lib/seal/README.md, Verification). */
import { hasExpired } from '../audit/retention.ts';
import type { Chain, Gap } from './chain.ts';
import { beginning, endOfTime, graceOf } from './digest.ts';
import {
  hashOf,
  type Item,
  idText,
  isInPlace,
  isTime,
  lineOf,
  numberOf,
  replayedBy,
  type SealedLine,
  sha256,
  wrongIndexKeys,
} from './line.ts';
import { readAgainAfter } from './sealer.ts';
import { openScratch } from './spool.ts';
import type { EntrySource } from './table.ts';
import type { Finding, Verification } from './verification.ts';

/** An entry of the table, as far as it is kept to be compared. */
interface Seen {
  readonly id: string;
  readonly created_at: string;
  /** SHA-256 of its line. */
  readonly hash: string;
}

const seenIn = (item: Item): Seen => ({
  id: idText(item.id),
  created_at: idText(item.created_at ?? ''),
  hash: hashOf(item),
});

const hashOfLine = (line: string): string => sha256(line).toString('hex');

const noteTables = `
  CREATE TABLE unmet (id TEXT PRIMARY KEY, created_at TEXT, hash TEXT) WITHOUT ROWID;
  CREATE TABLE late (id TEXT, hash TEXT, time TEXT, window TEXT, PRIMARY KEY (id, hash)) WITHOUT ROWID;
  CREATE INDEX late_times ON late (time);
  CREATE TABLE told (id TEXT PRIMARY KEY) WITHOUT ROWID;
  CREATE TABLE replayed (id TEXT PRIMARY KEY, hash TEXT) WITHOUT ROWID`;

/** What is out of order while an archive is verified, on the disk. */
export class Notes {
  private readonly database = openScratch(noteTables);
  private readonly statements = new Map<string, ReturnType<typeof this.database.prepare>>();

  private prepare(sql: string) {
    const statement = this.statements.get(sql) ?? this.database.prepare(sql);
    this.statements.set(sql, statement);
    return statement;
  }

  private has(sql: string, ...values: string[]): boolean {
    return this.prepare(`SELECT 1 FROM ${sql} LIMIT 1`).get(...values) !== undefined;
  }

  /** @returns whether that changed anything */
  private change(sql: string, ...values: string[]): boolean {
    return Number(this.prepare(sql).run(...values).changes) > 0;
  }

  addUnmet({ id, created_at, hash }: Seen): void {
    this.change('INSERT OR REPLACE INTO unmet VALUES (?, ?, ?)', id, created_at, hash);
  }

  isUnmet(id: unknown): boolean {
    return this.has('unmet WHERE id = ?', idText(id));
  }

  hasUnmet(): boolean {
    return this.has('unmet');
  }

  /** Notes that a window has an entry. @returns whether it was not met before */
  meet({ id, line }: SealedLine): boolean {
    const sql = 'DELETE FROM unmet WHERE id = ? AND hash = ?';
    return this.hasUnmet() && this.change(sql, idText(id), hashOfLine(line));
  }

  /** Notes that a later window has an entry. */
  meetLate(line: SealedLine): void {
    if (line.late) this.meet(line);
  }

  /** Oldest first, but for those that were told of. */
  *unmet(): Generator<Seen> {
    const sql = `SELECT * FROM unmet WHERE id NOT IN (SELECT id FROM told)
      ORDER BY created_at, length(id), id`;
    for (const { id, created_at, hash } of this.prepare(sql).iterate()) {
      yield { id: String(id), created_at: String(created_at), hash: String(hash) };
    }
  }

  /** @returns whether the entry is late for the first time */
  noteLate({ id, created_at, line }: SealedLine, window: string): boolean {
    const isNew = !this.isLate(id);
    const values = [idText(id), hashOfLine(line), idText(created_at), window];
    this.change('INSERT OR IGNORE INTO late VALUES (?, ?, ?, ?)', ...values);
    return isNew;
  }

  isLate(id: unknown): boolean {
    return this.has('late WHERE id = ?', idText(id));
  }

  hasLateBetween(from: string, until: string): boolean {
    return this.has('late WHERE time >= ? AND time < ?', from, until);
  }

  /** The first window that sealed a line late. */
  lateWindow(id: unknown, line: string): string | undefined {
    const sql = 'SELECT window FROM late WHERE id = ? AND hash = ?';
    const row = this.prepare(sql).get(idText(id), hashOfLine(line));
    return row && String(row.window);
  }

  /** Notes that an entry is told of. @returns whether it was not before */
  tell(id: unknown): boolean {
    return this.change('INSERT OR IGNORE INTO told VALUES (?)', idText(id));
  }

  isTold(id: unknown): boolean {
    return this.has('told WHERE id = ?', idText(id));
  }

  replay(id: number, hash: string): void {
    this.change('INSERT OR REPLACE INTO replayed VALUES (?, ?)', idText(id), hash);
  }

  isReplayed(id: string, hash: string): boolean {
    return this.has('replayed WHERE id = ? AND hash = ?', id, hash);
  }

  /** Takes it away. */
  close(): void {
    this.database.close();
  }
}
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
      yield* this.checkKeys(item);
      if (!isInPlace(item)) this.notes.addUnmet(seenIn(item));
    }
  }

  private *checkKeys(item: Item): Generator<Finding> {
    const wrong = wrongIndexKeys(item);
    if (wrong.length === 0) return;
    const values = wrong.map((name) => `${name}: ${idText(item[name])}`);
    yield { kind: 'hidden', subject: idText(item.id), before: values.join(', ') };
  }

  /** Whether an entry of the index is noted by a scan. */
  private isNoted(item: Item): boolean {
    return this.isScanned && !isInPlace(item);
  }

  private *note(item: Item): Generator<Finding> {
    if (this.isNoted(item)) return;
    if (!this.isScanned) yield* this.checkKeys(item);
    this.notes.addUnmet(seenIn(item));
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
      if (!this.isScanned) yield* this.checkKeys(item);
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
      if (!this.isScanned) yield* this.checkKeys(item);
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
      for (const { id, sha256: hash } of replayedBy(item)) this.notes.replay(id, hash);
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
