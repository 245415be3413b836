/** A run of the sealer: it seals entries, and checks a part of the sealed entries. */
import { describeFault, logError, loggingFaults } from '../ground/log.ts';
import { BrokenTrail } from './archive.ts';
import type { Finding } from './finding.ts';
import { type Check, fileName, type SignedHeader } from './header.ts';
import { logBroken, openInspection, timeOfFile } from './inspection.ts';
import { checkOlder, checkRecent, openPass } from './pass.ts';
import { isCheckDue, isUnfinished } from './schedule.ts';
import { type Sealed, type Sealing, seal } from './sealer.ts';
import { findingsOf, type Named, unnamedBefore } from './standing.ts';
import { goOnWithWhole } from './whole.ts';

/**
 * Seals entries, and then checks a part of the sealed entries if a check is due, requested by an admin, or not finished.
 * After that it goes on with a whole check. The outcome is in one more file, and in all later files. Findings are logged
 * as `audit-trail-broken`.
 * @param remaining milliseconds that are left; absent: no limit
 * @throws the errors of {@link seal} and of the stores; Error `OutOfTime`
 */
export async function runSealer(
  sealing: Sealing,
  now: Date,
  { remaining = () => Number.POSITIVE_INFINITY }: { remaining?: () => number } = {},
): Promise<void> {
  const { shown, signer } = sealing;
  const isOver = () => remaining() < timeOfFile;
  const show = ({ line }: SignedHeader) =>
    loggingFaults('audit-seal-not-shown', async () => shown?.write(line));
  const keep = async (outcome: Check) => {
    const { newest } = await seal(sealing, now, { check: outcome, isOver });
    await show(newest);
    return newest;
  };
  const remembered = await loggingFaults('audit-seal-not-shown', async () =>
    shown?.read(signer.publicKey),
  );
  const sealed = await seal(sealing, now, { isOver });
  const noticed = warn(sealed, remembered);
  await show(sealed.newest);
  if (!sealed.isCaughtUp || isOver()) return;
  const newest = await checkInTurn(sealing, now, { sealed, noticed, isOver, keep });
  await loggingFaults('audit-whole-check-failed', () =>
    goOnWithWhole(sealing, now, { newest, remaining, keep }),
  );
}

export function logFailure(error: unknown): void {
  if (error instanceof BrokenTrail) {
    logBroken(1, [{ kind: 'unsigned', subject: error.message }]);
  } else {
    logError('audit-seal-failed', describeFault(error));
  }
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
  return { kind, subject: `file ${number} (${fileName(number)})` };
}

interface Turn {
  readonly sealed: Sealed;
  /** The findings of the run so far. */
  readonly noticed: readonly Named[];
  readonly isOver: () => boolean;
  /** Writes one more file, with an outcome. @returns its header */
  readonly keep: (outcome: Check) => Promise<SignedHeader>;
}

/** Begins a check if one is due or requested, or goes on with it. @returns the newest file */
async function checkInTurn(
  sealing: Sealing,
  now: Date,
  { sealed: { end, newest }, noticed, isOver, keep }: Turn,
): Promise<SignedHeader> {
  const { asked, interval } = sealing;
  const { check: before } = newest;
  const mark = await loggingFaults('audit-check-not-read', async () => asked?.read());
  const isDue = end.newest !== undefined && isCheckDue(before, interval, now);
  const isWanted = isDue || mark !== undefined || noticed.length > 0;
  if (!isWanted && !isUnfinished(before)) return newest;
  const outcome = await check(sealing, now, { before, noticed, isWanted, isOver });
  const kept = await keep(outcome);
  // A check that was under way does not answer the request: the next one begins after it.
  if (mark !== undefined && outcome.at !== before?.at) {
    await loggingFaults('audit-check-not-read', async () => asked?.remove(mark));
  }
  return kept;
}

interface Checking extends Pick<Turn, 'noticed' | 'isOver'> {
  readonly before: Check | null;
  readonly isWanted: boolean;
}

async function check(
  sealing: Sealing,
  now: Date,
  { before, noticed, isWanted, isOver }: Checking,
): Promise<Check> {
  const { archive, signer, interval, checked: lines } = sealing;
  const trail = { archive, publicKey: signer.publicKey };
  const { verify, covered, findings, log } = openInspection(sealing, now, { before, isOver });
  try {
    const pass = await openPass(trail, now, { before, isWanted, checked: lines });
    const recent = await checkRecent(pass, { verify, isOver });
    covered.noteFiles(recent);
    const ofTwoDays = findings().found + noticed.length;
    const part = await checkOlder(pass, before?.part ?? null, { verify, interval });
    const { found, named } = findings();
    const all = { found: found + noticed.length, named: [...noticed, ...named] };
    const unnamed = unnamedBefore(before, { ...all, recent: ofTwoDays }, pass);
    const checked = { before, covered, now, pass };
    return { ...recent, part, ...(await findingsOf(checked, { ...all, unnamed })) };
  } finally {
    log();
  }
}
