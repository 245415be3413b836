/** What was sealed shortly before a window, and is read once more with it. */
import {
  type ArchivedFile,
  findDigest,
  findFile,
  linesOf,
  readEntriesFile,
} from '../archive/archive.ts';
import type { SignedDigest } from '../archive/digest.ts';
import { recheckOf, timeBefore } from '../archive/windows.ts';
import type { LateEntries } from './late.ts';
import type { Sealing } from './sealing.ts';
import type { Window } from './start.ts';

/** A file by what its list says, which tells the first of its versions. */
const fileIn = async (
  { archive }: Sealing,
  { recent }: Pick<Window, 'recent'>,
  name: string,
): Promise<ArchivedFile | undefined> => recent.get(name) ?? (await findFile(archive, name));

/** Digests from the newest back to the first that ends after a time, or to one that cannot be read. */
const digestsSince = async (
  sealing: Sealing,
  { newest, recent }: Window,
  since: string,
): Promise<readonly SignedDigest[]> => {
  const { archive, signer } = sealing;
  const digests: SignedDigest[] = [];
  let digest: SignedDigest | undefined = newest;
  while (digest && digest.until > since) {
    digests.push(digest);
    const { previous }: SignedDigest = digest;
    const file = previous ? await fileIn(sealing, { recent }, previous.file) : undefined;
    digest = file && (await findDigest(archive, file, signer.publicKey));
  }
  return digests;
};

/** What is read once more with a window: windows that are sealed. */
interface Recheck {
  readonly since: string;
  /** All that end after then. */
  readonly digests: readonly SignedDigest[];
}

/**
 * Six intervals before a window; and the whole of a window that reaches into them, as it may have
 * been closed by a clock that ran ahead. The first window has all that was there, and is not read
 * as a whole again.
 */
export const recheckBefore = async (sealing: Sealing, window: Window): Promise<Recheck> => {
  const since = timeBefore(window.from, recheckOf(sealing.interval));
  const digests = await digestsSince(sealing, window, since);
  const oldest = digests.at(-1);
  const isWhole = oldest?.previous && oldest.from < since;
  return { since: isWhole ? oldest.from : since, digests };
};

const entriesOf = async (sealing: Sealing, { recent }: Window, digest: SignedDigest) => {
  const { file: name } = digest.entries;
  const file = await fileIn(sealing, { recent }, name);
  return file && readEntriesFile(sealing.archive, digest, new Map([[name, file]]));
};

/**
 * Notes the entries since a time that are sealed: windows that end after it hold all of them. Late
 * ones may bear any time. What cannot be read counts as not sealed, so that it is sealed once more.
 */
export const noteSealed = async (
  sealing: Sealing,
  window: Window,
  { since, digests }: Recheck,
  late: LateEntries,
): Promise<void> => {
  for (const digest of digests) {
    const file = await entriesOf(sealing, window, digest);
    for await (const line of file ? linesOf(file) : []) {
      if (line.late || String(line.created_at) >= since) late.noteSealed(line.id);
    }
    await file?.close();
  }
};
