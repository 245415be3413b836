import { createHash } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { DomainError } from '../../lib/errors.ts';
import { creationDetails } from '../../lib/users/audit-details.ts';
import { emailItemKey, getItems, type StoredUser, userKey } from '../../lib/users/items.ts';
import { isUnmatchable } from '../../lib/users/password.ts';
import { allocateUserIds, insertUser } from '../../lib/users/store.ts';
import { mayHaveHappened, type Operator, recordChange } from './audit.ts';
import { createPrivateFile } from './files.ts';
import type { Candidate, Rejection } from './import-lines.ts';

/** A file that maps the ids that users had in the other system to their new ids. */
export interface IdList {
  add(candidate: Candidate, id: number): void;
  /** Writes what was added since the last time, in the order of the lines. */
  write(): Promise<void>;
  close(): Promise<void>;
  /** Deletes the file. */
  discard(): Promise<void>;
}

const noList: IdList = {
  add: () => undefined,
  write: async () => undefined,
  close: async () => undefined,
  discard: async () => undefined,
};

interface Addition {
  readonly line: number;
  readonly text: string;
}

/**
 * Creates the file, which only its owner may read.
 * @param name absent: no list is written
 * @throws {Failure} when the file exists or cannot be created
 */
export const openIdList = async (name: string | boolean | undefined): Promise<IdList> => {
  if (typeof name !== 'string') return noList;
  const { handle, discard } = await createPrivateFile(name);
  let added: Addition[] = [];
  return {
    add: ({ line, oldId, user: { email } }, id) => {
      added.push({ line, text: `${JSON.stringify({ old_id: oldId, new_id: id, email })}\n` });
    },
    write: async () => {
      const inOrder = added.sort((a, b) => a.line - b.line);
      added = [];
      await handle.appendFile(inOrder.map(({ text }) => text).join(''));
    },
    close: () => handle.close(),
    discard,
  };
};

/**
 * A mark by which an import recognizes a user whom it has imported before, even when a login or a
 * change of the password has replaced the hash. It is a digest of the whole hash with its salt, so
 * that no password can be tried on it. Users without a hash have the same mark at any bcrypt cost.
 */
export const importMark = (hash: string): string =>
  createHash('sha256')
    .update(isUnmatchable(hash) ? '' : hash)
    .digest('base64url');

/** The user who has an email address, with the fields that an import needs. */
export type Holder = Pick<StoredUser, 'id' | 'password_hash' | 'import_mark'>;

/**
 * The users who have email addresses, in the order of the addresses; undefined where none has one.
 * @param emails at most 100, no two of which differ only in letter case
 * @throws {DomainError} STORAGE_FAULT
 */
export const findHolders = async (
  emails: readonly string[],
): Promise<readonly (Holder | undefined)[]> => {
  const emailItems = await getItems(emails.map(emailItemKey));
  const held = emailItems.filter((item) => item !== undefined);
  const users = await getItems(held.map(({ user_id }) => userKey(Number(user_id))));
  const byId = new Map(users.map((user) => [user?.id, user as Holder | undefined]));
  return emailItems.map((item) => item && byId.get(item.user_id));
};

/** A running import, which is told the outcome of each line. */
export interface Import {
  readonly operator: Operator;
  imported(candidate: Candidate, id: number): void;
  present(candidate: Candidate, id: number): void;
  reject(rejection: Rejection): void;
}

/** How many users are written at the same time. */
const concurrency = 16;

/** Attempts while the store is throttled or unavailable, and milliseconds of the first pause. */
const attempts = 6;
const firstPause = 200;

const isStorageFault = (error: unknown): boolean =>
  error instanceof DomainError && error.code === 'STORAGE_FAULT';

/** Of two faults, the one to report. */
const graver = (first: unknown, second: unknown): unknown =>
  mayHaveHappened(first) ? first : second;

/**
 * Repeats work for six seconds while storage faults last.
 * @throws {DomainError} what `work` throws; of several storage faults, one after which the work may
 *   have been done
 */
const repeatOnFault = async <T>(work: () => Promise<T>): Promise<T> => {
  let fault: unknown;
  for (let attempt = 0; attempt < attempts; attempt += 1) {
    if (fault) await pause(firstPause * 2 ** (attempt - 1));
    try {
      return await work();
    } catch (error) {
      if (!isStorageFault(error)) throw error;
      fault = graver(fault, error);
    }
  }
  throw fault;
};

const anotherHash =
  'has an email that is registered with another hash: the user existed before, or the line has changed since it was imported';

/** The candidates whose email no user has yet. */
const findFresh = async (
  candidates: readonly Candidate[],
  { present, reject }: Import,
): Promise<readonly Candidate[]> => {
  const holders = await repeatOnFault(() => findHolders(candidates.map(({ user }) => user.email)));
  return candidates.filter((candidate, i) => {
    const holder = holders[i];
    const { password_hash } = candidate.user;
    if (!holder) return true;
    const isSame =
      holder.password_hash === password_hash || holder.import_mark === importMark(password_hash);
    if (isSame) present(candidate, holder.id);
    else reject({ line: candidate.line, reason: anotherHash });
    return false;
  });
};

/** Stores an admin, with an audit entry of its own. */
const insertAdmin = (operator: Operator, admin: StoredUser, insert: () => Promise<void>) => {
  const { id: resource_id } = admin;
  const operation = { operator, action: 'CREATE', resource_id } as const;
  const details = creationDetails(admin);
  return recordChange({ ...operation, details }, insert, {
    check: 'Run the import again: it says whether the user is there.',
  });
};

const insert = async (candidate: Candidate, id: number, run: Import): Promise<void> => {
  const { user, line } = candidate;
  const stored = { ...user, id, import_mark: importMark(user.password_hash) };
  const store = () => repeatOnFault(() => insertUser(stored));
  try {
    await (user.role === 'admin' ? insertAdmin(run.operator, stored, store) : store());
    run.imported(candidate, id);
  } catch (error) {
    if (!(error instanceof DomainError) || error.code !== 'EMAIL_REGISTERED') throw error;
    run.reject({ line, reason: 'has an email that was registered just now' });
  }
};

/**
 * Stores the users of a block who do not exist yet, each completely or not at all, with ids in the
 * order of their lines.
 * @throws {DomainError} STORAGE_FAULT, when the users that are being stored are done; of several, one
 *   after which a user may have been stored
 * @throws {Failure} the same of an admin; or when an entry of an admin could not be written
 */
export const importBlock = async (candidates: readonly Candidate[], run: Import): Promise<void> => {
  if (candidates.length === 0) return;
  const fresh = await findFresh(candidates, run);
  if (fresh.length === 0) return;
  const firstId = await repeatOnFault(() => allocateUserIds(fresh.length));
  const rest = fresh.entries();
  const work = async () => {
    for (const [i, candidate] of rest) await insert(candidate, firstId + i, run);
  };
  const ends = await Promise.allSettled(Array.from({ length: concurrency }, work));
  const faults = ends.filter((end) => end.status === 'rejected').map(({ reason }) => reason);
  if (faults.length > 0) throw faults.find(mayHaveHappened) ?? faults[0];
};
