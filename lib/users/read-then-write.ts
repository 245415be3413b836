/** Changes of a user by what was read of it, while others may change it too. */
import { storageTime } from '../dynamodb/client.ts';
import { DomainError, namedError, withUnknownOutcome } from '../errors.ts';
import type { StoredUser } from './items.ts';
import { findStoredUser } from './store.ts';
import type { User } from './user.ts';

/** Who changes a user. */
export interface ChangeContext {
  /** Id of the caller, who must be an admin at that instant to make another one; absent: an operator. */
  readonly caller?: number;
  /** Given where what permits the change must still hold when it is written. */
  readonly permission?: {
    /** As it was read and checked. */
    readonly user: StoredUser;
    /** Checks it again, when it was read again. */
    readonly check: (user: StoredUser) => Promise<void>;
  };
}

/** Whether a write was made; not, because the user changed meanwhile; or perhaps it changed it. */
export type Written = 'written' | 'conflict' | 'unknown';

/** Milliseconds for which writers that race for one user, one of them a round, try again. */
const contentionTimeout = () => storageTime(3000);

/** Rounds that a writer has, however slow the machine is. */
const minRounds = 3;

/**
 * Reads a user and writes by what was read, again for as long as others change it in between.
 * @returns the user as it was before the first attempt, and as it was read for the last one
 * @throws {DomainError} USER_NOT_FOUND, STORAGE_FAULT, and whatever `write` throws
 */
export const readThenWrite = async (
  id: number,
  write: (user: StoredUser) => Promise<Written>,
  { permission }: ChangeContext = {},
): Promise<{ before: User; read: User }> => {
  const deadline = performance.now() + contentionTimeout();
  let unsure: User | undefined;
  let known = permission?.user;
  const readAgain = async () => {
    const read = await findStoredUser(id);
    if (!read) throw new DomainError('USER_NOT_FOUND');
    await permission?.check(read);
    return read;
  };
  const tryOnce = async () => {
    const read = known ?? (await readAgain());
    known = undefined;
    const written = await write(read);
    if (written === 'unknown') unsure ??= read;
    return written === 'written' ? { before: unsure ?? read, read } : undefined;
  };
  try {
    for (let round = 0; round < minRounds || performance.now() < deadline; round += 1) {
      const done = await tryOnce();
      if (done) return done;
    }
    throw new DomainError('STORAGE_FAULT', { cause: namedError('Contention') });
  } catch (error) {
    throw unsure ? withUnknownOutcome(error) : error;
  }
};
