import { type AuditedAction, makeEntry } from '../../lib/audit/entry.ts';
import { faultDetails, logUnwritten, newWrite, writeEntry } from '../../lib/audit/record.ts';
import { DomainError, faultName, httpErrors } from '../../lib/errors.ts';
import { Failure } from './failure.ts';

/** Who does something, and by which command. */
export interface Operator {
  /** As the audit log names it. */
  readonly command: string;
  /** The ARN of the AWS identity; for the service on this machine, the account there. */
  readonly identity: string;
}

/** What an operator's command did. */
export interface Operation extends Pick<AuditedAction, 'action' | 'resource' | 'resource_id'> {
  readonly operator: Operator;
  /** SUCCESS unless it says otherwise. */
  readonly result?: AuditedAction['result'];
  /** Besides who did it. */
  readonly details?: object | undefined;
}

const newEntry = ({ operator, result = 'SUCCESS', details, ...operation }: Operation) =>
  makeEntry({
    ...operation,
    result,
    user_agent: `operator ${operator.command}`,
    details: { ...details, operator: operator.identity },
  });

/** Writes an entry, or prints it. @returns in the second case, a sentence that says so */
const writeOrPrint = async (operation: Operation): Promise<Failure | undefined> => {
  const entry = newEntry(operation);
  const write = newWrite(entry);
  try {
    await writeEntry(entry, write);
    return undefined;
  } catch (cause) {
    logUnwritten(cause, write, entry);
    return new Failure(
      `The audit entry could not be written (${faultName(cause)}): save the line above and write it by replay-audit.`,
      { cause },
    );
  }
};

/**
 * Records what a command has done.
 * @throws {Failure} when the entry could not be written; it is then printed, so that it can be
 */
export const recordOperation = async (operation: Operation): Promise<void> => {
  const unwritten = await writeOrPrint(operation);
  if (!unwritten) return;
  const { message, cause } = unwritten;
  throw new Failure(`What the command did is done. ${message}`, { cause });
};

/**
 * Records what a command is about to do.
 * @throws {Failure} when the entry could not be written: the command must not go on
 */
export const recordIntention = async (operation: Operation): Promise<void> => {
  try {
    const entry = newEntry(operation);
    await writeEntry(entry, newWrite(entry));
  } catch (cause) {
    throw new Failure(
      `Nothing was done, because the audit entry could not be written (${faultName(cause)}).`,
      { cause },
    );
  }
};

/** A change was asked for, and it is not known whether it was made. */
class UnknownOutcome extends Failure {}

/** Nothing was done, for a reason that is no fault. */
const isRefusal = (error: unknown): boolean =>
  error instanceof Failure ||
  (error instanceof DomainError && httpErrors[error.code].status < 500 && !error.mayHaveHappened);

interface SdkError {
  readonly $fault?: 'client' | 'server';
  /** Set on whatever happens once a request is made. */
  readonly $metadata?: { readonly attempts?: number };
}

/**
 * Whether what ended with a fault may have been done nevertheless, because the store's answer did
 * not come. Only a refusal of the first attempt says that no attempt was successful.
 */
export const mayHaveHappened = (error: unknown): boolean => {
  if (error instanceof Failure) return error instanceof UnknownOutcome;
  if (error instanceof DomainError) {
    return error.mayHaveHappened;
  }
  const { $fault, $metadata } = (error ?? {}) as SdkError;
  return $metadata !== undefined && !($fault === 'client' && $metadata.attempts === 1);
};

/** What the entry of a change that a fault ended says of it. */
export const describeFault = (error: unknown) =>
  faultDetails(error, { mayHaveHappened: mayHaveHappened(error) });

/**
 * Makes a change and records it: as SUCCESS when it is made, as FAILURE when a fault ends it. A
 * refusal, which changes nothing, leaves no entry.
 * @param check tells the engineer how to see whether a change was made whose outcome is not known
 * @throws {Failure} when that is so, or when the entry of a change that was made could not be
 *   written; and whatever else `change` throws
 */
export const recordChange = async (
  operation: Operation,
  change: () => Promise<void>,
  { check }: { check: string },
): Promise<void> => {
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
};

/** How to see whether a change of roles was made. */
export const seeAdmins = 'See list-admins before you try again.';
