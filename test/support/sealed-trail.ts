/** A trail in memory: a table of entries, an archive, a sealer, and the faults of these. */
import { type AuditEntry, type AuditedAction, makeEntry } from '../../lib/audit/entry.ts';
import { timeToLive, toItem } from '../../lib/audit/record.ts';
import type { Archive } from '../../lib/seal/archive.ts';
import type { Finding } from '../../lib/seal/finding.ts';
import { localSigner } from '../../lib/seal/folder-archive.ts';
import { isSigned, readHeader, type SignedHeader } from '../../lib/seal/header.ts';
import { type Item, keyOf, numberIn } from '../../lib/seal/line.ts';
import { type RunOptions, type Sealing, seal } from '../../lib/seal/sealer.ts';
import type { EntrySource } from '../../lib/seal/table.ts';
import { type Verification, type Verified, verifyTrail } from '../../lib/seal/verify.ts';

/** The operation of the store at which it fails: before the operation is done, or after it. */
type Crash = { readonly at: number; readonly done: boolean };

export interface Files extends Archive {
  readonly files: Map<string, Buffer>;
  /** Names of files that have more than their first version, or only a deletion mark. */
  readonly altered: Set<string>;
  /** Makes the operation with a number, counted from now, and all later operations fail. */
  crash(crash: Crash | undefined): void;
}

/** An archive in memory. */
export const memoryArchive = (): Files => {
  const files = new Map<string, Buffer>();
  const altered = new Set<string>();
  let planned: Crash | undefined;
  let operations = 0;
  const perform = async <T>(operation: () => T): Promise<T> => {
    operations += 1;
    // Another sealer may continue here.
    await new Promise((resolve) => setImmediate(resolve));
    if (!planned || operations < planned.at) return operation();
    if (planned.done && operations === planned.at) operation();
    throw new Error('The store is down');
  };
  return {
    files,
    altered,
    crash: (crash) => {
      planned = crash;
      operations = 0;
    },
    async *list() {
      const names = await perform(() => [...new Set([...files.keys(), ...altered])].sort());
      for (const name of names) yield { name, ...(altered.has(name) ? { altered: true } : {}) };
    },
    read: (name, start, end) => perform(() => files.get(name)?.subarray(start, end)),
    create: (name, content) =>
      perform(() => {
        if (files.has(name)) return false;
        files.set(name, content);
        return true;
      }),
  };
};

export interface Table extends EntrySource {
  readonly items: Map<number, Item>;
  /** The times until which the index does not show entries, by the ids of the entries. */
  readonly lagging: Map<number, number>;
}

const byKey = (a: Item, b: Item) => (String(a.created_at_id) < String(b.created_at_id) ? -1 : 1);

/** A table in memory whose index may lag. */
export const memoryTable = (clock: () => number): Table => {
  const items = new Map<number, Item>();
  const lagging = new Map<number, number>();
  return {
    items,
    lagging,
    async *between(from, until) {
      if (from > until) throw new Error('DynamoDB refuses a range that ends before it begins');
      for (const item of [...items.values()].sort(byKey)) {
        const key = keyOf(item);
        const isShown =
          typeof item.shard === 'string' && clock() >= (lagging.get(Number(item.id)) ?? 0);
        if (isShown && key >= from && key < until) yield item;
      }
    },
    async *all() {
      yield* items.values();
    },
    byIds: async (ids) => {
      if (!ids.every((id) => Number.isFinite(Number(id)))) {
        throw new Error('DynamoDB refuses what is no number');
      }
      const wanted = new Set(ids);
      const simple = [...wanted].map((id) => items.get(Number(id)));
      return simple.some((item) => item === undefined)
        ? [...items.values()].filter(({ id }) => wanted.has(numberIn(id) ?? ''))
        : simple.filter((item) => item !== undefined);
    },
  };
};

export interface TestTrail extends Sealing {
  readonly archive: Files;
  readonly source: Table;
  /** Milliseconds since 1970. */
  now: number;
  /** Leaves an entry, by default with the present time. @returns its id */
  add(entry?: Partial<AuditedAction>, at?: number): number;
  /** Leaves entries of the past, and the entry that `replay-audit` leaves about them. */
  replay(ats: readonly number[]): readonly number[];
  /** Seals, some milliseconds later. @returns the newest header */
  seal(after?: number, options?: RunOptions): Promise<SignedHeader>;
  /** Verifies with the table. @returns all findings */
  verify(more?: Partial<Verification>): Promise<Outcome>;
}

/** The same key in each run, so that files have the same bytes: an Ed25519 key in DER (RFC 8410), 32 bytes 01. */
const der = Buffer.from(`302e020100300506032b657004220420${'01'.repeat(32)}`, 'hex');
const pem = `-----BEGIN PRIVATE KEY-----\n${der.toString('base64')}\n-----END PRIVATE KEY-----\n`;

/** An empty trail that is sealed every minute. @param retentionDays days for which entries are kept; 0: for ever */
export const makeTrail = ({
  interval = 60,
  retentionDays = 0,
  archiveDays = 0,
  signer = localSigner(pem),
  now = Date.UTC(2026, 10, 22, 12),
} = {}): TestTrail => {
  const source = memoryTable(() => trail.now);
  let made = 0;
  const add: TestTrail['add'] = (entry, at = trail.now) => {
    const action = { action: 'LOGIN', resource: 'users', result: 'SUCCESS', ...entry } as const;
    made += 1;
    // The same ids in each run, as properties require.
    const random = (below: number) => made % below;
    const newEntry = makeEntry(action, { now: new Date(at), random });
    const write = { writeId: `write-${made}`, ...timeToLive(newEntry, retentionDays) };
    const item = toItem(newEntry, write);
    source.items.set(item.id, item);
    return item.id;
  };
  const trail: TestTrail = {
    archive: memoryArchive(),
    source,
    signer,
    interval,
    archiveDays,
    now,
    add,
    replay: (ats) => {
      const entries = ats.map((at) => add({}, at));
      add({ action: 'CREATE', resource: 'audit-logs', details: { entries } });
      return entries;
    },
    async seal(after = 0, options = {}) {
      this.now += after;
      return (await seal(this, new Date(this.now), options)).newest;
    },
    async verify(more = {}) {
      const { archive, source: table, signer: by, now: at } = this;
      return verifyAll({ archive, source: table, publicKey: by.publicKey, now: at, ...more });
    },
  };
  return trail;
};

/** A trail of files that end a minute apart, with one entry each. */
export const sealedTrail = async (files: number, settings?: Parameters<typeof makeTrail>[0]) => {
  const trail = makeTrail(settings);
  const ids: number[] = [];
  for (let file = 0; file < files; file += 1) {
    ids.push(trail.add());
    await trail.seal(2 * trail.interval * 1000);
  }
  return { trail, ids };
};

/** The signed headers of an archive, newest first, each of which is read when it is requested. */
function* newestFirst({ archive, signer }: TestTrail) {
  for (const [, file] of [...archive.files].sort(([a], [b]) => (a < b ? -1 : 1))) {
    if (file.length <= 15) continue;
    const header = readHeader(file.subarray(15, 15 + file.readUInt16LE(11)), signer.publicKey);
    if (isSigned(header)) yield header;
  }
}

/** The signed headers of an archive, in the order of their numbers. */
export const headersOf = (trail: TestTrail): readonly SignedHeader[] =>
  [...newestFirst(trail)].reverse();

/** The newest signed header of an archive; other headers are not read. */
export const newestHeader = (trail: TestTrail): SignedHeader | undefined =>
  newestFirst(trail).next().value ?? undefined;

/** A trail with the same files and entries, which then changes independently. */
export const copyOf = (trail: TestTrail): TestTrail => {
  const copy = makeTrail({ ...trail, now: trail.now });
  for (const [name, file] of trail.archive.files) copy.archive.files.set(name, file);
  for (const [id, item] of trail.source.items) copy.source.items.set(id, item);
  return copy;
};

/** Puts an entry into the table without the service, with any time, or without one. @returns its id */
export const forge = ({ source, add }: TestTrail, created_at: string): number => {
  const id = add();
  const item = source.items.get(id) as unknown as AuditEntry;
  source.items.set(id, toItem({ ...item, created_at }, { writeId: 'forged' }));
  return id;
};

/** Changes a stored entry. @param at its place; a negative one counts from the newest entry @returns its id */
export const changeEntry = ({ source }: TestTrail, at: number): string => {
  const id = [...source.items.keys()].at(at) ?? 0;
  source.items.set(id, { ...source.items.get(id), ip_address: 'changed' });
  return String(id);
};

export interface Outcome extends Verified {
  readonly findings: readonly Finding[];
}

/** Verifies a trail. @returns all findings */
export const verifyAll = async (verification: Verification): Promise<Outcome> => {
  const findings: Finding[] = [];
  const verified = await verifyTrail(verification, (finding) => findings.push(finding));
  return { findings, ...verified };
};
