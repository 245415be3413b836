/** A run of the sealer: it seals, and once a day checks a part of what is sealed. */
import { namedError } from '../errors.ts';
import { auditTrailBroken, describeFault, logError } from '../log.ts';
import { dayInMilliseconds } from '../time.ts';
import { BrokenTrail, listFiles, readHeaderOf } from './archive.ts';
import type { Finding } from './finding.ts';
import { type Check, fileName, isSigned, type SignedHeader, timeBefore } from './header.ts';
import { type Sealed, type Sealing, seal } from './sealer.ts';
import { verifyTrail } from './verify.ts';

/** Days within which the whole archive is checked once. */
const rotation = 30;

/** How many findings a log line names. */
const maxNamed = 20;

type Named = Pick<Finding, 'kind' | 'subject'>;

const logBroken = (faults: number, named: readonly Named[]): void =>
  logError(auditTrailBroken, {
    faults,
    findings: named.slice(0, maxNamed).map(({ kind, subject }) => ({ kind, subject })),
  });

const trailOf = ({ archive, signer }: Sealing) => ({ archive, publicKey: signer.publicKey });

/** The numbers of the files of the last two days, and of those before, oldest first. */
const splitFiles = async (sealing: Sealing, now: Date) => {
  const since = timeBefore(now.toISOString(), 2 * dayInMilliseconds);
  const [recent, older]: [number[], number[]] = [[], []];
  const isRecent = async (number: number) => {
    const { header } = await readHeaderOf(trailOf(sealing), number);
    return !isSigned(header) || header.until > since;
  };
  for await (const { number } of listFiles(trailOf(sealing))) {
    if (older.length === 0 && (await isRecent(number))) recent.push(number);
    else older.push(number);
  }
  return { recent: recent.reverse(), older: older.reverse() };
};

/**
 * The next part of the files before the last two days: a thirtieth of them, and as many as a day adds. Where
 * fewer are left it begins again, as those were among the last two days a short while ago.
 * @param last the number of the last file of the part before
 */
const nextPart = (
  { recent, older }: Awaited<ReturnType<typeof splitFiles>>,
  last: number,
): readonly number[] => {
  const count = Math.ceil(older.length / rotation + recent.length / 2);
  const behind = older.filter((number) => number > last);
  return (behind.length < count ? older : behind).slice(0, count);
};

/**
 * Checks the last two days, and the next part of what is older.
 * @param before the outcome of the last check
 * @throws Error `OutOfTime` when there is not enough time for the last two days
 */
const check = async (
  sealing: Sealing,
  now: Date,
  { before, isOver }: { before: Check | null; isOver: () => boolean },
): Promise<Check> => {
  const named: Named[] = [];
  let findings = 0;
  const verify = (part: { first: number; last?: number }) =>
    verifyTrail(
      { ...trailOf(sealing), source: sealing.source, now: now.getTime(), isOver, ...part },
      (finding) => {
        findings += 1;
        if (named.length < maxNamed) named.push(finding);
      },
    );
  try {
    const files = await splitFiles(sealing, now);
    await verify({ first: files.recent[0] ?? 1 });
    if (isOver()) throw namedError('OutOfTime');
    const [first, ...more] = nextPart(files, before?.last ?? 0);
    let { last, found } = before ?? { last: 0, found: null };
    if (first !== undefined) ({ last } = await verify({ first, last: more.at(-1) ?? first }));
    const at = now.toISOString();
    if (findings > 0) found = at;
    return { at, first: first ?? 1, last, findings, found };
  } finally {
    if (findings > 0) logBroken(findings, named);
  }
};

const named = (kind: Named['kind'], number: number): Named => ({
  kind,
  subject: `file ${number} (${fileName(number)})`,
});

/** Says that files behind the newest one are not signed, or that the file that was the newest is gone. */
const warn = ({ end }: Sealed, remembered: SignedHeader | undefined): void => {
  const all = [...end.taken].map((number) => named('foreign', number));
  const { number = 0 } = remembered ?? {};
  if (number > (end.newest?.number ?? 0)) all.push(named('missing', number));
  if (all.length > 0) logBroken(all.length, all);
};

/** That a header cannot be shown, or read where it is shown, does not matter to the seal. */
const attempt = <T>(work: Promise<T> | undefined): Promise<T | undefined> | undefined =>
  work?.catch((error) => {
    logError('audit-seal-not-shown', describeFault(error));
    return undefined;
  });

/** Milliseconds that are enough to write the largest file, or to check one. */
const timeOfFile = 120_000;

/**
 * Seals, and then checks a part of what is sealed, if a day has passed since the last check; its outcome
 * stands in one more file, and in all after it. Findings are logged as `audit-trail-broken`.
 * @param remaining milliseconds that are left; absent: no limit
 * @throws what {@link seal} and the stores throw; Error `OutOfTime`
 */
export const runSealer = async (
  sealing: Sealing,
  now: Date,
  { remaining = () => Number.POSITIVE_INFINITY }: { remaining?: () => number } = {},
): Promise<void> => {
  const isOver = () => remaining() < timeOfFile;
  const remembered = await attempt(sealing.shown?.read(sealing.signer.publicKey));
  const sealed = await seal(sealing, now, { isOver });
  warn(sealed, remembered);
  await attempt(sealing.shown?.write(sealed.newest.line));
  const { newest: before } = sealed.end;
  const isDue =
    before && now.getTime() - Date.parse(before.check?.at ?? '1970-01-01') >= dayInMilliseconds;
  if (!isDue || !sealed.isCaughtUp || isOver()) return;
  const outcome = await check(sealing, now, { before: before.check, isOver });
  const { newest } = await seal(sealing, now, { check: outcome, isOver });
  await attempt(sealing.shown?.write(newest.line));
};

/** Logs why a run has failed. */
export const logFailure = (error: unknown): void => {
  if (error instanceof BrokenTrail) {
    logBroken(1, [{ kind: 'unsigned', subject: error.message }]);
  } else {
    logError('audit-seal-failed', describeFault(error));
  }
};
