/** A run of the sealer: it seals entries, and checks a part of the sealed entries. */
import { auditTrailBroken, describeFault, logError } from '../ground/log.ts';
import { BrokenTrail, type SealedLine } from './archive.ts';
import type { Finding } from './finding.ts';
import { type Check, fileName, type SignedHeader } from './header.ts';
import { checkOlder, checkRecent, openPass, type Verify } from './pass.ts';
import { isCheckDue, isUnfinished } from './schedule.ts';
import { type Sealed, type Sealing, seal } from './sealer.ts';
import { findingsOf, isTold, type Named, openCovered } from './standing.ts';
import { verifyTrail } from './verify.ts';

/** Milliseconds that are enough to write or to check the largest file. */
const timeOfFile = 120_000;

/**
 * Seals entries, and then checks a part of the sealed entries if a check is due, requested by an admin, or not finished.
 * The outcome is in one more file, and in all later files. Findings are logged as `audit-trail-broken`.
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
  const isWanted = isDue || mark !== undefined || noticed.length > 0;
  if (!isWanted && !isUnfinished(before)) return;
  const outcome = await check(sealing, now, { before, noticed, isWanted, isOver });
  const { newest } = await seal(sealing, now, { check: outcome, isOver });
  await show(newest);
  // A check that was under way does not answer the request: the next one begins after it.
  if (mark === undefined || outcome.at === before?.at) return;
  await attempt('audit-check-not-read', asked?.remove(mark));
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
  /** Whether a check is to begin, if none is under way. */
  readonly isWanted: boolean;
  readonly isOver: () => boolean;
}

/** Checks a part of the newest two days, and of the older files if a part of them is due. */
async function check(
  sealing: Sealing,
  now: Date,
  { before, noticed, isWanted, isOver }: Checking,
): Promise<Check> {
  const named: Named[] = [];
  let found = 0;
  const note = (finding: Named) => {
    found += 1;
    if (named.length < maxLogged) named.push(finding);
  };
  const { archive, signer, source, interval, checked } = sealing;
  const trail = { archive, publicKey: signer.publicKey };
  const covered = openCovered(before, { ...trail, source });
  const common = {
    ...{ ...trail, source, now: now.getTime(), isOver },
    seen: ({ item }: SealedLine) => covered.noteLine(item),
    compared: covered.noteItem,
  };
  const verify: Verify = async (part) => {
    const verified = await verifyTrail({ ...common, ...part }, note);
    covered.noteFiles({ first: part.first, last: verified.last });
    return verified;
  };
  try {
    const pass = await openPass(trail, now, { before, isWanted, checked });
    const recent = await checkRecent(pass, { verify, isOver });
    covered.noteFiles(recent);
    const part = await checkOlder(pass, before?.part ?? null, { verify, interval });
    const all = { found: found + noticed.length, named: [...noticed, ...named] };
    return { ...recent, part, ...(await findingsOf({ before, covered, now, pass }, all)) };
  } finally {
    tell(before, found, named);
  }
}

/** Logs the findings of a check, unless the check before has already named all of them. */
function tell(before: Check | null, found: number, named: readonly Named[]): void {
  if (!isTold(before, found, named)) logBroken(found, named);
}
