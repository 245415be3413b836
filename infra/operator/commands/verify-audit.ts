import type { KeyObject } from 'node:crypto';
import { dueBefore, type Verified } from '../../../lib/seal/finding.ts';
import { fingerprintOf } from '../../../lib/seal/header.ts';
import { auditEntries } from '../../../lib/seal/table.ts';
import { type Verification, verifyTrail } from '../../../lib/seal/verify.ts';
import { recordOperation } from '../audit.ts';
import { type Command, parseTimeRange, type Run, type TimeRange } from '../command.ts';
import { explain, Failure } from '../failure.ts';
import { type Findings, openFindings } from '../findings.ts';
import { judgeKey, judgeNewest, recall, remember } from '../seal-memory.ts';
import { judgeShownKey, type OpenedTrail, openTrail, readPublicKey } from '../sealed-trail.ts';
import { startProgress } from '../terminal.ts';

const count = (number: number, one: string, several: string) =>
  `${number.toLocaleString('en')} ${number === 1 ? one : several}`;

/** Verifies, and prints findings and progress. */
const verify = async (verification: Verification, findings: Findings): Promise<Verified> => {
  const progress = startProgress(process.stderr);
  const show = (fraction: number | undefined, entries: number) =>
    progress.show(fraction, `${entries.toLocaleString('en')} entries`);
  const verified = await verifyTrail({ ...verification, progress: show }, (finding) => {
    progress.end();
    return findings.tell(finding);
  });
  progress.end();
  return verified;
};

/** The time that files must reach: what is later need not be sealed yet. */
const wantedEnd = (until: string, due: string): string => (until < due ? until : due);

/** What cannot be told although nothing was found; undefined when everything can. */
const openQuestion = (
  { isLive, interval = 0 }: OpenedTrail,
  { waiting, waitingSince = '~', newest }: Verified,
  { until }: TimeRange,
): string | undefined => {
  if (!newest) return undefined;
  const due = dueBefore(Math.max(interval, newest.interval), Date.now());
  const isShort = newest.until < wantedEnd(until ?? (isLive ? due : ''), due);
  // After a stop nothing seals what waits, however short.
  const waitsLong = waiting > 0 && (!isLive || waitingSince < due);
  if (!isShort && !waitsLong) return undefined;
  const waits = `${count(waiting, 'entry waits', 'entries wait')} since ${waitingSince}`;
  const what = [
    ...(isShort ? [`the newest file ends at ${newest.until.slice(0, 24)}`] : []),
    ...(waiting > 0 ? [`${waits}, in no file`] : []),
  ];
  const why = isLive
    ? 'Either sealing has stopped: see the log of the service.'
    : 'Either the service has not run since, or its seal is paused: have it sealed and verify again.';
  return `CANNOT TELL: ${what.join('; ')}. ${why} Or the newest files were taken away: compare with a copy of the archive.`;
};

/** The counts of the table, which do not apply to a copy. */
const linesOfTable = ({ expired, unproven, waiting }: Verified): readonly string[] => [
  ...(expired
    ? [`Expired:  ${expired.toLocaleString('en')}, gone from the table when their time was over`]
    : []),
  ...(unproven
    ? [`Unproven: ${unproven.toLocaleString('en')}, may be of files that left or cannot be read`]
    : []),
  `Waiting:  ${waiting.toLocaleString('en')}, too new to be sealed`,
];

const resultOf = ({ faults, known }: Findings, question: string | undefined): string => {
  const rest = known ? ` Known: ${count(known, 'finding', 'findings')}.` : '';
  if (faults > 0) return `NOT INTACT: ${count(faults, 'finding', 'findings')}, above.${rest}`;
  return question ?? `Intact.${rest}`;
};

interface Outcome {
  readonly verified: Verified;
  readonly question: string | undefined;
}

const summarise = (trail: OpenedTrail, { verified, question }: Outcome, findings: Findings) => {
  const { files, entries, early, earlyIds, newest } = verified;
  const list = [...earlyIds, ...(early > earlyIds.length ? ['…'] : [])].join(', ');
  const lines = [
    `Key:      ${fingerprintOf(trail.publicKey)} (SHA-256)`,
    `Verified: ${count(files, 'file', 'files')} with ${count(entries, 'entry', 'entries')}, until ${newest?.until.slice(0, 24) ?? 'nowhere'}`,
    ...(early
      ? [`Late:     ${early.toLocaleString('en')}, sealed later than others of their time: ${list}`]
      : []),
    ...(trail.place === undefined ? [] : linesOfTable(verified)),
    resultOf(findings, question),
  ];
  console.log(lines.join('\n'));
  if (question) process.exitCode = 2;
  if (findings.faults > 0) process.exitCode = 1;
};

/** What is remembered; an error of that ends the command only when nothing was found. */
const tryToRecall = () => {
  try {
    return { memory: recall(), error: undefined };
  } catch (error) {
    return { memory: { keys: {}, files: {} }, error };
  }
};

/** Verifies a trail, the key first, because another one explains everything after it. */
const verifyRange = async (
  trail: OpenedTrail,
  { range, pinned }: { range: TimeRange; pinned: KeyObject | undefined },
  findings: Findings,
): Promise<Outcome> => {
  const { archive, publicKey, place } = trail;
  const { memory, error } = tryToRecall();
  const otherKey = judgeKey(trail, memory, pinned);
  await findings.tell(otherKey);
  const source = place === undefined ? {} : { source: auditEntries };
  const verified = await verify({ archive, publicKey, ...source, ...range }, findings);
  const { newest, files, left } = verified;
  const otherFile = await judgeNewest(trail, memory, { ...range, left });
  await findings.tell(otherFile);
  if (error && findings.faults === 0) throw error;
  if (files === 0 && findings.faults === 0) {
    throw new Failure('Nothing was verified: there is no file of that time in the archive.');
  }
  await findings.tell(judgeShownKey(trail));
  if (error) console.error(explain(error));
  else if (newest) remember(trail, newest, memory, { otherKey, otherFile });
  return { verified, question: openQuestion(trail, verified, range) };
};

const run: Run = async (invocation) => {
  const { options, operator } = invocation;
  const range = parseTimeRange(options);
  const pinned = readPublicKey(options['public-key']);
  const trail = await openTrail(invocation);
  if (!trail) {
    throw new Failure(
      'The audit trail is not sealed: on one machine run npm start once; a stack, deploy with auditSeal=on.',
    );
  }
  const findings = await openFindings(options.known, options['write-known']);
  const outcome = await verifyRange(trail, { range, pinned }, findings).finally(findings.end);
  summarise(trail, outcome, findings);
  if (trail.place === undefined) return;
  const recorded = recordOperation({
    operator,
    action: 'READ',
    resource: 'audit-logs',
    details: { files: outcome.verified.files, findings: findings.faults },
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
      help: 'entries from this time on (RFC 3339, or a date)',
    },
    until: { type: 'string', value: 'TIME', help: 'entries before this time' },
    archive: {
      type: 'string',
      value: 'FOLDER',
      help: 'instead of a service: a copy of an archive, compared with itself only',
    },
    'public-key': {
      type: 'string',
      value: 'FILE',
      help: 'the public key (PEM) that must have signed it, kept elsewhere',
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
  help: `Names, by id, entries that are changed (with what was sealed and what is there), deleted or
inserted, and files of the archive that are missing, altered, not signed by the key, or none of the
archive's; says how many entries wait to be sealed. Entries that wait for too long, or of a service that
does not run, may be those of files that were taken away: it cannot tell.

It remembers the newest file of each key, and the key of each service, in
$XDG_STATE_HOME/accounts-service (or, unset, in ~/.local/state/accounts-service), and says when one
has disappeared or differs. A new key that you intended is confirmed once by --public-key. Run it
every day, on a machine that nobody reaches who may write to the archive: only such a memory shows
that the newest files were taken away. Compare the key's fingerprint, which it prints, with the one
you know.`,
  examples: [
    'verify-audit --stack accounts-production',
    'verify-audit --since 2026-11-01 --local',
    'verify-audit --archive copy --public-key public-key.pem',
  ],
  status: { failure: 2, help: '0 intact, 1 not intact, 2 could not tell or wrong usage' },
  run,
};
