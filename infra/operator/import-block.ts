/** Stores users of another system, many at a time, and recognizes users whom an earlier import has stored. */
import { createHash } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { DomainError, type ErrorCode } from '../../lib/ground/errors.ts';
import { identitiesClaimed } from '../../lib/options/identities/identities.ts';
import {
  emailItemKey,
  getItems,
  newVersion,
  type StoredUser,
  userKey,
} from '../../lib/users/item.ts';
import { allocateUserId, insertUser } from '../../lib/users/store.ts';
import { creationDetails, isUnmatchable } from '../../lib/users/user.ts';
import { mayHaveHappened, type Operator, recordChange } from './audit.ts';
import type { Candidate } from './import-line.ts';

/** The user who has an email address, with the fields that an import needs. */
export type Holder = Pick<StoredUser, 'id' | 'password_hash' | 'import_mark'>;

/** A running import, which receives the outcome of each line. */
export interface Import {
  readonly operator: Operator;
  /** @param outcome whether this run or an earlier run stored the user */
  stored(candidate: Candidate, id: number, outcome: 'imported' | 'present'): void;
  /** @param reason the reason, which never quotes the line */
  reject(line: number, reason: string): void;
}

const concurrency = 16;

/**
 * Stores the users of a block who do not exist yet, each completely or not at all, with ids in the order of their
 * lines.
 * @param candidates at most 100
 * @throws {DomainError} STORAGE_FAULT, after the storing of all users of the block has ended. If there are several
 *   faults, a fault after which a user may have been stored is thrown
 * @throws {Failure} for such a fault while an admin or auditor is stored, or if an audit entry could not be written
 */
export async function importBlock(candidates: readonly Candidate[], run: Import): Promise<void> {
  const fresh = await findFresh(candidates, run);
  if (fresh.length === 0) return;
  const firstId = await repeatOnFault(() => allocateUserId(fresh.length));
  const rest = fresh.entries();
  const work = async () => {
    for (const [i, candidate] of rest) await insert(candidate, firstId + i, run);
  };
  const ends = await Promise.allSettled(Array.from({ length: concurrency }, work));
  const faults = ends.filter((end) => end.status === 'rejected').map(({ reason }) => reason);
  if (faults.length > 0) throw faults.find(mayHaveHappened) ?? faults[0];
}

/**
 * A mark by which an import recognizes a user whom an earlier import has stored, even if a login or a change of the
 * password has replaced the hash since then. It is a digest of the whole hash with its salt, so that it cannot be used
 * to guess passwords. Users without a hash have the same mark at any bcrypt cost.
 */
export function importMark(hash: string): string {
  return createHash('sha256')
    .update(isUnmatchable(hash) ? '' : hash)
    .digest('base64url');
}

/**
 * The users who have the email addresses, in the order of the addresses; undefined if no user has an address.
 * @param emails at most 100; no two may be spellings of the same address
 * @throws {DomainError} STORAGE_FAULT
 */
export async function findHolders(
  emails: readonly string[],
): Promise<readonly (Holder | undefined)[]> {
  const emailItems = await getItems(emails.map(emailItemKey));
  const held = emailItems.filter((item) => item !== undefined);
  const users = await getItems(held.map(({ user_id }) => userKey(Number(user_id))));
  const byId = new Map(users.map((user) => [user?.id, user as Holder | undefined]));
  return emailItems.map((item) => item && byId.get(item.user_id));
}

const anotherHash =
  'has an email that is registered with another hash: the user existed before, or the line has changed since it was imported';

async function findFresh(candidates: readonly Candidate[], run: Import) {
  const holders = await repeatOnFault(() => findHolders(candidates.map(({ user }) => user.email)));
  return candidates.filter((candidate, i) => {
    const { user, line } = candidate;
    const holder = holders[i];
    if (!holder) return true;
    const isSame =
      holder.password_hash === user.password_hash ||
      holder.import_mark === importMark(user.password_hash);
    if (isSame) run.stored(candidate, holder.id, 'present');
    else run.reject(line, anotherHash);
    return false;
  });
}

/** Milliseconds before each further attempt, while the store is throttled or unavailable. */
const pauses = [200, 400, 800, 1600, 3200];

/**
 * Repeats work while there are storage faults, for at most six seconds.
 * @throws {DomainError} the errors of `work`; if there were several storage faults, a fault after which the work may
 *   have been done
 */
async function repeatOnFault<T>(work: () => Promise<T>): Promise<T> {
  let fault: unknown;
  for (const wait of [...pauses, undefined]) {
    try {
      return await work();
    } catch (error) {
      if (!isStorageFault(error)) throw error;
      fault = mayHaveHappened(fault) ? fault : error;
      await pause(wait ?? 0);
    }
  }
  throw fault;
}

function isStorageFault(error: unknown) {
  return error instanceof DomainError && error.code === 'STORAGE_FAULT';
}

const refusals: Partial<Record<ErrorCode, string>> = {
  EMAIL_REGISTERED: 'has an email that was registered just now',
  IDENTITY_LINKED: 'has an identity that is linked to another user',
};

/** Stores a user. An admin or auditor gets an audit entry of its own. */
async function insert(candidate: Candidate, id: number, run: Import): Promise<void> {
  const { user, line } = candidate;
  const isMore = user.role === 'admin' || user.auditor;
  const mark = importMark(user.password_hash);
  const stored = { ...user, id, version: newVersion(), import_mark: mark };
  const store = () => repeatOnFault(() => insertUser(stored, identitiesClaimed(stored)));
  const details = creationDetails(stored);
  const change = { operator: run.operator, action: 'CREATE', resource_id: id, details } as const;
  const check = 'Run the import again: it says whether the user is there.';
  try {
    await (isMore ? recordChange(change, store, { check }) : store());
    run.stored(candidate, id, 'imported');
  } catch (error) {
    const reason = error instanceof DomainError ? refusals[error.code] : undefined;
    if (!reason) throw error;
    run.reject(line, reason);
  }
}
