import { createHash } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { ScanCommand } from '@aws-sdk/lib-dynamodb';
import { send } from '../../lib/dynamodb/client.ts';
import { DomainError } from '../../lib/errors.ts';
import { config } from '../../lib/settings.ts';
import { creationDetails } from '../../lib/users/audit-details.ts';
import { emailItemKey, getItems, type StoredUser, toUser, userKey } from '../../lib/users/items.ts';
import { isUnmatchable } from '../../lib/users/password.ts';
import { allocateUserIds, insertUser } from '../../lib/users/store.ts';
import { mayHaveHappened, type Operator, recordChange, seeAdmins } from './audit.ts';
import { createPrivateFile } from './files.ts';
import type { Candidate, Rejection } from './import-lines.ts';

/** A file that tells the ids which users had elsewhere from those they have here. */
export interface IdList {
  add(candidate: Candidate, id: number): void;
  /** Writes what was added since, in the order of the lines. */
  write(): Promise<void>;
  close(): Promise<void>;
  /** Takes the file away. */
  discard(): Promise<void>;
}

const none: IdList = {
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
 * @param name of a file that does not exist, which only its owner may read; absent: no list is kept
 * @throws {Failure} when it exists or cannot be made
 */
export const openIdList = async (name: string | boolean | undefined): Promise<IdList> => {
  if (typeof name !== 'string') return none;
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

// What moving many users in or out of the service needs of their table.

/** Items that one request reads, others than users among them. */
const scanLimit = 500;

/**
 * Every user with its password hash, in no order, in pages as they are read. A user who changes
 * meanwhile appears as before or as after.
 * @throws {DomainError} STORAGE_FAULT
 */
export async function* scanUsers(): AsyncGenerator<readonly StoredUser[]> {
  let from: Record<string, unknown> | undefined;
  do {
    const { Items = [], LastEvaluatedKey } = await send(
      new ScanCommand({
        TableName: config.usersTable,
        FilterExpression: 'begins_with(pk, :user)',
        ExpressionAttributeValues: { ':user': 'user#' },
        ConsistentRead: true,
        Limit: scanLimit,
        ExclusiveStartKey: from,
      }),
    );
    yield Items.map((item) => ({ ...toUser(item), password_hash: item.password_hash as string }));
    from = LastEvaluatedKey;
  } while (from);
}

/**
 * What tells that a hash was brought in by an import after a login or a change of the password has
 * replaced it. It is a digest of all of the hash, the salt included, so that no password can be
 * tried on it. Who came without a hash has the same one at any cost.
 */
export const importMark = (hash: string): string =>
  createHash('sha256')
    .update(isUnmatchable(hash) ? '' : hash)
    .digest('base64url');

/** Who holds an email address, as far as an import needs to know. */
export type Holder = Pick<StoredUser, 'id' | 'password_hash' | 'import_mark'>;

/**
 * The holders of email addresses, in the order of the addresses; undefined where nobody holds one.
 * @param emails at most 100, no two of them the same in another letter case
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

/** An import under way, which is told of each line what became of it. */
export interface Import {
  readonly operator: Operator;
  imported(candidate: Candidate, id: number): void;
  present(candidate: Candidate, id: number): void;
  reject(rejection: Rejection): void;
}

/** Users that are written at the same time. */
const concurrency = 16;

/** Attempts, and milliseconds of the first pause, while the store is throttled or away. */
const attempts = 6;
const firstPause = 200;

const isStorageFault = (error: unknown): boolean =>
  error instanceof DomainError && error.code === 'STORAGE_FAULT';

/** Of two faults, the one to tell of. */
const graver = (first: unknown, second: unknown): unknown =>
  mayHaveHappened(first) ? first : second;

/**
 * @throws {DomainError} what `work` throws, if a storage fault when it lasts for six seconds; of
 *   several faults, one after which the work may have been done
 */
const patiently = async <T>(work: () => Promise<T>): Promise<T> => {
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
  'has an email that is registered with another hash: it was there before, or the line is not the one that was imported';

/** Of the candidates, those whose email nobody has yet. */
const findFresh = async (
  candidates: readonly Candidate[],
  { present, reject }: Import,
): Promise<readonly Candidate[]> => {
  const holders = await patiently(() => findHolders(candidates.map(({ user }) => user.email)));
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

/** Stores an admin. Whoever becomes one is named by an entry of its own. */
const insertAdmin = (operator: Operator, admin: StoredUser, insert: () => Promise<void>) => {
  const { id: resource_id } = admin;
  const operation = { operator, action: 'CREATE', resource: 'users', resource_id } as const;
  const details = creationDetails(admin);
  return recordChange({ ...operation, details }, insert, { check: seeAdmins });
};

const insert = async (candidate: Candidate, id: number, run: Import): Promise<void> => {
  const { user, line } = candidate;
  const stored = { ...user, id, import_mark: importMark(user.password_hash) };
  const store = () => patiently(() => insertUser(stored));
  try {
    await (user.role === 'admin' ? insertAdmin(run.operator, stored, store) : store());
    run.imported(candidate, id);
  } catch (error) {
    if (!(error instanceof DomainError) || error.code !== 'EMAIL_REGISTERED') throw error;
    run.reject({ line, reason: 'has an email that was registered just now' });
  }
};

/**
 * Stores the users of a block who are not there yet, each of them whole or not at all, with ids in
 * the order of their lines.
 * @throws {DomainError} STORAGE_FAULT, after the users under way; of several, one after which a
 *   user may be stored who is not known to be
 * @throws {Failure} the same of an admin; or when an entry of an admin could not be written
 */
export const importBlock = async (candidates: readonly Candidate[], run: Import): Promise<void> => {
  if (candidates.length === 0) return;
  const fresh = await findFresh(candidates, run);
  if (fresh.length === 0) return;
  const firstId = await patiently(() => allocateUserIds(fresh.length));
  const rest = fresh.entries();
  const work = async () => {
    for (const [i, candidate] of rest) await insert(candidate, firstId + i, run);
  };
  const ends = await Promise.allSettled(Array.from({ length: concurrency }, work));
  const faults = ends.filter((end) => end.status === 'rejected').map(({ reason }) => reason);
  if (faults.length > 0) throw faults.find(mayHaveHappened) ?? faults[0];
};
