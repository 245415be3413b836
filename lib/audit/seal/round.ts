import { describeFault, logError } from '../../log.ts';
import { BrokenTrail, findDigest, findFile, windowAt } from '../archive/archive.ts';
import { beginning, type Digest, digestName } from '../archive/digest.ts';
import { timeBefore } from '../archive/windows.ts';
import { keptSince } from '../retention.ts';
import { type Finding, isFault, type Verification } from '../verify/verification.ts';
import { verifyTrail } from '../verify/verify.ts';
import { sealWindow } from './sealer.ts';
import type { Sealing } from './sealing.ts';

const day = 86_400_000;

/** Milliseconds in which all that is older than two days is verified once. */
const rotation = 30 * day;

type Window = Pick<Digest, 'from' | 'until' | 'interval'>;
type Part = Required<Pick<Verification, 'since' | 'until'>>;

/** Once a day. */
const hasMidnight = ({ from, until }: Window): boolean => from.slice(0, 10) !== until.slice(0, 10);

/**
 * The parts to verify with a window that was sealed, of all that is older than two days: each
 * interval of a rotation has its own, so that a window over several has those of all of them.
 * @param start the end of the first window, or the time before which windows may be gone
 */
export const olderParts = ({ from, until, interval }: Window, start: string): readonly Part[] => {
  const length = interval * 1000;
  const parts = Math.ceil(rotation / length);
  const recent = Date.parse(timeBefore(until, 2 * day));
  const first = Math.min(Date.parse(start), recent);
  const timeOf = (part: number) => first + ((recent - first) * part) / parts;
  // What is older has grown by this window since the round before: parts begin earlier by that.
  const growth = Date.parse(until) - Date.parse(from);
  const part = (begin: number, end: number): Part => ({
    since: begin === 0 ? beginning : new Date(timeOf(begin) - growth).toISOString(),
    until: new Date(timeOf(end)).toISOString(),
  });
  const begin = Math.floor(Date.parse(from) / length) % parts;
  const end = begin + Math.min(parts, Math.round(growth / length));
  return end <= parts ? [part(begin, end)] : [part(begin, parts), part(0, end - parts)];
};

/** All parts to verify with a window. @param kept from when on windows must be there */
const partsToVerify = async (
  sealing: Sealing,
  digest: Digest,
  kept: string | undefined,
): Promise<readonly Part[]> => {
  const { from, until } = digest;
  const { archive, signer } = sealing;
  // The first has all that there is.
  if (from === beginning) return [{ since: beginning, until }];
  const file = await findFile(archive, digestName(beginning));
  const first = file && (await findDigest(archive, file, signer.publicKey));
  const older = olderParts(digest, first?.until ?? kept ?? from);
  if (!hasMidnight(digest)) return older;
  const since = await windowAt(archive, timeBefore(until, 2 * day));
  return [...older, { since: since ?? beginning, until }];
};

/** Findings that a log line names. */
const maxNamed = 20;

const logBroken = (faults: number, named: readonly Finding[]): void =>
  logError('audit-trail-broken', {
    faults,
    findings: named.map(({ kind, subject }) => ({ kind, subject })),
  });

/** Verifies what is to be verified with a window, and logs what differs. */
const verifyWith = async (sealing: Sealing, digest: Digest, now: number): Promise<void> => {
  const { archive, source, signer, archiveDays = 0 } = sealing;
  const kept = keptSince(archiveDays, now);
  const constant = { archive, source, publicKey: signer.publicKey, keptSince: kept, now };
  const named: Finding[] = [];
  let faults = 0;
  const verify = async (part: Part) => {
    const entriesBetween = source.between;
    for await (const finding of verifyTrail({ ...constant, entriesBetween, ...part })) {
      if (!isFault(finding)) continue;
      faults += 1;
      if (faults <= maxNamed) named.push(finding);
    }
  };
  try {
    for (const part of await partsToVerify(sealing, digest, kept)) await verify(part);
  } finally {
    if (faults > 0) logBroken(faults, named);
  }
};

/** Names digests that no sealer signed. */
const logSkipped = (names: readonly string[]): void => {
  const named = names
    .slice(0, maxNamed)
    .map((subject) => ({ kind: 'unreadable', subject }) as const);
  logBroken(names.length, named);
};

/**
 * Seals what is over, and verifies a part of what was sealed before. A difference is a log line,
 * `audit-trail-broken`.
 * @throws what {@link sealWindow} and the store throw
 */
export const sealAndVerify = async (sealing: Sealing, now: Date): Promise<void> => {
  const digest = await sealWindow(sealing, now, logSkipped);
  if (digest) await verifyWith(sealing, digest, now.getTime());
};

/** Logs why a round has ended before its end. */
export const logFailure = (error: unknown): void => {
  if (error instanceof BrokenTrail) {
    logBroken(1, [{ kind: 'unreadable', subject: error.message.replace(/ .*/, '') }]);
  } else {
    logError('audit-seal-failed', describeFault(error));
  }
};
