import type { KeyObject } from 'node:crypto';
import { dueBefore, type Finding } from '../../../lib/seal/finding.ts';
import { fingerprintOf } from '../../../lib/seal/header.ts';
import { auditEntries } from '../../../lib/seal/table.ts';
import { type Verification, type Verified, verifyTrail } from '../../../lib/seal/verify.ts';
import { recordOperation } from '../audit.ts';
import { type Command, parseTimeRange, type Run, type TimeRange } from '../command.ts';
import { explain, Failure } from '../failure.ts';
import { type Findings, openFindings } from '../findings.ts';
import { judgeKey, judgeNewest, recall, remember } from '../seal-memory.ts';
import {
  judgeShownKey,
  type OpenedTrail,
  openTrail,
  readPublicKey,
  trailOptions,
} from '../sealed-trail.ts';
import { startProgress } from '../terminal.ts';

const run: Run = async (invocation) => {
  const { options, operator } = invocation;
  const range = parseTimeRange(options);
  const pinned = readPublicKey(options.publicKey);
  const trail = await openTrail(invocation);
  if (!trail) {
    throw new Failure(
      'The audit trail is not sealed: on one machine run npm start once; in AWS deploy with auditSeal=on.',
    );
  }
  const findings = await openFindings(options.known, options.writeKnown);
  const verified = await verifyRange(trail, { range, pinned }, findings).finally(findings.end);
  const question = openQuestion(trail, verified, range);
  console.log([...summarise(trail, verified), resultOf(findings, question)].join('\n'));
  if (question) process.exitCode = 2;
  if (findings.faults > 0) process.exitCode = 1;
  if (trail.place === undefined) return;
  const details = { files: verified.files, findings: findings.faults };
  // The result is valid even if the entry about it cannot be written.
  await recordOperation({ operator, action: 'READ', resource: 'audit-logs', details }).catch(
    (error) => console.error(explain(error)),
  );
};

export const verifyAudit: Command = {
  summary: 'prove that nobody has changed, deleted or added audit entries since they were sealed',
  options: {
    ...trailOptions,
    '--known <file>': 'a file of known findings with their reasons, which do not count',
    '--write-known <file>': 'a new file for all findings: add reasons to it, and use it as --known',
  },
  help: `It lists the ids of entries that were changed (with the sealed and the present values), deleted or
inserted; and archive files that are missing, altered or not signed by the key. It also says how many
entries wait to be sealed. If entries wait for too long, or the service does not run, the newest files
may have been taken away: then the outcome is unknown.

The newest file of each key, and the key of each service, are stored in
$XDG_STATE_HOME/accounts-service (by default in ~/.local/state/accounts-service) and compared at the
next run. Confirm an intended new key once with --public-key. Run the command every day, on a machine
that nobody can reach who may write to the archive: only such a memory shows that the newest files were
taken away. Compare the fingerprint of the key, which the command prints, with the one you know.`,
  examples: [
    'verify-audit --stack accounts-production',
    'verify-audit --since 2026-11-01 --local',
    'verify-audit --archive copy --public-key public-key.pem',
  ],
  status: { failure: 2, help: '0 intact, 1 not intact, 2 unknown or wrong usage' },
  run,
};

/** Verifies a trail. The key is verified first, because a wrong key explains all other findings. */
async function verifyRange(
  trail: OpenedTrail,
  { range, pinned }: { range: TimeRange; pinned: KeyObject | undefined },
  findings: Findings,
): Promise<Verified> {
  const { archive, publicKey, place } = trail;
  const memory = recall();
  const otherKey = judgeKey(trail, memory, pinned);
  findings.tell(otherKey);
  const source = place === undefined ? {} : { source: auditEntries };
  const verified = await verify({ archive, publicKey, ...source, ...range }, findings);
  const otherFile = await judgeNewest(trail, memory, { ...range, left: verified.left });
  findings.tell(otherFile);
  if (findings.faults === 0 && memory.fault) throw memory.fault;
  if (findings.faults === 0 && verified.files === 0) {
    throw new Failure('Nothing was verified: the archive has no file of that time.');
  }
  findings.tell(judgeShownKey(trail));
  if (memory.fault) console.error(explain(memory.fault));
  remember(trail, verified, memory, { otherKey, otherFile });
  return verified;
}

async function verify(verification: Verification, findings: Findings): Promise<Verified> {
  const progress = startProgress(process.stderr);
  const show = (fraction: number | undefined, entries: number) =>
    progress.show(fraction, `${entries.toLocaleString('en')} entries`);
  const tell = (finding: Finding) => {
    progress.end();
    findings.tell(finding);
  };
  return verifyTrail({ ...verification, progress: show }, tell).finally(progress.end);
}

const reasons = {
  live: 'Either sealing has stopped: see the log of the service.',
  stopped:
    'Either the service has not run since, or its seal is paused: have it sealed and verify again.',
} as const;

/** The question that remains open although nothing was found; undefined if there is none. */
function openQuestion(
  { isLive, interval = 0 }: OpenedTrail,
  { waiting, waitingSince = '~', newest }: Verified,
  range: TimeRange,
): string | undefined {
  if (!newest) return undefined;
  const due = dueBefore(Math.max(interval, newest.interval), Date.now());
  const isShort = (isLive || range.until) && newest.until < wantedEnd(range, due);
  // No sealer will seal the waiting entries of a stopped service, even if they have waited only a short time.
  const waitsLong = waiting > 0 && (!isLive || waitingSince < due);
  if (!isShort && !waitsLong) return undefined;
  const end = `the newest file ends at ${newest.until.slice(0, 24)}`;
  const waits = `${count(waiting, 'entry waits', 'entries wait')} since ${waitingSince}, in no file`;
  const what = [...(isShort ? [end] : []), ...(waiting > 0 ? [waits] : [])].join('; ');
  const why = reasons[isLive ? 'live' : 'stopped'];
  return `CANNOT TELL: ${what}. ${why} Or the newest files were taken away: compare with a copy of the archive.`;
}

/** The end that the newest file must have reached. @param due the time before which everything must be sealed */
function wantedEnd({ until = '~' }: TimeRange, due: string): string {
  return until < due ? until : due;
}

function count(number: number, one: string, several: string) {
  return `${number.toLocaleString('en')} ${number === 1 ? one : several}`;
}

function summarise({ publicKey, place }: OpenedTrail, verified: Verified): readonly string[] {
  const { files, entries, early, earlyIds, expired, unproven, waiting, newest } = verified;
  const list = [...earlyIds, ...(early > earlyIds.length ? ['…'] : [])].join(', ');
  const all = `${count(files, 'file', 'files')} with ${count(entries, 'entry', 'entries')}`;
  const ofTable = [
    counted('Expired:', expired, 'gone from the table when their time was over'),
    counted('Unproven:', unproven, 'may be of files that left or cannot be read'),
    `Waiting:  ${waiting.toLocaleString('en')}, too new to be sealed`,
  ];
  return [
    `Key:      ${fingerprintOf(publicKey)} (SHA-256)`,
    `Verified: ${all}, until ${newest?.until.slice(0, 24) ?? 'nowhere'}`,
    counted('Late:', early, `sealed later than others of their time: ${list}`),
    ...(place === undefined ? [] : ofTable),
  ].filter(Boolean);
}

/** A line of the summary; empty if the number is 0. */
function counted(label: string, number: number, text: string): string {
  return number > 0 ? `${label.padEnd(10)}${number.toLocaleString('en')}, ${text}` : '';
}

function resultOf({ faults, known }: Findings, question: string | undefined): string {
  const rest = known ? ` Known: ${count(known, 'finding', 'findings')}.` : '';
  if (faults > 0) return `NOT INTACT: ${count(faults, 'finding', 'findings')}, above.${rest}`;
  return question ?? `Intact.${rest}`;
}
