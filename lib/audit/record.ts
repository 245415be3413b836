/** How audit entries are stored and recorded. */
import { createHash, randomUUID } from 'node:crypto';
import { PutItemCommand } from '@aws-sdk/client-dynamodb';
import { marshall } from '@aws-sdk/util-dynamodb';
import { conditionItem, isConditionFailure, send } from '../dynamodb/client.ts';
import { auditTable } from '../dynamodb/tables.ts';
import { DomainError, faultName, namedError } from '../ground/errors.ts';
import { entryNotWritten, logError } from '../ground/log.ts';
import { config } from '../ground/settings.ts';
import { day, longestDelay, seconds } from '../ground/time.ts';
import {
  type AuditEntry,
  type AuditedAction,
  makeAuditId,
  makeEntry,
  type OwnResource,
} from './entry.ts';
import { indexKeys } from './index-keys.ts';

/** The attributes that are stored beside the entry. No response shows them. */
export interface EntryWrite {
  /** Distinguishes the write from another one that drew the same id. */
  readonly writeId: string;
  /** The id of the recorded request, which leads to its log line. */
  readonly requestId?: string | undefined;
  /** The time, in seconds since 1970, after which DynamoDB may delete the entry; absent: never. */
  readonly expiresAt?: number | undefined;
}

/**
 * The data that is stored beside a new entry.
 * @throws {ConfigError} when AUDIT_RETENTION_DAYS is out of range
 */
export function newWrite(entry: AuditEntry): EntryWrite {
  return { writeId: randomUUID(), ...timeToLive(entry) };
}

/** The time to live with which an entry is written; none where entries are kept for ever. */
export function timeToLive(
  { created_at }: Pick<AuditEntry, 'created_at'>,
  days = config.auditRetentionDays,
): Pick<EntryWrite, 'expiresAt'> {
  return days === 0 ? {} : { expiresAt: seconds(new Date(created_at)) + days * day };
}

/** A deed that is recorded: its origin, the user who does it, and the user or thing that it is done to. */
export interface Deed extends Pick<AuditedAction, 'action'> {
  /** Absent: `users`. */
  readonly resource?: OwnResource;
  readonly source: Pick<AuditedAction, 'ip_address' | 'user_agent' | 'request_id' | 'machine_id'>;
  /** The id of the user who does it; absent: not known. */
  readonly by?: number | undefined;
  /** The id of the user, or of another thing, that it is done to; absent: not known yet. */
  readonly on?: number | string | undefined;
  readonly details?: object | undefined;
}

export interface Done {
  /** The details of the entry; absent: the details of the deed. */
  readonly details?: object | undefined;
  /** Whether there is a change to be recorded; absent: there is. */
  readonly isChanged?: boolean;
}

/**
 * Does work, and writes an entry of its success or, as {@link recordingFaults} does, of a fault.
 * @returns what the work returns
 * @throws what the work throws
 */
export function recording(deed: Deed, work: () => Promise<void>): Promise<void>;

export function recording<D extends Done>(deed: Deed, work: () => Promise<D>): Promise<D>;

export async function recording(deed: Deed, work: () => Promise<unknown>): Promise<unknown> {
  const done = await recordingFaults(deed, work);
  const { isChanged = true, details = deed.details }: Done = done ?? {};
  if (isChanged) await record({ ...deed, details });
  return done;
}

/**
 * Does a part of the work that an entry records. If the store or the signing of a token fails, or the change may have
 * been made despite an error, an entry with the result FAILURE is written; for any other error no entry is written.
 * @returns what the work returns
 * @throws what the work throws
 */
export async function recordingFaults<T>(deed: Deed, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (isRecorded(error)) {
      await recordFailure(deed, { ...faultDetails(error, error), ...deed.details });
    }
    throw error;
  }
}

export function recordFailure(deed: Deed, details = deed.details): Promise<void> {
  return record({ ...deed, details }, 'FAILURE');
}

/**
 * Records a deed. Never throws, and takes a second at most on AWS. An entry that cannot be written is logged whole, to
 * be replayed.
 */
export async function record(
  { source, by, on, resource = 'users', ...deed }: Deed,
  result: AuditedAction['result'] = 'SUCCESS',
): Promise<void> {
  let write: EntryWrite = { writeId: randomUUID(), requestId: source.request_id };
  let entry: AuditEntry | undefined;
  try {
    const now = new Date();
    const action = { ...source, ...deed, user_id: by, resource, resource_id: on, result };
    entry = makeEntry(action, { now });
    write = { ...write, ...timeToLive(entry) };
    await writeEntry(entry, { ...write, deadline: performance.now() + longestDelay() });
  } catch (error) {
    logUnwritten(error, write, entry);
  }
}

/** The most attempts to find a free id: two entries of one millisecond have the same id once in 4,096 times. */
export const maxDraws = 5;

/**
 * Writes an entry under its id, or under another id of the same millisecond when its id is taken. However often the
 * same entry is written with the same write id, it is stored only once.
 * @param deadline in milliseconds of performance.now(), which does not change when the clock is set; absent: as long as
 *   the store takes
 * @returns the entry with the id that it has
 * @throws {DomainError} STORAGE_FAULT when it is not known that the entry was written, also when no id is free
 */
export async function writeEntry(
  entry: AuditEntry,
  { deadline, ...write }: EntryWrite & { deadline?: number },
): Promise<AuditEntry> {
  for (let draw = 0; draw < maxDraws; draw += 1) {
    const limit = deadline && { timeout: Math.max(1, Math.ceil(deadline - performance.now())) };
    const drawn = drawId(entry, write.writeId, draw);
    if (await insertEntry(drawn, { ...write, ...limit })) return drawn;
  }
  throw new DomainError('STORAGE_FAULT', { cause: namedError('NoFreeId') });
}

/**
 * Writes an entry unless its id is taken: an entry that is stored is never written over, because it may have been sealed.
 * Calls with the same entry and write id store it only once.
 * @returns false when another entry has the id
 * @throws {DomainError} STORAGE_FAULT
 */
export async function insertEntry(
  entry: AuditEntry,
  { timeout, ...write }: EntryWrite & { timeout?: number },
): Promise<boolean> {
  // The document client copies the command and the response, which costs processor time for each entry.
  const command = new PutItemCommand({
    TableName: config.auditTable,
    Item: marshall(toItem(entry, write)),
    ConditionExpression: 'attribute_not_exists(id)',
    ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
  });
  try {
    await send(command, timeout === undefined ? {} : { timeout });
    return true;
  } catch (error) {
    if (!isConditionFailure(error)) throw error;
    return conditionItem<{ write_id?: unknown }>(error)?.write_id === write.writeId;
  }
}

export function toItem(entry: AuditEntry, { writeId, requestId, expiresAt }: EntryWrite) {
  return {
    ...entry,
    ...indexKeys(entry),
    write_id: writeId,
    ...(requestId ? { request_id: requestId } : {}),
    ...(expiresAt === undefined ? {} : { [auditTable.timeToLive]: expiresAt }),
  };
}

/** The entry with the id of a draw. The id depends only on the write id, so that a replay draws the same ids. */
export function drawId(entry: AuditEntry, writeId: string, draw: number): AuditEntry {
  if (draw === 0) return entry;
  const tail = createHash('sha256').update(`${writeId}#${draw}`).digest().readUInt32BE();
  return { ...entry, id: makeAuditId(new Date(entry.created_at), (below) => tail % below) };
}

/** Logs an entry that could not be written, for the operator's command `replay-audit`. */
export function logUnwritten(error: unknown, write: EntryWrite, entry?: AuditEntry): void {
  logError(entryNotWritten, { fault: faultName(error), ...write, entry });
}

export function faultDetails(error: unknown, { mayHaveHappened }: { mayHaveHappened: boolean }) {
  return {
    error: error instanceof DomainError && !error.cause ? error.code : faultName(error),
    ...(mayHaveHappened ? { outcome: 'unknown' } : {}),
  };
}

/** Whether the store or the signing of a token has failed, or a change may have been made despite an error. */
function isRecorded(error: unknown): error is DomainError {
  return (
    error instanceof DomainError &&
    (['STORAGE_FAULT', 'TOKEN_FAULT'].includes(error.code) || error.mayHaveHappened)
  );
}
