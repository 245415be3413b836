import {
  auditEntries,
  type Finding,
  findDigest,
  fingerprintOf,
  isBehind,
  isFault,
  listWindows,
  timeInName,
  type Verification,
  type Verified,
  verifyTrail,
} from '../../../lib/seal/door.ts';
import { recordOperation } from '../audit.ts';
import {
  type Command,
  type Invocation,
  parseTimeRange,
  type Run,
  type TimeRange,
} from '../command.ts';
import { explain, Failure } from '../failure.ts';
import { describeFinding, type KnownFindings, openKnown } from '../findings.ts';
import { judgeByMemory, type Wanted } from '../seal-memory.ts';
import {
  judgeShownKey,
  type OpenedTrail,
  openCopy,
  openSealedTrail,
  readPublicKey,
} from '../sealed-trail.ts';
import { startProgress } from '../terminal.ts';

/**
 * Extends a range to the beginning of the window that contains its `since`.
 * @throws {Failure} when nothing of it is sealed
 */
const fromWindow = async (
  trail: OpenedTrail,
  { since, ...range }: TimeRange,
): Promise<TimeRange> => {
  if (!since) return range;
  const { digests } = await listWindows(trail.archive);
  const window = digests.findLast((name) => timeInName(name) <= since);
  if (!window) return range;
  const newest = window === digests.at(-1) && (await findDigest(trail, window));
  if (newest && newest.until <= since) {
    throw new Failure(`Nothing of that time is sealed: the newest window ends at ${newest.until}.`);
  }
  return { ...range, since: timeInName(window) };
};

/** The findings so far. */
interface Tally {
  readonly known: KnownFindings;
  faults: number;
  knownFaults: number;
}

const tell = async (finding: Finding | undefined, tally: Tally): Promise<void> => {
  if (!finding) return;
  const isCounted = isFault(finding);
  const reason = isCounted ? await tally.known.reasonOf(finding) : undefined;
  const described = describeFinding(finding);
  console.log(reason === undefined ? described : `known: ${described}\n    reason: ${reason}`);
  if (reason !== undefined) tally.knownFaults += 1;
  else if (isCounted) tally.faults += 1;
};

/** Verifies, and prints findings and progress. */
const verify = async (verification: Verification, tally: Tally): Promise<Verified> => {
  const progress = startProgress(process.stderr);
  const show = (fraction: number | undefined, entries: number) =>
    progress.show(fraction, `${entries.toLocaleString('en')} entries`);
  const verified = await verifyTrail({ ...verification, progress: show }, (finding) => {
    progress.end();
    return tell(finding, tally);
  });
  progress.end();
  return verified;
};

const isOld = (
  { interval }: OpenedTrail,
  { newest }: Verified,
  until?: string | undefined,
): boolean => newest !== undefined && isBehind(newest, { now: Date.now(), until, interval });

const judgeAge = (
  trail: OpenedTrail,
  verified: Verified,
  { until }: TimeRange,
): Finding | undefined => {
  // An archive that nobody adds to must only reach the end of the wanted range.
  const isAsked = trail.isLive || until;
  const { newest } = verified;
  return isAsked && newest && isOld(trail, verified, until)
    ? { kind: 'behind', subject: newest.until }
    : undefined;
};

const count = (number: number, one: string, several: string) =>
  `${number.toLocaleString('en')} ${number === 1 ? one : several}`;

/** Explains unsealed entries of a service that does not run: they may also have lost their digests. */
const openQuestion = (trail: OpenedTrail, verified: Verified): string | undefined => {
  const { unsealed, unsealedSince } = verified;
  if (trail.isLive || trail.place === undefined || unsealed === 0) return undefined;
  if (!isOld(trail, verified)) return undefined;
  const entries = count(unsealed, 'entry', 'entries');
  return `CANNOT TELL: ${entries} since ${unsealedSince} in no digest. Either the service has not run since, or its seal is paused, so that nothing sealed them: have it sealed and verify again. Or the newest digests were taken away: compare with a copy of the archive.`;
};

const resultOf = ({ faults, knownFaults }: Tally, question: string | undefined): string => {
  const known = knownFaults ? ` Known: ${count(knownFaults, 'finding', 'findings')}.` : '';
  if (faults > 0) return `NOT INTACT: ${count(faults, 'finding', 'findings')}, above.${known}`;
  return question ?? `Intact.${known}`;
};

/** The counts of the table, which do not apply to a copy. */
const linesOfTable = ({ expired, unproven, unsealed }: Verified): readonly string[] => [
  ...(expired
    ? [`Expired:  ${expired.toLocaleString('en')}, gone from the table when their time was over`]
    : []),
  ...(unproven
    ? [`Unproven: ${unproven.toLocaleString('en')}, in the table, and older than the archive`]
    : []),
  `Unsealed: ${unsealed.toLocaleString('en')}, too new`,
];

const summarise = (trail: OpenedTrail, verified: Verified, tally: Tally, offline: boolean) => {
  const { windows, entries, newest } = verified;
  const question = offline ? undefined : openQuestion(trail, verified);
  const lines = [
    `Key:      ${fingerprintOf(trail.publicKey)} (SHA-256)`,
    `Verified: ${count(windows, 'window', 'windows')} with ${count(entries, 'entry', 'entries')}, until ${newest?.until ?? 'nowhere'}`,
    ...(offline ? [] : linesOfTable(verified)),
    resultOf(tally, question),
  ];
  console.log(lines.join('\n'));
  if (question) process.exitCode = 2;
  if (tally.faults > 0) process.exitCode = 1;
};

const openTrail = async ({ options, target }: Invocation): Promise<OpenedTrail> =>
  typeof options.archive === 'string'
    ? openCopy(options.archive, options['public-key'])
    : openSealedTrail(target.sealedTrail);

/** An error of the memory ends the command only when nothing was found. */
const unlessFound =
  ({ faults }: Tally) =>
  (error: unknown): readonly Finding[] => {
    if (faults === 0) throw error;
    console.error(explain(error));
    return [];
  };

const verifyRange = async (
  trail: OpenedTrail,
  wanted: Wanted,
  tally: Tally,
  offline: boolean,
): Promise<Verified> => {
  const { archive, publicKey } = trail;
  const { range } = wanted;
  const source = offline ? {} : { source: auditEntries, scan: true };
  const part = await fromWindow(trail, range);
  const verified = await verify({ archive, publicKey, ...source, ...part }, tally);
  await tell(judgeAge(trail, verified, range), tally);
  const byMemory = await judgeByMemory(trail, verified, wanted).catch(unlessFound(tally));
  for (const finding of byMemory) await tell(finding, tally);
  if (verified.windows === 0 && tally.faults === 0) {
    throw new Failure('Nothing was verified: there is no digest of that time in the archive.');
  }
  await tell(judgeShownKey(trail), tally);
  return verified;
};

const run: Run = async (invocation) => {
  const { options } = invocation;
  const wanted = {
    range: parseTimeRange(options),
    pinned: readPublicKey(options['public-key']),
  };
  const offline = Boolean(options.archive);
  const trail = await openTrail(invocation);
  const files = { read: options.known, written: options['write-known'] };
  const known = await openKnown(trail.archive, files);
  const tally: Tally = { known, faults: 0, knownFaults: 0 };
  const verified = await verifyRange(trail, wanted, tally, offline).finally(known.write);
  summarise(trail, verified, tally, offline);
  if (offline) return;
  const { windows } = verified;
  const recorded = recordOperation({
    operator: invocation.operator,
    action: 'READ',
    resource: 'audit-logs',
    details: { windows, faults: tally.faults },
  });
  // The outcome stands even when its entry cannot be written.
  await recorded.catch((error) => console.error(explain(error)));
};

export const verifyAudit: Command = {
  summary: 'prove that nobody has changed, deleted or added audit entries since they were sealed',
  operands: [],
  options: {
    since: {
      type: 'string',
      value: 'TIME',
      help: 'windows from this time on (RFC 3339, or a date)',
    },
    until: { type: 'string', value: 'TIME', help: 'windows that begin before this time' },
    archive: {
      type: 'string',
      value: 'FOLDER',
      help: 'instead of a service: a copy of an archive, compared with itself only',
    },
    'public-key': {
      type: 'string',
      value: 'FILE',
      help: 'the public key (PEM) that must have signed it',
    },
    known: {
      type: 'string',
      value: 'FILE',
      help: 'findings that are known, with their reasons: they do not count',
    },
    'write-known': {
      type: 'string',
      value: 'FILE',
      help: 'a new file for what is found, to be given reasons and then as --known',
    },
  },
  help: `Names, by id, entries that are changed (with what was sealed and what is there), deleted,
inserted or late, and files of the archive that are missing, unreadable, wrongly signed, moved or
forked; says how many entries are too new to be sealed. If nothing between --since and --until is
sealed, it cannot tell; if the digests end before --until, they are behind.

It remembers the newest digest of each key, and the key of each service, in
$XDG_STATE_HOME/accounts-service (or, unset, in ~/.local/state/accounts-service), and says when one
has disappeared or differs. A new key that you intended is confirmed once by --public-key. Run it
regularly, on a machine that nobody reaches who may write to the archive: only such a memory shows
that the newest digests were taken away. Compare the key's fingerprint, which it prints, with the
one you know.`,
  examples: [
    'verify-audit --stack accounts-production',
    'verify-audit --since 2026-11-01 --local',
    'verify-audit --archive copy --public-key public-key.pem',
  ],
  status: { failure: 2, help: '0 intact, 1 not intact, 2 could not tell or wrong usage' },
  run,
};
