/** A round of the sealer: it checks a part of the sealed trail, and seals what is over. */
import { auditTrailBroken, describeFault, logError } from '../log.ts';
import { dayInMilliseconds } from '../time.ts';
import { BrokenTrail, findDigest, listWindows } from './archive.ts';
import {
  beginning,
  closedUntil,
  endOfTime,
  isDigestName,
  type SignedDigest,
  timeBefore,
  timeInName,
} from './digest.ts';
import { type Check, findStart, type Sealing, type Start, sealFrom, trailOf } from './sealer.ts';
import { type Finding, isFault, type Verification } from './verification.ts';
import { verifyTrail } from './verify.ts';

/** Milliseconds within which the whole trail is checked once. */
const rotation = 30 * dayInMilliseconds;

/** How many findings a log line names. */
const maxNamed = 20;

const logBroken = (faults: number, named: readonly Pick<Finding, 'kind' | 'subject'>[]): void =>
  logError(auditTrailBroken, {
    faults,
    findings: named.slice(0, maxNamed).map(({ kind, subject }) => ({ kind, subject })),
  });

/** Logs the names of unsigned digests. */
const logSkipped = (names: readonly string[]): void =>
  logBroken(
    names.length,
    names.map((subject) => ({ kind: 'unreadable', subject })),
  );

/** The findings of a round. */
interface Found {
  faults: number;
  readonly named: Finding[];
}

/** Checks a part of the trail. @returns the end of the last window that was checked */
const checkPart = async (
  sealing: Sealing,
  found: Found,
  part: Pick<Verification, 'since' | 'until' | 'now' | 'isOver'>,
): Promise<string | undefined> => {
  const verification = { ...trailOf(sealing), source: sealing.source, ...part };
  const { newest } = await verifyTrail(verification, (finding) => {
    if (!isFault(finding)) return;
    found.faults += 1;
    if (found.named.length < maxNamed) found.named.push(finding);
  });
  return newest?.until;
};

/** When the first window of the archive begins and ends. */
const firstWindow = async (sealing: Sealing): Promise<readonly [string, string]> => {
  for await (const { name } of sealing.archive.list('')) {
    if (!isDigestName(name)) continue;
    const digest = await findDigest(trailOf(sealing), name);
    const from = timeInName(name);
    return [from, digest?.until ?? from];
  }
  return [beginning, beginning];
};

/**
 * The next part to check of what is older than two days, if one is due: as much as it takes to check
 * all within a rotation, although the trail grows meanwhile. The first window counts as a day.
 */
const nextPart = async (
  sealing: Sealing,
  newest: SignedDigest,
  now: number,
): Promise<{ since: string; until: string } | undefined> => {
  const last = newest.verified;
  const [first, end] = await firstWindow(sealing);
  const border = timeBefore(newest.until, 2 * dayInMilliseconds);
  const span = Math.max(0, Date.parse(border) - Date.parse(end));
  /** Milliseconds of the trail to check in each millisecond that passes. */
  const speed = 1 + span / rotation;
  const passed = last ? now - Date.parse(last.at) : sealing.interval * 1000;
  const checked =
    last && last.from >= end ? Date.parse(last.until) - Date.parse(last.from) : dayInMilliseconds;
  if (last && passed * speed < checked) return undefined;
  // The last check reached the end if it came within two days, and late runs, of its own time.
  const lag = 2 * dayInMilliseconds + 3 * sealing.interval * 1000;
  const isAtEnd = !last || last.until >= timeBefore(last.at, lag) || last.until < first;
  const since = isAtEnd ? first : last.until;
  const limit = Math.max(Date.parse(since), Date.parse(end)) + Math.max(0, passed) * speed;
  const until = new Date(Math.min(limit, Date.parse(border))).toISOString();
  return since < until ? { since, until } : undefined;
};

/** Whether the time that is to be sealed includes a midnight. */
const hasMidnight = ({ from, now }: Start, interval: number): boolean =>
  from.slice(0, 10) !== closedUntil(interval, now).slice(0, 10);

/** The beginning of the window that contains the time two days before the end of the chain. */
const twoDaysBefore = async (sealing: Sealing, end: string): Promise<string> => {
  const since = timeBefore(end, 2 * dayInMilliseconds);
  const [first] = (await listWindows(sealing.archive, since)).digests;
  const digest = first === undefined ? undefined : await findDigest(trailOf(sealing), first);
  if (!digest?.previous) return beginning;
  return digest.from === since ? since : timeInName(digest.previous.file);
};

/**
 * Checks what is due: the next part, and once a day the last two days.
 * @param isOver whether to check no further window
 * @returns the part that was checked last, which is the one before when none is due
 */
const check = async (
  sealing: Sealing,
  start: Start & { readonly newest: SignedDigest },
  isOver: () => boolean,
): Promise<Check> => {
  const { newest } = start;
  const now = start.now.getTime();
  const found: Found = { faults: 0, named: [] };
  let { verified } = newest;
  try {
    const recent = hasMidnight(start, sealing.interval)
      ? await twoDaysBefore(sealing, newest.until)
      : endOfTime;
    const part = await nextPart(sealing, newest, now);
    if (part && part.since < recent) {
      const until = part.until < recent ? part.until : recent;
      const end = await checkPart(sealing, found, { since: part.since, until, now, isOver });
      const at = start.now.toISOString();
      // If no window begins in the part, the next check begins after it.
      verified = { from: part.since, until: end ?? until, at, faults: found.faults };
    }
    if (recent !== endOfTime) await checkPart(sealing, found, { since: recent, now, isOver });
  } finally {
    if (found.faults > 0) logBroken(found.faults, found.named);
  }
  return verified;
};

/** The limits of a round. */
export interface RoundOptions {
  /** Milliseconds that are left; absent: no limit. */
  readonly remaining?: () => number;
}

/** Milliseconds that the checks of a round take at most. */
const longestCheck = 60_000;

/** Milliseconds that are enough to close the largest window. */
const timeOfWindow = 120_000;

/**
 * Checks a part of the trail, and seals what is over, as far as time allows. Faults are logged as
 * `audit-trail-broken`.
 * @throws what {@link findStart}, {@link sealFrom} and the store throw
 */
export const sealAndVerify = async (
  sealing: Sealing,
  now: Date,
  { remaining = () => Number.POSITIVE_INFINITY }: RoundOptions = {},
): Promise<void> => {
  const start = await findStart(sealing, now, logSkipped);
  const { newest } = start;
  const isDue = newest && start.from < closedUntil(sealing.interval, now);
  const checkEnd = performance.now() + Math.min(longestCheck, remaining() / 3);
  const isOver = () => performance.now() > checkEnd;
  const checking = isDue ? check(sealing, { ...start, newest }, isOver) : undefined;
  // When the check fails, the round seals nevertheless, and fails afterwards.
  const verified = await checking?.catch(() => newest?.verified);
  await sealFrom(sealing, start, {
    ...(verified ? { verified } : {}),
    isOver: () => remaining() < timeOfWindow,
  });
  await checking;
};

/** Logs why a round has failed. */
export const logFailure = (error: unknown): void => {
  if (error instanceof BrokenTrail) {
    logBroken(1, [{ kind: 'unreadable', subject: error.message.replace(/ .*/, '') }]);
  } else {
    logError('audit-seal-failed', describeFault(error));
  }
};
