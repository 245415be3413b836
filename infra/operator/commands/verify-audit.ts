import { keptSince } from '../../../lib/audit/retention.ts';
import { findDigest, listDigests } from '../../../lib/audit/seal/archive.ts';
import { fingerprintOf, type SignedDigest, timeInName } from '../../../lib/audit/seal/digest.ts';
import { compareRemembered, isBehind, remember } from '../../../lib/audit/seal/newest.ts';
import { auditEntries } from '../../../lib/audit/seal/table.ts';
import {
  type Finding,
  isFault,
  type Verification,
  type Verified,
  verifyTrail,
} from '../../../lib/audit/seal/verify.ts';
import { config } from '../../../lib/config.ts';
import { faultName } from '../../../lib/errors.ts';
import { recordOperation } from '../audit.ts';
import type { Invocation, Run } from '../command.ts';
import { explain, Failure } from '../failure.ts';
import { describeFinding } from '../findings.ts';
import { recallNewest, rememberNewest } from '../newest-digests.ts';
import { startProgress } from '../progress.ts';
import { type OpenedTrail, openCopy, openSealedTrail } from '../sealed-trail.ts';
import { parseTimeRange, type TimeRange } from '../time-range.ts';

/** Windows that end before then may have left the archive; undefined: none may. */
const mayLackBefore = () => keptSince(config.auditArchiveDays, Date.now());

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

/** Prints what follows from the newest digest, and from the one that was the newest before. */
const judgeNewest = async (
  { archive, isLive, publicKey }: OpenedTrail,
  { newest }: Verified,
  { until }: TimeRange,
): Promise<number> => {
  const remembered = recallNewest(fingerprintOf(publicKey));
  const compared = remembered && (await compareRemembered(archive, remembered, mayLackBefore()));
  // Of an archive to which nothing is added, only a time that is asked for must be there.
  const isOld = (isLive || until) && newest && isBehind(newest, { now: Date.now(), until });
  const behind: Finding | undefined = isOld ? { kind: 'behind', subject: newest.until } : undefined;
  const findings = [compared, behind].filter((finding) => finding !== undefined);
  for (const finding of findings) console.log(describeFinding(finding));
  return findings.length;
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
  typeof options.archive === 'string' && options.archive
    ? openCopy(options.archive, options['public-key'])
    : openSealedTrail(target.sealedTrail);

const verifyRange = async (
  trail: OpenedTrail,
  range: TimeRange,
  offline: boolean,
): Promise<Result> => {
  const { archive, publicKey } = trail;
  const source = offline ? {} : { source: auditEntries };
  const verification = {
    ...{ archive, publicKey, ...source, keptSince: mayLackBefore() },
    ...(await fromWindow(trail, range)),
  };
  const verified = await verify(verification);
  const faults = verified.faults + (await judgeNewest(trail, verified, range));
  if (verified.windows === 0 && faults === 0) {
    throw new Failure('Nothing was verified: there is no digest of that time in the archive.');
  }
  return { ...verified, faults };
};

const keepNewest = (newest: SignedDigest): void => {
  try {
    rememberNewest(newest.key, remember(newest));
  } catch (error) {
    console.error(`The newest digest cannot be remembered (${faultName(error)}).`);
  }
};

export const run: Run = async (invocation) => {
  const range = parseTimeRange(invocation.options);
  const offline = Boolean(invocation.options.archive);
  const trail = await openTrail(invocation);
  const result = await verifyRange(trail, range, offline);
  const { faults, newest, windows } = result;
  summarise(trail, result);
  if (faults > 0) process.exitCode = 1;
  else if (newest && !range.until) keepNewest(newest);
  if (offline) return;
  const recorded = recordOperation({
    author: invocation.author,
    action: 'READ',
    resource: 'audit-logs',
    details: { windows, faults },
  });
  // What was found stands, whether or not this can be written.
  await recorded.catch((error) => console.error(explain(error)));
};
