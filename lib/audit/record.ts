import { createHash, randomUUID } from 'node:crypto';
import { retry } from '../dynamodb/client.ts';
import { DomainError, faultName } from '../errors.ts';
import { entryNotWritten, logError } from '../log.ts';
import { config } from '../settings.ts';
import { patiently } from '../time.ts';
import { type AuditEntry, type AuditedAction, makeAuditId, makeEntry } from './entry.ts';
import { type EntryWrite, insertEntry, timeToLive } from './store.ts';

/** Milliseconds by which a slow audit store may delay a response. */
const recordingTimeout = () => patiently(1000);

/**
 * Attempts to find a free id: two entries of one millisecond have the same id once in 4,096 times.
 */
const maxDraws = 5;

/**
 * The entry with the id of a draw. It depends only on the write id, so that a replay draws the same
 * ids.
 */
const drawId = (entry: AuditEntry, writeId: string, draw: number): AuditEntry => {
  if (draw === 0) return entry;
  const tail = createHash('sha256').update(`${writeId}#${draw}`).digest().readUInt32BE();
  return { ...entry, id: makeAuditId(new Date(entry.created_at), (below) => tail % below) };
};

/**
 * Writes an entry under its id, or under another id of the same millisecond when that is taken. The
 * same entry and write id leave one entry, however often they are written.
 * @param deadline in milliseconds of performance.now(), which no setting of the clock changes;
 *   absent: as long as the store takes
 * @returns the entry with the id that it has
 * @throws {Error} when it is not known to be written: STORAGE_FAULT, or no id was free
 */
export const writeEntry = async (
  entry: AuditEntry,
  { deadline, ...write }: EntryWrite & { deadline?: number },
): Promise<AuditEntry> => {
  const insertDrawn = async (draw: number) => {
    const limit = deadline && { timeout: Math.max(1, Math.ceil(deadline - performance.now())) };
    const drawn = drawId(entry, write.writeId, draw);
    return (await insertEntry(drawn, { ...write, ...limit })) ? drawn : undefined;
  };
  const written = await retry(insertDrawn, { attempts: maxDraws });
  if (!written) throw new Error('No free audit id');
  return written;
};

const timeToLiveOf = (entry: AuditEntry) => timeToLive(entry, config.auditRetentionDays);

/**
 * The first write of an entry.
 * @throws {ConfigError} when AUDIT_RETENTION_DAYS is out of range
 */
export const newWrite = (entry: AuditEntry): EntryWrite => ({
  writeId: randomUUID(),
  ...timeToLiveOf(entry),
});

/** Logs an entry that could not be written, for the operator's command `replay-audit`. */
export const logUnwritten = (error: unknown, write: EntryWrite, entry?: AuditEntry): void =>
  logError(entryNotWritten, { fault: faultName(error), ...write, entry });

/** An action; the resource is `users` by default. */
type RecordedAction = Omit<AuditedAction, 'resource'> & Partial<Pick<AuditedAction, 'resource'>>;

/**
 * Records an action. Never throws, and takes a second at most on AWS. An entry
 * that cannot be written is logged whole, to be replayed.
 */
export const record = async (action: RecordedAction): Promise<void> => {
  let write: EntryWrite = { writeId: randomUUID(), requestId: action.request_id };
  let entry: AuditEntry | undefined;
  try {
    const now = new Date();
    entry = makeEntry({ resource: 'users', ...action }, { now });
    write = { ...write, ...timeToLiveOf(entry) };
    await writeEntry(entry, { ...write, deadline: performance.now() + recordingTimeout() });
  } catch (error) {
    logUnwritten(error, write, entry);
  }
};

/** The details of the entry of an operation that a fault ended. */
export const faultDetails = (
  error: unknown,
  { mayHaveHappened }: { mayHaveHappened: boolean },
) => ({
  error: error instanceof DomainError && !error.cause ? error.code : faultName(error),
  ...(mayHaveHappened ? { outcome: 'unknown' } : {}),
});

/** The entry of a change, to be completed while that is made. */
type Entry = Omit<RecordedAction, 'result' | 'details'> & {
  user_id?: number | undefined;
  resource_id?: string | number | undefined;
  /** Default: SUCCESS. */
  result?: RecordedAction['result'];
  details?: object | undefined;
};

/** Whether the store has failed, or a change may have been made despite an error. */
const isRecorded = (error: unknown): boolean =>
  error instanceof DomainError && (error.code === 'STORAGE_FAULT' || error.mayHaveHappened);

/**
 * Makes a change and records it. If the store fails, or the change may have been made despite an error,
 * the entry is a FAILURE; a refusal leaves none.
 * @param work completes the entry by what it learns; returns false when it has changed nothing, which
 *   is not recorded
 * @returns what the work returns
 * @throws what the work throws
 */
export const audited = async <T>(change: Entry, work: (entry: Entry) => Promise<T>): Promise<T> => {
  const entry = { ...change };
  try {
    const done = await work(entry);
    if (done !== false) await record({ result: 'SUCCESS', ...entry });
    return done;
  } catch (error) {
    if (isRecorded(error)) {
      const details = { ...faultDetails(error, error as DomainError), ...entry.details };
      await record({ ...entry, result: 'FAILURE', details });
    }
    throw error;
  }
};
