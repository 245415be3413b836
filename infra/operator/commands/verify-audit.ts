import { findDigest, listDigests } from '../../../lib/audit/archive/archive.ts';
import { fingerprintOf, timeInName } from '../../../lib/audit/archive/digest.ts';
import { auditEntries } from '../../../lib/audit/archive/table.ts';
import { isBehind } from '../../../lib/audit/verify/newest.ts';
import {
  type Finding,
  isFault,
  type Verification,
  type Verified,
} from '../../../lib/audit/verify/verification.ts';
import { verifyTrail } from '../../../lib/audit/verify/verify.ts';
import { recordOperation } from '../audit.ts';
import { type Invocation, parseTimeRange, type Run, type TimeRange } from '../command.ts';
import { explain, Failure } from '../failure.ts';
import { describeFinding } from '../findings.ts';
import { judgeByMemory, mayLackBefore, type Wanted } from '../judge-by-memory.ts';
import { type OpenedTrail, openCopy, openSealedTrail, readPublicKey } from '../sealed-trail.ts';
import { startProgress } from '../terminal.ts';

/**
 * The same time from the beginning of the window in which it begins.
 * @throws {Failure} when nothing of it is sealed
 */
const fromWindow = async (
  { archive, publicKey }: OpenedTrail,
  { since, ...range }: TimeRange,
): Promise<TimeRange> => {
  if (!since) return range;
  const digests = await listDigests(archive, '');
  const window = digests.findLast(({ name }) => timeInName(name) <= since);
  if (!window) return range;
  const newest = window === digests.at(-1) && (await findDigest(archive, window, publicKey));
  if (newest && newest.until <= since) {
    throw new Failure(`Nothing of that time is sealed: the newest window ends at ${newest.until}.`);
  }
  return { ...range, since: timeInName(window.name) };
};

interface Result extends Verified {
  readonly faults: number;
}

/** Prints what is found. */
const verify = async (verification: Verification): Promise<Result> => {
  const progress = startProgress(process.stderr);
  const running = verifyTrail({
    ...verification,
    progress: (fraction, count) => progress.show(fraction, `${count.toLocaleString('en')} entries`),
  });
  let faults = 0;
  let step = await running.next();
  while (!step.done) {
    progress.end();
    console.log(describeFinding(step.value));
    faults += Number(isFault(step.value));
    step = await running.next();
  }
  progress.end();
  return { ...step.value, faults };
};

const judgeAge = (
  { isLive, interval }: OpenedTrail,
  { newest }: Verified,
  { until }: TimeRange,
): Finding | undefined => {
  // Of an archive to which nothing is added, only a time that is asked for must be there.
  const isOld =
    (isLive || until) && newest && isBehind(newest, { now: Date.now(), until, interval });
  return isOld ? { kind: 'behind', subject: newest.until } : undefined;
};

const printAll = (findings: readonly (Finding | undefined)[]): number => {
  const found = findings.filter((finding) => finding !== undefined);
  for (const finding of found) console.log(describeFinding(finding));
  return found.length;
};

const summarise = (trail: OpenedTrail, result: Result) => {
  const { windows, entries, expired, unsealed, unproven, newest, faults } = result;
  const count = (number: number, noun: string) =>
    `${number.toLocaleString('en')} ${noun}${number === 1 ? '' : 's'}`;
  const line = (head: string, number: number, what: string) =>
    number === 0 ? '' : `${head} ${number.toLocaleString('en')}, ${what}\n`;
  console.log(`Key:      ${fingerprintOf(trail.publicKey)} (SHA-256)
Verified: ${count(windows, 'window')} with ${count(entries, 'entry').replace('entrys', 'entries')}, until ${newest?.until ?? 'nowhere'}
${line('Expired: ', expired, 'gone from the table when their time was over')}${line('Unproven:', unproven, 'in the table, and older than the archive')}Unsealed: ${unsealed.toLocaleString('en')}, too new
${faults === 0 ? 'Intact.' : `NOT INTACT: ${count(faults, 'finding')}, above.`}`);
};

const openTrail = async ({ options, target }: Invocation): Promise<OpenedTrail> =>
  typeof options.archive === 'string'
    ? openCopy(options.archive, options['public-key'])
    : openSealedTrail(target.sealedTrail);

/** What cannot be told counts only when nothing is found. */
const unlessFound =
  (faults: number) =>
  (error: unknown): number => {
    if (faults === 0) throw error;
    console.error(explain(error));
    return 0;
  };

const verifyRange = async (
  trail: OpenedTrail,
  wanted: Wanted,
  offline: boolean,
): Promise<Result> => {
  const { archive, publicKey } = trail;
  const { range } = wanted;
  const source = offline ? {} : { source: auditEntries };
  const verification = {
    ...{ archive, publicKey, ...source, keptSince: mayLackBefore() },
    ...(await fromWindow(trail, range)),
  };
  const verified = await verify(verification);
  const before = verified.faults + printAll([judgeAge(trail, verified, range)]);
  const byMemory = judgeByMemory(trail, verified, wanted).then(printAll);
  const faults = before + (await byMemory.catch(unlessFound(before)));
  if (verified.windows === 0 && faults === 0) {
    throw new Failure('Nothing was verified: there is no digest of that time in the archive.');
  }
  return { ...verified, faults };
};

export const run: Run = async (invocation) => {
  const { options } = invocation;
  const wanted = {
    range: parseTimeRange(options),
    pinned: readPublicKey(options['public-key']),
  };
  const offline = Boolean(options.archive);
  const trail = await openTrail(invocation);
  const result = await verifyRange(trail, wanted, offline);
  const { faults, windows } = result;
  summarise(trail, result);
  if (faults > 0) process.exitCode = 1;
  if (offline) return;
  const recorded = recordOperation({
    operator: invocation.operator,
    action: 'READ',
    resource: 'audit-logs',
    details: { windows, faults },
  });
  // What was found stands, whether or not this can be written.
  await recorded.catch((error) => console.error(explain(error)));
};
