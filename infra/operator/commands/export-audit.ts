import * as v from 'valibot';
import { actions, results } from '../../../lib/audit/entry.ts';
import { exportFormats } from '../../../lib/audit/formats.ts';
import type { AuditFilter } from '../../../lib/audit/query.ts';
import { oneOf, validate } from '../../../lib/ground/validation.ts';
import type { SealedLine } from '../../../lib/seal/archive.ts';
import { type Finding, findingKinds } from '../../../lib/seal/finding.ts';
import { auditEntries } from '../../../lib/seal/table.ts';
import { verifyTrail } from '../../../lib/seal/verify.ts';
import { recordIntention } from '../audit.ts';
import { type Command, type Invocation, parseTimeRange } from '../command.ts';
import { type Advance, exportAll } from '../export.ts';
import { Failure, UsageError } from '../failure.ts';
import type { Write } from '../files.ts';
import { exported, gatherEntries } from '../gathered-entries.ts';
import { type OpenedTrail, openTrail, trailOptions } from '../sealed-trail.ts';

const batchSize = 1000;

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

async function run(invocation: Invocation): Promise<void> {
  const { format, filter } = parseExport(invocation.options);
  await exportAll(invocation.operands[0] ?? '', 'entries', async (write, advance) => {
    const entries = gatherEntries(filter);
    const work = { entries, advance };
    try {
      const trail = await openTrail(invocation);
      if (trail) await gatherSealed(trail, filter, work);
      if (invocation.options.archive === undefined) {
        await gatherStored(filter, work);
        const details = { format, filter, entries: entries.count };
        const { operator } = invocation;
        await recordIntention({ operator, action: 'EXPORT', resource: 'audit-logs', details });
      }
      await writeEntries(format, work, write);
      return entries.count;
    } finally {
      entries.close();
    }
  });
}

const integerRule = 'must be an integer';

const wanted = v.object({
  userId: v.optional(
    v.pipe(
      v.string(),
      v.regex(/^-?\d+$/, integerRule),
      v.transform(Number),
      v.safeInteger(integerRule),
    ),
  ),
  action: v.optional(oneOf(actions)),
  result: v.optional(oneOf(results)),
  resourceId: v.optional(
    v.pipe(
      v.string(),
      v.check((id) => id !== '' && [...id].length <= 100, 'must have 1 to 100 characters'),
    ),
  ),
  format: v.optional(oneOf(['ndjson', 'csv'] satisfies Format[]), 'ndjson'),
});

type Format = keyof typeof exportFormats;

function parseExport(options: Invocation['options']): { filter: AuditFilter; format: Format } {
  if (options.publicKey !== undefined && options.archive === undefined) {
    throw new UsageError('--public-key requires --archive, which names the copy.');
  }
  const parsed = validate(wanted, options);
  if ('output' in parsed) {
    const { format, ...filter } = parsed.output;
    return { filter: { ...filter, ...parseTimeRange(options) }, format };
  }
  const [{ field = '', rule = '' } = {}] = parsed.faults;
  throw new UsageError(`--${field.replace('Id', '-id')} ${rule}.`);
}

interface Work {
  readonly entries: ReturnType<typeof gatherEntries>;
  readonly advance: Advance;
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
  const progress = (fraction: number | undefined) => work.advance(work.entries.count, fraction);
  const reading = { archive, publicKey, since, until, seen, progress };
  const { newest } = await verifyTrail(reading, refuse);
  if (!newest && place === undefined) {
    throw new Failure(`Nothing was exported: there is no file in ${folder}.`);
  }
}

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
    work.advance(work.entries.count);
  }
}

async function writeEntries(
  format: Format,
  { entries, advance }: Work,
  write: Write,
): Promise<void> {
  const { head, line } = exportFormats[format];
  let written = 0;
  let text: string = head;
  for (const entry of entries.inOrder()) {
    text += line(entry);
    written += 1;
    if (written % batchSize > 0) continue;
    await write(text);
    text = '';
    advance(entries.count, written / entries.count);
  }
  await write(text);
}
