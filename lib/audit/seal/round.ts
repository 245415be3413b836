import { faultName } from '../../errors.ts';
import { describeFault, logError } from '../../log.ts';
import { BrokenTrail, findDigest } from './archive.ts';
import { beginning, type Digest, digestName } from './digest.ts';
import { type Sealing, sealWindow, timeBefore } from './sealer.ts';
import { type Finding, isFault, verifyTrail } from './verify.ts';

const day = 86_400_000;

/** Milliseconds in which all that is older than two days is verified once. */
const rotation = 30 * day;

/**
 * The windows to verify with a window that was sealed: those of the last two days when it has a
 * midnight (UTC) in it, else a part of what is older, another one each time.
 * @param start the end of the first window
 */
export const partToVerify = (
  { from, until, interval }: Pick<Digest, 'from' | 'until' | 'interval'>,
  start: string,
): { since: string; until: string } => {
  const recent = timeBefore(until, 2 * day);
  if (from.slice(0, 10) !== until.slice(0, 10)) return { since: recent, until };
  const length = interval * 1000;
  const parts = Math.ceil(rotation / length);
  const part = Math.floor(Date.parse(until) / length) % parts;
  const [first, last] = [Date.parse(start), Math.max(Date.parse(start), Date.parse(recent))];
  const at = (share: number) => first + ((last - first) * share) / parts;
  const time = (milliseconds: number) => new Date(milliseconds).toISOString();
  // As what is older grows, parts move on: by one window at most, which this one begins before.
  const since = part === 0 ? beginning : time(Math.max(first, at(part) - length));
  return { since, until: time(at(part + 1)) };
};

/** Findings that a log line names. */
const maxNamed = 20;

const logBroken = (faults: number, named: readonly Finding[]): void =>
  logError('audit-trail-broken', {
    faults,
    findings: named.map(({ kind, subject }) => ({ kind, subject })),
  });

const verifyPart = async (sealing: Sealing, digest: Digest): Promise<void> => {
  const { archive, source, signer } = sealing;
  const { publicKey } = signer;
  const first = await findDigest(archive, { name: digestName(beginning) }, publicKey);
  const part = partToVerify(digest, first?.until ?? digest.from);
  const verification = { archive, publicKey, source, entriesBetween: source.between, ...part };
  const named: Finding[] = [];
  let faults = 0;
  for await (const finding of verifyTrail(verification)) {
    if (!isFault(finding)) continue;
    faults += 1;
    if (faults <= maxNamed) named.push(finding);
  }
  if (faults > 0) logBroken(faults, named);
};

/**
 * Seals what is over, and verifies a part of what was sealed before. A difference is a log line,
 * `audit-trail-broken`.
 * @throws what {@link sealWindow} and the store throw
 */
export const sealAndVerify = async (sealing: Sealing, now: Date): Promise<void> => {
  const digest = await sealWindow(sealing, now);
  if (digest) await verifyPart(sealing, digest);
};

/** Logs why a round has ended before its end. */
export const logFailure = (error: unknown): void => {
  if (error instanceof BrokenTrail) {
    logBroken(1, [{ kind: 'unreadable', subject: error.message.replace(/ .*/, '') }]);
  } else {
    logError('audit-seal-failed', { ...describeFault(error), fault: faultName(error) });
  }
};
