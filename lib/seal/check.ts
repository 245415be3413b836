/** A run of the sealer: it seals, and once a day checks a part of what is sealed. */
import { namedError } from '../errors.ts';
import { auditTrailBroken, describeFault, logError } from '../log.ts';
import { dayInMilliseconds } from '../time.ts';
import { BrokenTrail } from './archive.ts';
import type { Finding } from './finding.ts';
import { type Check, fileName, isSigned, type SignedHeader, timeBefore } from './header.ts';
import { type Sealed, type Sealing, seal } from './sealer.ts';
import { verifyTrail } from './verify.ts';
import { listFiles, walk } from './walk.ts';

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

/** The first file of the last two days. */
const firstRecent = async (sealing: Sealing, now: number): Promise<number> => {
  const since = timeBefore(new Date(now).toISOString(), 2 * dayInMilliseconds);
  let first = Number.POSITIVE_INFINITY;
  for await (const { number, header } of walk(trailOf(sealing))) {
    if (isSigned(header) && header.until <= since) break;
    first = number;
  }
  return first;
};

/** The first and the last number of files one after another. */
type Range = readonly [first: number, last: number];

/**
 * The next part of the rotation over the files before the last two days: a thirtieth of them, and as many
 * as a day adds, so that the end is reached although it moves; then it begins again.
 * @param last the number of the last file of the part before
 */
const nextPart = async (
  sealing: Sealing,
  recent: number,
  last: number,
): Promise<readonly Range[]> => {
  const older: number[] = [];
  let added = 0;
  for await (const { number } of listFiles(trailOf(sealing))) {
    if (number < recent) older.push(number);
    else added += 1;
  }
  older.reverse();
  const count = Math.ceil(older.length / rotation + added / 2);
  const behind = older.filter((number) => number > last).slice(0, count);
  const again = older.filter((number) => number <= last).slice(0, count - behind.length);
  return [behind, again].flatMap(([first, ...more]) =>
    first === undefined ? [] : [[first, more.at(-1) ?? first] as const],
  );
};

const trailOf = ({ archive, signer }: Sealing) => ({ archive, publicKey: signer.publicKey });

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
    const recent = await firstRecent(sealing, now.getTime());
    await verify({ first: recent });
    if (isOver()) throw namedError('OutOfTime');
    const ranges = await nextPart(sealing, recent, before?.last ?? 0);
    let { last, found } = before ?? { last: 0, found: null };
    for (const [first, end] of ranges) {
      if (!isOver()) ({ last } = await verify({ first, last: end }));
    }
    const at = now.toISOString();
    if (findings > 0) found = at;
    return { at, first: ranges[0]?.[0] ?? 1, last, findings, found };
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
  const remembered = await attempt(sealing.shown?.(sealing.signer.publicKey));
  const sealed = await seal(sealing, now, { isOver });
  warn(sealed, remembered);
  await attempt(sealing.show?.(sealed.newest.line));
  const { newest: before } = sealed.end;
  const isDue =
    before && now.getTime() - Date.parse(before.check?.at ?? '1970-01-01') >= dayInMilliseconds;
  if (!isDue || !sealed.isCaughtUp || isOver()) return;
  const outcome = await check(sealing, now, { before: before.check, isOver });
  const { newest } = await seal(sealing, now, { check: outcome, isOver });
  await attempt(sealing.show?.(newest.line));
};

/** Logs why a run has failed. */
export const logFailure = (error: unknown): void => {
  if (error instanceof BrokenTrail) {
    logBroken(1, [{ kind: 'unsigned', subject: error.message }]);
  } else {
    logError('audit-seal-failed', describeFault(error));
  }
};
