import { randomUUID } from 'node:crypto';
import { type AuditedAction, makeEntry } from '../../lib/audit/entry.ts';
import { logUnwritten, writeEntry } from '../../lib/audit/record.ts';
import { faultName } from '../../lib/errors.ts';
import { Failure } from './failure.ts';

/** What an operator's command did; who typed it is unknown to the service. */
export interface Operation
  extends Pick<AuditedAction, 'action' | 'resource' | 'resource_id' | 'details'> {
  readonly command: string;
  /** SUCCESS unless it says otherwise. */
  readonly result?: AuditedAction['result'];
}

const newEntry = ({ command, result = 'SUCCESS', ...operation }: Operation) =>
  makeEntry({ ...operation, result, user_agent: `operator ${command}` });

/**
 * Records what a command has done.
 * @throws {Failure} when the entry could not be written; it is then printed, so that it can be
 */
export const recordOperation = async (operation: Operation): Promise<void> => {
  const entry = newEntry(operation);
  const writeId = randomUUID();
  try {
    await writeEntry(entry, { writeId });
  } catch (error) {
    logUnwritten(error, writeId, entry);
    throw new Failure(
      `What the command did is done, but its audit entry could not be written (${faultName(error)}): save the line above and write it by replay-audit.`,
    );
  }
};

/**
 * Records what a command is about to do.
 * @throws {Failure} when the entry could not be written: the command must not go on
 */
export const recordIntention = async (operation: Operation): Promise<void> => {
  try {
    await writeEntry(newEntry(operation), { writeId: randomUUID() });
  } catch (error) {
    throw new Failure(
      `Nothing was done, because the audit entry could not be written (${faultName(error)}).`,
    );
  }
};
