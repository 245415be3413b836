/** A run of the sealer: it seals entries, and checks the newest two days and a part of the older files. */
import { namedError } from '../ground/errors.ts';
import { auditTrailBroken, describeFault, logError } from '../ground/log.ts';
import { dayInMilliseconds } from '../ground/time.ts';
import { ahead, BrokenTrail, listFiles, readHeaderOf, type SealedLine } from './archive.ts';
import type { Finding, Verified } from './finding.ts';
import { type Check, fileName, isSigned, type SignedHeader, timeBefore } from './header.ts';
import { timeIn } from './line.ts';
import { isCheckDue, isPartDue } from './schedule.ts';
import { type Sealed, type Sealing, seal } from './sealer.ts';
import { findingsOf, isTold, type Named, openCovered } from './standing.ts';
import { verifyTrail } from './verify.ts';

/** Milliseconds that are enough to write or to check the largest file. */
const timeOfFile = 120_000;

/**
 * Seals entries, and then checks the sealed entries if a check is due or an admin requests it. The outcome is in one
 * more file, and in all later files. Findings are logged as `audit-trail-broken`.
 * @param remaining milliseconds that are left; absent: no limit
 * @throws the errors of {@link seal} and of the stores; Error `OutOfTime`
 */
export async function runSealer(
  sealing: Sealing,
  now: Date,
  { remaining = () => Number.POSITIVE_INFINITY }: { remaining?: () => number } = {},
): Promise<void> {
  const { shown, asked, signer, interval } = sealing;
  const show = ({ line }: SignedHeader) => attempt('audit-seal-not-shown', shown?.write(line));
  const isOver = () => remaining() < timeOfFile;
  const remembered = await attempt('audit-seal-not-shown', shown?.read(signer.publicKey));
  const sealed = await seal(sealing, now, { isOver });
  const noticed = warn(sealed, remembered);
  await show(sealed.newest);
  if (!sealed.isCaughtUp || isOver()) return;
  const { check: before } = sealed.newest;
  const mark = await attempt('audit-check-not-read', asked?.read());
  const isDue = sealed.end.newest !== undefined && isCheckDue(before, interval, now);
  if (!isDue && mark === undefined && noticed.length === 0) return;
  const outcome = await check(sealing, now, { before, noticed, isOver });
  const { newest } = await seal(sealing, now, { check: outcome, isOver });
  await show(newest);
  if (mark !== undefined) await attempt('audit-check-not-read', asked?.remove(mark));
}

/** Logs why a run has failed. */
export function logFailure(error: unknown): void {
  if (error instanceof BrokenTrail) {
    logBroken(1, [{ kind: 'unsigned', subject: error.message }]);
  } else {
    logError('audit-seal-failed', describeFault(error));
  }
}

/** Awaits work on the users table, whose failure does not stop the seal. */
function attempt<T>(event: string, work: Promise<T> | undefined): Promise<T | undefined> {
  return Promise.resolve(work).catch((error) => {
    logError(event, describeFault(error));
    return undefined;
  });
}

/**
 * Logs that files after the newest signed file are not signed, or that the file that was the newest is gone.
 * @returns the finding that it is gone, which no check can make once another file has its number
 */
function warn({ end }: Sealed, remembered: SignedHeader | undefined): readonly Named[] {
  const foreign = [...end.taken].map((number) => named('foreign', number));
  const { number = 0 } = remembered ?? {};
  const gone = number > (end.newest?.number ?? 0) ? [named('missing', number)] : [];
  const all = [...foreign, ...gone];
  if (all.length > 0) logBroken(all.length, all);
  return gone;
}

function named(kind: Finding['kind'], number: number): Named {
  return {
    kind,
    subject: `file ${number} (${fileName(number)})`,
  };
}

/** The most findings that a log line names. */
const maxLogged = 20;

function logBroken(faults: number, named: readonly Named[]): void {
  logError(auditTrailBroken, {
    faults,
    findings: named.slice(0, maxLogged).map(({ kind, subject }) => ({ kind, subject })),
  });
}

interface Checking {
  /** The outcome of the last check. */
  readonly before: Check | null;
  /** The findings of the run so far. */
  readonly noticed: readonly Named[];
  readonly isOver: () => boolean;
}

type Verify = (part: { first: number; last?: number }) => Promise<Verified>;

/** Checks the last two days, and once a day the next part of the older files. */
async function check(
  sealing: Sealing,
  now: Date,
  { before, noticed, isOver }: Checking,
): Promise<Check> {
  const named: Named[] = [];
  let found = 0;
  const note = (finding: Named) => {
    found += 1;
    if (named.length < maxLogged) named.push(finding);
  };
  const { source, interval } = sealing;
  const covered = openCovered(before, { ...trailOf(sealing), source });
  const common = {
    ...{ ...trailOf(sealing), source, now: now.getTime(), isOver },
    seen: ({ item }: SealedLine) => covered.noteLine(item),
    compared: covered.noteItem,
  };
  const verify: Verify = async (part) => {
    const verified = await verifyTrail({ ...common, ...part }, note);
    covered.noteFiles({ first: part.first, last: verified.last });
    return verified;
  };
  try {
    const files = await splitFiles(sealing, now);
    const recent = await checkRecent(files, now, { verify, isOver });
    let part = before?.part ?? null;
    if (isPartDue(part, interval, now)) part = await checkPart(files, now, part, verify);
    const all = { found: found + noticed.length, named: [...noticed, ...named] };
    return { ...recent, part, ...(await findingsOf({ before, covered, now }, all)) };
  } finally {
    tell(before, found, named);
  }
}

function trailOf({ archive, signer }: Sealing) {
  return { archive, publicKey: signer.publicKey };
}

/** The numbers of the files of the last two days, and the numbers of the older files, oldest first. */
interface Split {
  readonly recent: readonly number[];
  readonly older: readonly number[];
}

async function splitFiles(sealing: Sealing, now: Date): Promise<Split> {
  const since = timeBefore(now.toISOString(), 2 * dayInMilliseconds);
  const trail = trailOf(sealing);
  const numbers: number[] = [];
  for await (const { number } of listFiles(trail)) numbers.push(number);
  let count = 0;
  for await (const { header } of ahead(numbers, (number) => readHeaderOf(trail, number))) {
    if (isSigned(header) && header.until <= since) break;
    count += 1;
  }
  return { recent: numbers.slice(0, count).reverse(), older: numbers.slice(count).reverse() };
}

/** Checks the last two days. @throws Error `OutOfTime` when there is not enough time for them */
async function checkRecent(
  { recent }: Split,
  now: Date,
  { verify, isOver }: { verify: Verify; isOver: () => boolean },
) {
  const at = now.toISOString();
  const [first = 1] = recent;
  const { last, entries, newest } = await verify({ first });
  if (isOver()) throw namedError('OutOfTime');
  // A full file ends at an entry's key, which need not begin with a time.
  const until = timeIn(newest?.until ?? '') ?? newest?.at ?? at;
  return { at, first, last, until, entries, later: 0 };
}

/** Checks the next part of the older files. @param before the previous part, if there was one */
async function checkPart(files: Split, now: Date, before: Check['part'], verify: Verify) {
  const last = before?.last ?? 0;
  const [first, ...more] = nextPart(files, last);
  const at = now.toISOString();
  if (first === undefined) return { at, first: 1, last };
  return { at, first, last: (await verify({ first, last: more.at(-1) ?? first })).last };
}

/** Days within which the whole archive is checked once. */
const rotation = 30;

/**
 * The next part of the files before the last two days: a thirtieth of them, plus as many as a day adds. If fewer are
 * left, the parts begin again: the files that are left were checked a short while ago, among the last two days.
 * @param last the number of the last file of the previous part
 */
function nextPart({ recent, older }: Split, last: number): readonly number[] {
  const count = Math.ceil(older.length / rotation + recent.length / 2);
  const behind = older.filter((number) => number > last);
  return (behind.length < count ? older : behind).slice(0, count);
}

/** Logs the findings of a check, unless the check before has already named all of them. */
function tell(before: Check | null, found: number, named: readonly Named[]): void {
  if (!isTold(before, found, named)) logBroken(found, named);
}
