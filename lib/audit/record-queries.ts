/** Audit entries about queries of the audit trail (functions/README.md, What is audited). */
import { createHash, randomUUID } from 'node:crypto';
import { PutCommand } from '@aws-sdk/lib-dynamodb';
import { sendIf } from '../dynamodb/client.ts';
import { itemKey } from '../dynamodb/tables.ts';
import { describeFault, logError } from '../ground/log.ts';
import { config } from '../ground/settings.ts';
import type { Source } from '../ground/source.ts';
import { hour, longestDelay, seconds } from '../ground/time.ts';
import type { AuditFilter } from './query.ts';
import { record } from './record.ts';

/** The caller who queries the audit trail, a user or a machine, and the origin of the request. */
type Reader = Source & { readonly user_id: number | undefined };

/** The filter of a query, or the id of the one entry that was read. */
type ReadFilter = AuditFilter & { readonly id?: number };

/**
 * Records a query of the audit trail where AUDIT_DETAIL is full: at most once an hour for the same caller and filter.
 * Never throws.
 * @param order absent: one entry was read
 */
export async function recordRead(
  reader: Reader,
  { filter, order }: { filter: ReadFilter; order?: 'asc' | 'desc' },
  { now = new Date() }: { now?: Date } = {},
): Promise<void> {
  if (config.auditDetail !== 'full') return;
  const caller = reader.user_id ?? `machine-${reader.machine_id}`;
  if (!(await markRead(markKey(caller, filter), seconds(now)))) return;
  const details = { filter: { ...filter, order } };
  await record({ source: reader, action: 'READ', by: reader.user_id, resource, details });
}

/** Records that entries were sent in a format that is meant to be kept. Never throws. */
export function recordExport(
  reader: Reader,
  details: { format: string; filter: AuditFilter & { order: 'asc' | 'desc' }; entries: number },
): Promise<void> {
  return record({ source: reader, action: 'EXPORT', by: reader.user_id, resource, details });
}

const resource = 'audit-logs';

/** Seconds within which all queries of one caller with one filter are recorded by one entry. */
const period = hour;

/**
 * Marks, by a conditional write, that a query is recorded: of parallel queries only one writes the entry, even if they
 * run in different instances of the function.
 * @returns false when another query was recorded within the period; true when this is not known
 */
async function markRead(key: { readonly pk: string }, now: number): Promise<boolean> {
  const mark = randomUUID();
  const command = new PutCommand({
    TableName: config.usersTable,
    Item: { ...key, mark, expires_at: now + period },
    // The mark recognises an earlier attempt whose response was lost.
    ConditionExpression: 'attribute_not_exists(pk) OR mark = :mark OR expires_at <= :now',
    ExpressionAttributeValues: { ':mark': mark, ':now': now },
  });
  try {
    return await sendIf(command, { timeout: longestDelay() });
  } catch (error) {
    logError('audit-read-not-marked', describeFault(error));
    return true;
  }
}

/** The key of the mark of a caller and a filter, without the times of the filter. */
function markKey(caller: number | string, { since: _, until: __, ...filter }: ReadFilter) {
  const digest = createHash('sha256').update(JSON.stringify(filter)).digest('base64url');
  return itemKey('audit-read#*', caller, digest);
}
