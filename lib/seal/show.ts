/** What admins are shown of a trail: its newest digest, and digests from one on back along the chain. */
import type { KeyObject } from 'node:crypto';
import { type Archive, findDigest, findFile } from './archive.ts';
import {
  beginning,
  digestName,
  endOfTime,
  fingerprintOf,
  type SignedDigest,
  timeBefore,
  timeInName,
} from './digest.ts';
import { isBehind, listRange } from './verification.ts';

/** A trail as who may only read it has it. */
export interface ShownTrail {
  readonly archive: Archive;
  readonly publicKey: KeyObject;
}

const day = 86_400_000;

/**
 * The newest digest that the key has signed; undefined where there is none. An archive lists its
 * files upwards, so that ever more of the past is listed until there is one.
 */
const findNewest = async (
  { archive, publicKey }: ShownTrail,
  now: Date,
): Promise<SignedDigest | undefined> => {
  let until = endOfTime;
  for (let days = 1; until > beginning; days *= 2) {
    const since = timeBefore(now.toISOString(), days * day);
    const { digests } = await listRange({ archive }, since, until);
    for (const file of digests.toReversed()) {
      const digest = await findDigest(archive, file, publicKey);
      if (digest) return digest;
    }
    until = since;
  }
  return undefined;
};

/**
 * How a trail stands.
 * @param interval seconds from one window to the next, for a trail without a digest
 */
export const summarise = async (trail: ShownTrail, interval: number, now: Date) => {
  const key = fingerprintOf(trail.publicKey);
  const found = await findNewest(trail, now);
  if (!found) return { key, interval, newest: null, behind: null, verified: null };
  const { from, until, entries, verified } = found;
  const age = Math.floor((now.getTime() - Date.parse(until)) / 1000);
  return {
    key,
    interval: found.interval,
    newest: { file: digestName(from), from, until, count: entries.count },
    behind: isBehind(found, { now: now.getTime() }) ? age : null,
    verified,
  };
};

/** The file of a digest, to the byte: it is read only if it is written as its form is. */
const fileOf = ({ sha256: _, ...digest }: SignedDigest): string => `${JSON.stringify(digest)}\n`;

/**
 * Digests of the day before one and itself, by their names: read at once, as following the chain
 * would wait for each.
 */
const readAhead = async ({ archive, publicKey }: ShownTrail, first: string, limit: number) => {
  const from = timeInName(first);
  const after = new Date(Date.parse(from) + 1).toISOString();
  const { digests } = await listRange({ archive }, timeBefore(from, day), after);
  const read = digests
    .slice(-limit)
    .map(async (file) => [file.name, await findDigest(archive, file, publicKey)] as const);
  return new Map(await Promise.all(read));
};

interface Part {
  /** The name of the first; absent: the newest. */
  readonly first: string | undefined;
  readonly limit: number;
  readonly now: Date;
}

/**
 * Files of digests, from one on back along `previous`. They end where a digest is not there, or
 * not as its sealer left it.
 * @returns `next` is the name of the one after them; undefined where they end
 */
export const readBack = async (
  trail: ShownTrail,
  { first, limit, now }: Part,
): Promise<{ files: readonly string[]; next: string | undefined }> => {
  const newest = first === undefined ? await findNewest(trail, now) : undefined;
  let next = newest ? digestName(newest.from) : first;
  const ahead = next === undefined ? new Map() : await readAhead(trail, next, limit);
  const find = async (name: string) => {
    const file = await findFile(trail.archive, name);
    return file && findDigest(trail.archive, file, trail.publicKey);
  };
  const files: string[] = [];
  while (next !== undefined && files.length < limit) {
    const digest: SignedDigest | undefined = ahead.get(next) ?? (await find(next));
    if (digest) files.push(fileOf(digest));
    next = digest?.previous?.file;
  }
  return { files, next };
};
