/** Remembers what was verified on this machine, so that a changed key or a lost file is detected. */
import type { KeyObject } from 'node:crypto';
import { mkdirSync, readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import * as v from 'valibot';
import { faultName } from '../../lib/ground/errors.ts';
import { readHeaderOf } from '../../lib/seal/archive.ts';
import { fileName, fingerprintOf, isSigned } from '../../lib/seal/header.ts';
import type { Verified } from '../../lib/seal/verify.ts';
import { writePrivately } from '../local/data-folder.ts';
import type { TimeRange } from './command.ts';
import { explain, Failure } from './failure.ts';
import type { Told } from './findings.ts';
import type { OpenedTrail } from './sealed-trail.ts';

const form = v.object({
  /** The fingerprints of the keys with which trails were verified, by service. */
  keys: v.record(v.string(), v.string()),
  /** The newest verified file of each key, by the fingerprint of the key. */
  files: v.record(
    v.string(),
    v.object({ number: v.number(), hash: v.string(), from: v.string(), until: v.string() }),
  ),
});

interface Memory extends v.InferOutput<typeof form> {
  /** Why the memory cannot be read, if it cannot be read. */
  readonly fault?: Failure;
}

export function recall(): Memory {
  const path = memoryFile();
  try {
    return v.parse(form, JSON.parse(readFileSync(path, 'utf8')));
  } catch (cause) {
    const memory = { keys: {}, files: {} };
    if ((cause as NodeJS.ErrnoException).code === 'ENOENT') return memory;
    const text = `${path} cannot be read (${faultName(cause)}), so that this verification cannot be compared with earlier ones: repair the file, or move it away.`;
    return { ...memory, fault: new Failure(text, { cause }) };
  }
}

/** Compares the key of a trail with the pinned key, or else with the remembered key. */
export function judgeKey(
  { publicKey, place = '' }: OpenedTrail,
  { keys }: Memory,
  pinned: KeyObject | undefined,
): Told | undefined {
  const subject = fingerprintOf(publicKey);
  const wanted = pinned ? fingerprintOf(pinned) : (keys[place] ?? subject);
  if (wanted === subject) return undefined;
  return pinned
    ? { kind: 'other key', subject, before: `the key of --public-key is ${wanted}`, sha256: null }
    : { kind: 'new key', subject, before: `the key was ${wanted}`, sha256: null };
}

/** Checks that the archive still has the file that was the newest at the last verification. */
export async function judgeNewest(
  trail: OpenedTrail,
  { files }: Memory,
  { left, until = '~' }: TimeRange & Pick<Verified, 'left'>,
): Promise<Told | undefined> {
  const known = files[fingerprintOf(trail.publicKey)];
  // A copy may be older than the file that was verified last.
  const isOutside = trail.place === undefined && known && known.from >= until;
  if (!known || isOutside || known.until <= left) return undefined;
  const subject = fileName(known.number);
  const { header } = await readHeaderOf(trail, known.number);
  if (!isSigned(header)) return { kind: 'shorter', subject, sha256: null };
  const { hash: sha256 } = header;
  return sha256 === known.hash ? undefined : { kind: 'different', subject, sha256 };
}

/** Remembers what was verified, unless a finding says that this contradicts the memory. */
export function remember(
  { place, publicKey }: OpenedTrail,
  { newest }: Verified,
  { keys, files, fault }: Memory,
  { otherKey, otherFile }: { otherKey: Told | undefined; otherFile: Told | undefined },
): void {
  const key = fingerprintOf(publicKey);
  const known = files[key]?.number ?? 0;
  if (fault || !newest) return;
  const { number, hash, from, until } = newest;
  const isLater = !otherFile && number > known;
  const memory = {
    keys: { ...keys, ...(otherKey || place === undefined ? {} : { [place]: key }) },
    files: { ...files, ...(isLater ? { [key]: { number, hash, from, until } } : {}) },
  };
  try {
    mkdirSync(dirname(memoryFile()), { recursive: true, mode: 0o700 });
    writePrivately(memoryFile(), `${JSON.stringify(memory, null, 2)}\n`);
  } catch (error) {
    console.error(`The outcome cannot be stored for the next verification: ${explain(error)}`);
  }
}

/**
 * The file of the memory. It is outside every archive, because whoever can write to an archive must not be able to
 * change the memory.
 */
function memoryFile() {
  const states = process.env.XDG_STATE_HOME || join(homedir(), '.local', 'state');
  return join(states, 'accounts-service', 'verified.json');
}
