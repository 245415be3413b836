import { actions, results } from '../../../lib/audit/entry.ts';
import { exportFormats } from '../../../lib/audit/formats.ts';
import type { AuditFilter } from '../../../lib/audit/query.ts';
import type { SealedLine } from '../../../lib/seal/archive.ts';
import { type Finding, findingKinds } from '../../../lib/seal/finding.ts';
import { auditEntries } from '../../../lib/seal/table.ts';
import { verifyTrail } from '../../../lib/seal/verify.ts';
import { recordIntention } from '../audit.ts';
import { type Command, type Invocation, parseTimeRange, type Run } from '../command.ts';
import { Failure, UsageError } from '../failure.ts';
import { exportTo, type Write } from '../files.ts';
import { exported, gatherEntries } from '../gathered-entries.ts';
import { type OpenedTrail, openTrail, trailOptions } from '../sealed-trail.ts';
import { catchInterruption, type Interruption, type Progress, startProgress } from '../terminal.ts';

/** How many entries are written at a time. */
const batchSize = 1000;

const run: Run = async (invocation) => {
  const { operands, options } = invocation;
  const wanted = parseExport(options);
  const count = await exportTo(operands[0] ?? '', (write) =>
    exportEntries(invocation, wanted, write),
  );
  console.error(`Exported ${count.toLocaleString('en')} entries.`);
};

export const exportAudit: Command = {
  summary: 'export audit entries of the table and the archive, for an auditor',
  operands: ['file'],
  options: {
    ...trailOptions,
    '--user-id <id>': 'actions of this user',
    '--resource-id <id>': 'actions on this user',
    '--action <action>': `one of ${actions.join(', ')}`,
    '--result <result>': `one of ${results.join(', ')}`,
    '--format <format>': 'ndjson (default), or csv for spreadsheets',
  },
  help: `Entries are written oldest first, each once, including those that have left the table. They
have the fields of the API, and also request_id, which is in the log line of the request; file, the
number of the archive file with the entry (null: it is not sealed yet); and machine_id and occurred_at,
which entries of machines have, whatever the setting MACHINES is. FILE must not exist; only you can read
it. FILE - is standard output.

Sealed entries are written as they were sealed, even if the table differs. Each file of the archive is
checked when it is read: if one has changed, nothing is written (see verify-audit). A copy is read
without a service, and no audit entry is left.`,
  examples: [
    'export-audit entries.ndjson --stack accounts-production',
    'export-audit tuesday.csv --format csv --since 2026-11-17 --until 2026-11-18 --local',
    'export-audit user-5.csv --format csv --user-id 5 --stack accounts-production',
    'export-audit about-5.ndjson --resource-id 5 --archive copy --public-key public-key.pem',
  ],
  run,
};

type Options = Invocation['options'];

interface Export {
  readonly filter: AuditFilter;
  readonly format: keyof typeof exportFormats;
}

/** @throws {UsageError} */
function parseExport(options: Options): Export {
  if (options['public-key'] !== undefined && options.archive === undefined) {
    throw new UsageError('--public-key requires --archive, which names the copy.');
  }
  const formats = Object.keys(exportFormats) as Export['format'][];
  const filter = {
    userId: parseUserId(options['user-id']),
    action: parseWord(options, 'action', actions),
    result: parseWord(options, 'result', results),
    resourceId: parseResourceId(options['resource-id']),
    ...parseTimeRange(options),
  };
  return { filter, format: parseWord(options, 'format', formats) ?? 'ndjson' };
}

function parseUserId(value: Options[string]): number | undefined {
  if (value === undefined) return undefined;
  const id = Number(value);
  if (/^-?\d+$/.test(String(value)) && Number.isSafeInteger(id)) return id;
  throw new UsageError('--user-id must be an integer.');
}

function parseWord<T extends string>(
  options: Options,
  name: string,
  words: readonly T[],
): T | undefined {
  const value = options[name];
  const word = words.find((one) => one === value);
  if (value === undefined || word !== undefined) return word;
  throw new UsageError(`--${name} must be one of ${words.join(', ')}.`);
}

function parseResourceId(value: Options[string]): string | undefined {
  if (value === undefined) return undefined;
  const id = String(value);
  if (id !== '' && [...id].length <= 100) return id;
  throw new UsageError('--resource-id must have 1 to 100 characters.');
}

/** @returns how many entries were written */
async function exportEntries(
  invocation: Invocation,
  wanted: Export,
  write: Write,
): Promise<number> {
  const { filter, format } = wanted;
  const entries = gatherEntries(filter);
  const [progress, interruption] = [startProgress(process.stderr), catchInterruption()];
  const work = { entries, progress, interruption };
  try {
    const trail = await openTrail(invocation);
    if (trail) await gatherSealed(trail, filter, work);
    if (invocation.options.archive === undefined) {
      await gatherStored(filter, work);
      const details = { format, filter, entries: entries.count };
      const { operator } = invocation;
      await recordIntention({ operator, action: 'EXPORT', resource: 'audit-logs', details });
    }
    await writeEntries(wanted, work, write);
    return entries.count;
  } finally {
    progress.end();
    interruption.release();
    entries.close();
  }
}

/** A running export. */
interface Work {
  readonly entries: ReturnType<typeof gatherEntries>;
  readonly progress: Progress;
  readonly interruption: Interruption;
}

/**
 * Collects the sealed entries. They take precedence, because entries in the table may have been changed after they were
 * sealed.
 */
async function gatherSealed(
  { archive, publicKey, folder, place }: OpenedTrail,
  // Files after the last file of the time range do not matter.
  { since, until = '~' }: AuditFilter,
  work: Work,
): Promise<void> {
  const seen = ({ item }: SealedLine, file: number) => work.entries.add(exported(item, file));
  const progress = (fraction: number | undefined) => advance(work, fraction);
  const reading = { archive, publicKey, since, until, seen, progress };
  const { newest } = await verifyTrail(reading, refuse);
  if (!newest && place === undefined) {
    throw new Failure(`Nothing was exported: there is no file in ${folder}.`);
  }
}

function advance({ entries, progress, interruption }: Work, fraction: number | undefined) {
  if (interruption.requested) throw new Failure('Interrupted: the export is not complete.');
  progress.show(fraction, `${entries.count.toLocaleString('en')} entries`);
}

/** Ends the export if a file in the archive is not as it was sealed. */
function refuse({ kind, subject, count }: Finding): void {
  if (count === undefined) return;
  throw new Failure(
    `${subject} ${findingKinds[kind]}: nothing was exported. Run verify-audit. With --since and --until you can export entries of other times.`,
  );
}

/** Collects the other entries: the entries in the table that are not sealed. */
async function gatherStored({ since = '', until = '~' }: AuditFilter, work: Work): Promise<void> {
  for await (const item of auditEntries.between(since, until)) {
    work.entries.add(exported(item, null));
    advance(work, undefined);
  }
}

async function writeEntries({ format }: Export, work: Work, write: Write): Promise<void> {
  const { head, line } = exportFormats[format];
  const { entries } = work;
  let written = 0;
  let text: string = head;
  for (const entry of entries.inOrder()) {
    text += line(entry);
    written += 1;
    if (written % batchSize > 0) continue;
    await write(text);
    text = '';
    advance(work, written / entries.count);
  }
  await write(text);
}
