/** A trail in memory: a table of entries, an archive, a sealer of them; and what goes wrong. */
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { type AuditEntry, type AuditedAction, makeEntry } from '../../lib/audit/entry.ts';
import { timeToLive, toItem } from '../../lib/audit/store.ts';
import type { Archive } from '../../lib/seal/archive.ts';
import { type Digest, readDigest, type SignedDigest } from '../../lib/seal/digest.ts';
import { localSigner, makeKey } from '../../lib/seal/folder.ts';
import { hashOf, type Item, numberOf } from '../../lib/seal/line.ts';
import type { Sealing } from '../../lib/seal/sealer.ts';
import { sealWindows } from '../../lib/seal/sealer.ts';
import type { EntrySource } from '../../lib/seal/table.ts';
import type { Finding, Verification, Verified } from '../../lib/seal/verification.ts';
import { verifyTrail } from '../../lib/seal/verify.ts';

/** Where an operation of the store ends: before it is done, or after. */
type Crash = { readonly at: number; readonly done: boolean };

export interface Files extends Archive {
  readonly files: Map<string, Buffer>;
  /** Has the operation of a number, counted from now, fail, and all after it. */
  crash(crash: Crash | undefined): void;
}

/** An archive in memory. */
export const memoryArchive = (): Files => {
  const files = new Map<string, Buffer>();
  let planned: Crash | undefined;
  let operations = 0;
  const perform = async <T>(operation: () => T): Promise<T> => {
    operations += 1;
    // Another sealer may go on here.
    await new Promise((resolve) => setImmediate(resolve));
    if (!planned || operations < planned.at) return operation();
    if (planned.done && operations === planned.at) operation();
    throw new Error('The store is down');
  };
  return {
    files,
    crash: (crash) => {
      planned = crash;
      operations = 0;
    },
    async *list(from) {
      const names = await perform(() => [...files.keys()].sort());
      for (const name of names) if (name >= from) yield { name };
    },
    open: async (name) => {
      const content = await perform(() => files.get(name));
      return content && Readable.from([content]);
    },
    create: async (name, content) => {
      const bytes = content instanceof Uint8Array ? content : await buffer(content.read());
      return perform(() => {
        if (files.has(name)) return false;
        files.set(name, bytes);
        return true;
      });
    },
  };
};

export interface Table extends EntrySource {
  readonly items: Map<number, Item>;
  /** Until when the index does not show entries, by their ids. */
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
        const key = String(item.created_at_id);
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
        ? [...items.values()].filter(({ id }) => wanted.has(numberOf(id) ?? ''))
        : simple.filter((item) => item !== undefined);
    },
  };
};

export interface Trail extends Sealing {
  readonly archive: Files;
  readonly source: Table;
  /** Milliseconds since 1970. */
  now: number;
  /** Leaves an entry, of now unless it says otherwise. @returns its id */
  add(entry?: Partial<AuditedAction>, at?: number): number;
  /** Leaves entries of the past, and the entry that `replay-audit` leaves of them. */
  replay(ats: readonly number[]): readonly number[];
}

/** An empty trail, of windows of a minute. @param retentionDays of its entries; 0: for ever */
export const makeTrail = ({
  interval = 60,
  retentionDays = 0,
  archiveDays = 0,
  signer = localSigner(makeKey()),
  now = Date.UTC(2026, 10, 22, 12),
} = {}): Trail => {
  const source = memoryTable(() => trail.now);
  let made = 0;
  const add: Trail['add'] = (entry, at = trail.now) => {
    const action = { action: 'LOGIN', resource: 'users', result: 'SUCCESS', ...entry } as const;
    made += 1;
    // The same ids each time, as properties want it.
    const random = (below: number) => made % below;
    const now = new Date(at);
    const newEntry = makeEntry(action, { now, random });
    const write = { writeId: `write-${made}`, ...timeToLive(newEntry, retentionDays) };
    const item = toItem(newEntry, write);
    source.items.set(item.id, item);
    return item.id;
  };
  const trail: Trail = {
    archive: memoryArchive(),
    source,
    signer,
    interval,
    archiveDays,
    now,
    add,
    replay: (ats) => {
      const ids = ats.map((at) => add({}, at));
      const entries = ids.map((id) => ({ id, sha256: hashOf(source.items.get(id) ?? {}) }));
      add({ action: 'CREATE', resource: 'audit-logs', details: { entries } });
      return ids;
    },
  };
  return trail;
};

/**
 * A trail of windows of a minute. All but the first, which is of before, have an entry, at the time
 * at which they begin; one more is not sealed yet.
 */
export const sealedTrail = async (windows: number, settings?: Parameters<typeof makeTrail>[0]) => {
  const trail = makeTrail(settings);
  const digests: Digest[] = [];
  const seal = async () => {
    trail.now += trail.interval * 1000;
    const digest = await sealWindows(trail, new Date(trail.now));
    if (digest) digests.push(digest);
  };
  const ids: number[] = [];
  for (let window = 0; window < windows; window += 1) {
    ids.push(trail.add());
    await seal();
  }
  const window = (number: number) => {
    const digest = digests[number];
    if (!digest) throw new Error(`Window ${number} is not sealed`);
    return digest;
  };
  return { trail, ids, window, seal };
};

/** The digests of an archive, in the order of their windows. */
export const digestsOf = ({ archive, signer }: Trail): readonly SignedDigest[] =>
  [...archive.files]
    .filter(([name]) => name.endsWith('.digest.json'))
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([, file]) => readDigest(file, signer.publicKey) as SignedDigest);

/** Puts an entry into the table past the service, of any time, or of none. @returns its id */
export const forge = ({ source, add }: Trail, created_at: string): number => {
  const id = add();
  const item = source.items.get(id) as unknown as AuditEntry;
  source.items.set(id, toItem({ ...item, created_at }, { writeId: 'forged' }));
  return id;
};

export interface Outcome extends Verified {
  readonly findings: readonly Finding[];
}

/** Verifies, and waits for all that is found. */
export const verifyAll = async (verification: Verification): Promise<Outcome> => {
  const findings: Finding[] = [];
  const verified = await verifyTrail(verification, (finding) => findings.push(finding));
  return { findings, ...verified };
};

export const verifyOf = (
  { archive, source, signer, now }: Trail,
  more: Partial<Verification> = {},
) => verifyAll({ archive, source, scan: true, publicKey: signer.publicKey, now, ...more });
