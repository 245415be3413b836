import { type AuditedAction, makeEntry, type OwnResource } from '../../lib/audit/entry.ts';
import { faultDetails, logUnwritten, newWrite, writeEntry } from '../../lib/audit/record.ts';
import { DomainError, faultName, httpErrors } from '../../lib/ground/errors.ts';
import { explain, Failure } from './failure.ts';

export interface Operator {
  readonly command: string;
  /** The ARN of the AWS identity or, for a service on this machine, the account of this machine. */
  readonly identity: string;
}

/** The operation that a command of the operator has done, as the audit trail records it. */
export interface Operation extends Pick<AuditedAction, 'action' | 'resource_id'> {
  /** Default: users. */
  readonly resource?: OwnResource;
  readonly operator: Operator;
  /** Default: SUCCESS. */
  readonly result?: AuditedAction['result'];
  /** The details in addition to the operator. */
  readonly details?: object | undefined;
}

/**
 * Records which operation a command is about to do.
 * @throws {Failure} when the entry could not be written: the command must not continue
 */
export async function recordIntention(operation: Operation): Promise<void> {
  try {
    const entry = newEntry(operation);
    await writeEntry(entry, newWrite(entry));
  } catch (cause) {
    throw new Failure(
      `Nothing was done, because the audit entry could not be written (${faultName(cause)}).`,
      { cause },
    );
  }
}

class UnknownOutcome extends Failure {}

/**
 * Makes a change and records it: as SUCCESS if it is made, as FAILURE if a fault ends it. A refusal is not recorded,
 * because it changes nothing.
 * @param check a sentence that says how the engineer can find out whether the change was made, if that is unknown
 * @throws {Failure} if it is unknown whether the change was made, or if the change was made but its entry could not be
 *   written; and the errors of `change`
 */
export async function recordChange(
  operation: Operation,
  change: () => Promise<void>,
  { check }: { check: string },
): Promise<void> {
  try {
    await change();
  } catch (error) {
    if (isRefusal(error)) throw error;
    const details = { ...describeFault(error), ...operation.details };
    const unwritten = await writeOrPrint({ ...operation, result: 'FAILURE', details });
    if (unwritten) console.error(unwritten.message);
    if (!mayHaveHappened(error)) throw error;
    const entry = unwritten ? '' : '; its audit entry says so';
    throw new UnknownOutcome(
      `It is not known whether the change was made (${faultName(error)})${entry}. ${check}`,
      { cause: error },
    );
  }
  await recordOperation(operation);
}

/**
 * Records what a command has done.
 * @throws {Failure} if the entry could not be written; then the entry is printed, so that it can be replayed later
 */
export async function recordOperation(operation: Operation): Promise<void> {
  const unwritten = await writeOrPrint(operation);
  if (!unwritten) return;
  const { message, cause } = unwritten;
  throw new Failure(`The change was made. ${message}`, { cause });
}

/**
 * Records what a command has done that may have left something undone.
 * @param problem a sentence about what is left to do; absent: nothing is
 * @throws {Failure} with this sentence, or as {@link recordOperation} does
 */
export async function recordOutcome(
  operation: Omit<Operation, 'result'>,
  problem: string | undefined,
): Promise<void> {
  if (!problem) return recordOperation(operation);
  await recordOperation({ ...operation, result: 'FAILURE' }).catch((error) =>
    console.error(explain(error)),
  );
  throw new Failure(problem);
}

export function describeFault(error: unknown) {
  return faultDetails(error, { mayHaveHappened: mayHaveHappened(error) });
}

interface SdkError {
  readonly $fault?: 'client' | 'server';
  /** The SDK sets it on every error that occurs after a request was sent. */
  readonly $metadata?: { readonly attempts?: number };
}

/**
 * Whether a change that failed may have been made all the same, because only its response was lost. If the first
 * attempt was refused, the change was certainly not made.
 */
export function mayHaveHappened(error: unknown): boolean {
  if (error instanceof Failure) return error instanceof UnknownOutcome;
  if (error instanceof DomainError) return error.mayHaveHappened;
  const { $fault, $metadata } = (error ?? {}) as SdkError;
  return $metadata !== undefined && !($fault === 'client' && $metadata.attempts === 1);
}

function newEntry({ operator, result = 'SUCCESS', details, ...operation }: Operation) {
  return makeEntry({
    resource: 'users',
    ...operation,
    result,
    user_agent: `operator ${operator.command}`,
    details: { ...details, operator: operator.identity },
  });
}

/** Whether an error is not a fault, but a refusal, which changed nothing. */
function isRefusal(error: unknown): boolean {
  return (
    error instanceof Failure ||
    (error instanceof DomainError && httpErrors[error.code].status < 500 && !error.mayHaveHappened)
  );
}

/** Writes an entry, or prints it if it cannot be written. @returns in that case a failure that says so */
async function writeOrPrint(operation: Operation): Promise<Failure | undefined> {
  const entry = newEntry(operation);
  const write = newWrite(entry);
  try {
    await writeEntry(entry, write);
    return undefined;
  } catch (cause) {
    logUnwritten(cause, write, entry);
    return new Failure(
      `The audit entry could not be written (${faultName(cause)}): save the line above, and write the entry later with replay-audit.`,
      { cause },
    );
  }
}
