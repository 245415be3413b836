/** The files of an archive that a verification is about. */
import type { Archive, ArchivedFile } from '../archive/archive.ts';
import { beginning, compact, isDigestName, timeInName } from '../archive/digest.ts';
import type { Range } from './verification.ts';

/** After every time. */
export const endOfTime = '~';

export interface Listing {
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

/** The time in the name of a digest; undefined when there is none. */
const timeOf = (name: string): string | undefined => {
  const time = timeInName(name);
  const read = isDigestName(name) ? Date.parse(time) : Number.NaN;
  return !Number.isNaN(read) && new Date(read).toISOString() === time ? time : undefined;
};

export const listAll = async (
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
export const listRange = async (archive: Archive, range: Range): Promise<Listing> => {
  const listing = await listAll(archive, range);
  const { keptSince = '' } = range;
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
export const startOf = ({ since = beginning, keptSince }: Range, { digests, next }: Listing) => {
  if (since !== beginning) return undefined;
  const first = digests[0] ? timeInName(digests[0].name) : next;
  if (keptSince === undefined || first === beginning) return beginning;
  return first !== undefined && first <= keptSince ? undefined : keptSince;
};
