/** The uses that handlers can have, and the permissions on tables that each use requires. */
import {
  auditIndexes,
  type IndexDefinition,
  type KeyPattern,
  replayId,
  usersIndexes,
} from '../lib/dynamodb/tables.ts';
import {
  hasAttributes,
  hasFactors,
  hasIdentities,
  hasMachines,
  hasPasskeys,
  hasSessions,
  hidesAccounts,
  type ServiceValues,
  sendsMail,
} from '../lib/ground/settings.ts';

/** An IAM action that a function may do on a table or on its indexes. */
export interface TablePermission {
  readonly table: 'users' | 'audit';
  readonly action: `dynamodb:${string}`;
  /** Absent: the table itself. */
  readonly indexes?: readonly string[];
  /** The patterns of the partition keys for which it is allowed; absent: all keys. */
  readonly keys?: readonly string[];
}

export type Condition = (settings: ServiceValues) => boolean;

/** A permission of a use, and the condition on the settings under which the use needs it; absent: it always does. */
export interface UsePermission extends TablePermission {
  readonly isNeeded?: Condition;
}

export const verifiesAddresses: Condition = ({ emailVerification }) => emailVerification !== 'off';
/**
 * Without sessions, a handler must read the caller itself; with sessions, callers are read together with their session.
 */
export const lacksSessions: Condition = (settings) => !hasSessions(settings);
export const signsBySecret: Condition = ({ tokenSigning }) => tokenSigning === 'HS256';
/** Whether users get a token when they register, before their address is verified. */
export const logsInNewUsers: Condition = ({ emailVerification }) =>
  emailVerification !== 'required';

/** The indexes of the audit table that hold entries of the service itself. */
const ownIndexes = Object.values(auditIndexes).filter((index) => index !== auditIndexes.byResource);

/** All actions that a transaction can do on items. */
const anyWrite = ['UpdateItem', 'PutItem', 'DeleteItem', 'ConditionCheckItem'] as const;

const session = where(
  hasSessions,
  users('BatchGetItem', 'user#*', 'sessions#*'),
  users('UpdateItem', 'sessions#*'),
);

const countingFailures = [
  users('BatchGetItem', 'attempts#login#*'),
  users('UpdateItem', 'attempts#login#*'),
] as const;

/**
 * The uses that a handler can have, with the permissions on tables that they require; other permissions are in
 * stack/function.ts. Each permission on the users table names its keys. Data of an option that is off may still be
 * stored: deletions and new passwords remove identities and passkeys under all settings.
 */
export const permissionsOf = {
  /**
   * Reads the caller and the caller's session, and records the first use of a token; the contract says which handlers
   * have a caller.
   */
  caller: session,
  /**
   * Signs and verifies with the secret: nonces, cursors, keys of counts, and tokens unless they are signed with a key.
   */
  'signing-secret': [],
  /** Hashes passwords, which takes processor time: its routes have a throttle of their own. */
  passwords: [],
  /** Finds the user who logs in, by the address. */
  'login.find': [users('BatchGetItem', 'email#*'), users('GetItem', 'user#*')],
  /** Counts failed logins, and forgets the failed logins of an account. */
  'failures.count': countingFailures,
  'failures.forget': [users('DeleteItem', 'attempts#login#*')],
  /** Counts wrong confirmations as failed logins; users confirm changes only if there are sessions. */
  'failures.confirm': where(hasSessions, ...countingFailures),
  'registrations.count': where(
    ({ registrationsPerAddress }) => registrationsPerAddress > 0,
    users('UpdateItem', 'attempts#register#*'),
  ),
  /** Begins a session. The first session of a new user is written together with the user. */
  'sessions.begin': where(
    hasSessions,
    users('GetItem', 'sessions#*'),
    users('UpdateItem', 'sessions#*'),
  ),
  'sessions.first': where(hasSessions, users('PutItem', 'sessions#*')),
  /** Refreshes or ends a session. */
  'sessions.change': session,
  'users.read': [users('GetItem', 'user#*')],
  /** Finds a user by an address. */
  'users.find': [users('GetItem', 'email#*', 'user#*')],
  /** Looks up who has the address that a user requests, if the user may learn this. */
  'users.holder': where(
    (settings) => verifiesAddresses(settings) && !hidesAccounts(settings),
    users('GetItem', 'email#*'),
  ),
  'users.list': [query('users', [usersIndexes.byCreatedAt, usersIndexes.admins])],
  /** Notes and reads the day on which a user was last seen. */
  'seen.note': where(hasSessions, users('UpdateItem', 'seen#*')),
  'seen.read': where(hasSessions, users('GetItem', 'seen#*')),
  /** Lists users by that day, and deletes the days of users who were deleted. */
  'seen.list': where(
    hasSessions,
    query('users', [usersIndexes.lastSeen]),
    users('BatchGetItem', 'user#*'),
    users('DeleteItem', 'seen#*'),
  ),
  'users.create': [users('UpdateItem', 'counter'), users('PutItem', 'email#*', 'user#*')],
  /** Creates admins too, after a check that the caller is an admin. */
  'users.create-admin': [users('ConditionCheckItem', 'email#*', 'user#*')],
  /** Writes an item even if the address is taken, if nobody may learn that it is taken. */
  'users.conceal': where(
    hidesAccounts,
    users('GetItem', 'email#*'),
    users('PutItem', 'attempts#taken#*'),
  ),
  'users.change': [users('GetItem', 'user#*'), users('UpdateItem', 'user#*')],
  /**
   * Makes every change of a user: sets another address, at once or by a link, and makes other links void; unlinks
   * identities; removes passkeys; and makes the user an admin, which is logged, after a check that the caller is an
   * admin.
   */
  'users.rewrite': [
    ...transaction(anyWrite, ['user#*', 'email#*', 'identity#*', 'passkey#*']),
    ...where(sendsMail, ...transaction(anyWrite, ['reset#*'])),
    ...where(verifiesAddresses, users('UpdateItem', 'address#*')),
  ],
  'users.delete': [
    users('GetItem', 'user#*'),
    users('DeleteItem', 'user#*', 'email#*', 'identity#*', 'passkey#*'),
    ...where(hasSessions, users('DeleteItem', 'sessions#*', 'seen#*')),
  ],
  /** Deletes the caller: an admin only if there is another admin. */
  'users.delete-own': [
    ...transaction(
      ['DeleteItem', 'ConditionCheckItem'],
      ['user#*', 'email#*', 'identity#*', 'passkey#*', 'sessions#*', 'seen#*'],
    ),
    query('users', [usersIndexes.admins]),
  ],
  /** Checks that the caller is an admin. */
  'admins.check': [users('ConditionCheckItem', 'user#*')],
  /** Suspends an admin only if there is another admin. */
  'admins.other': [users('ConditionCheckItem', 'user#*'), query('users', [usersIndexes.admins])],
  /** Uses up a link, and changes its user. */
  'links.reset': [
    users('BatchGetItem', 'reset#*', 'user#*'),
    ...transaction(
      ['UpdateItem', 'DeleteItem'],
      ['reset#*', 'user#*', 'identity#*', 'passkey#*', 'attempts#login#*'],
    ),
  ],
  'links.address': [
    users('BatchGetItem', 'address#*', 'user#*', 'sessions#*'),
    ...transaction(
      ['UpdateItem', 'PutItem', 'DeleteItem'],
      ['address#*', 'user#*', 'email#*', 'reset#*'],
    ),
  ],
  'audit.write': [audit('PutItem')],
  'audit.query': [
    query('audit', ownIndexes),
    ...where(hasMachines, query('audit', [auditIndexes.byResource])),
  ],
  /** Stores entries that machines post, once for each key. */
  'audit.post': [
    users('PutItem', 'posted#*'),
    users('GetItem', 'posted#*'),
    users('UpdateItem', 'posted#*'),
    audit('PutItem'),
    audit('BatchGetItem'),
  ],
  /** Leaves marks of queries, so that the same query is recorded at most once an hour. */
  'audit.mark': where(
    ({ auditDetail }) => auditDetail === 'full',
    users('PutItem', 'audit-read#*'),
  ),
  'audit.seal': [
    query('audit', [auditIndexes.byCreatedAt]),
    audit('BatchGetItem'),
    // The item that shows the newest header (lib/seal/newest-header.ts), and the items that request checks.
    users('GetItem', 'audit-seal', 'audit-seal-check', 'audit-seal-whole'),
    users('PutItem', 'audit-seal', 'audit-seal-whole'),
    users('DeleteItem', 'audit-seal-check'),
  ],
  /** Finds out which entries were replayed. */
  'audit.publish': [query('audit', [auditIndexes.byResourceId], [replayId])],
  /** Shows the newest header, and the public key that verifies it. */
  seal: [users('GetItem', 'audit-seal')],
  /** Shows the progress of a whole check. */
  'seal.progress': [users('GetItem', 'audit-seal-whole')],
  /** Compares an entry with its line in the archive, and finds out with which other entry it was replayed. */
  'seal.compare': [audit('BatchGetItem'), query('audit', [auditIndexes.byResourceId], [replayId])],
  /** Knows whether there is a sealed trail. */
  'seal.told': [],
  /** Knows how long entries are kept. */
  'settings.told': [],
  /** Requests a check, by a mark that the sealer removes, or a whole check. */
  'seal.request': [users('PutItem', 'audit-seal-check', 'audit-seal-whole')],
  /** Hands messages over to the function that sends mails, if there is one, and counts the requests of each source. */
  mail: where(sendsMail, users('UpdateItem', 'attempts#mail#*')),
  /** Finds out when mail may be sent to an address again, which some callers learn. */
  'mail.told': where(sendsMail, users('GetItem', 'mails#*')),
  /** Makes links, and counts mails. */
  'mail.send': [
    users('GetItem', 'mails#*'),
    users('UpdateItem', 'mails#*'),
    users('PutItem', 'reset#*'),
    ...where(verifiesAddresses, users('PutItem', 'address#*')),
  ],
  /** Uses the key of second factors. */
  'factor.encrypt': [],
  'factor.decrypt': [],
  /** Verifies ID tokens, whose nonces it stores; the list of issuers is a file beside the handler's code. */
  identities: where(hasIdentities, users('PutItem', 'nonce#*')),
  /** Knows the declared attributes of users, a list in a file beside the handler's code. */
  attributes: [],
  /** Reads all data of the users on a page of the list. */
  'users.whole': where(
    (settings) => hasAttributes(settings) || hasFactors(settings),
    users('BatchGetItem', 'user#*'),
  ),
  /** Finds, links and unlinks identities. */
  'identities.link': [
    users('GetItem', 'identity#*'),
    ...transaction(['UpdateItem', 'PutItem'], ['user#*', 'identity#*', 'nonce#*']),
    ...transaction(['UpdateItem', 'DeleteItem'], ['user#*', 'identity#*']),
  ],
  /** Finds, adds, lists, uses and removes passkeys, and stores challenges when they are used. */
  passkeys: [
    users('PutItem', 'nonce#*'),
    users('GetItem', 'passkey#*'),
    users('BatchGetItem', 'passkey#*'),
    users('UpdateItem', 'passkey#*'),
    ...transaction(['UpdateItem', 'PutItem'], ['user#*', 'passkey#*', 'nonce#*']),
    ...transaction(['UpdateItem', 'DeleteItem'], ['user#*', 'passkey#*']),
  ],
  /** Removes the passkeys of another user. */
  'passkeys.remove': where(
    hasPasskeys,
    ...transaction(['UpdateItem', 'DeleteItem'], ['user#*', 'passkey#*']),
  ),
  /** Reads the machine of a key, and notes the use of the key. */
  machine: where(hasMachines, users('GetItem', 'machine#*'), users('UpdateItem', 'machine-used#*')),
  /** Lists, makes, changes and removes machines, after a check that the caller is an admin. */
  machines: [
    users('GetItem', 'machines', 'machine#*'),
    users('BatchGetItem', 'machine#*', 'machine-used#*'),
    ...transaction(
      ['ConditionCheckItem', 'UpdateItem', 'PutItem'],
      ['machines', 'machine#*', 'user#*'],
    ),
    ...transaction(['UpdateItem', 'DeleteItem'], ['machines', 'machine#*', 'machine-used#*']),
  ],
  /** Reads the public keys of tokens, as every handler with a caller does. The next use signs tokens with a key. */
  'keys.read': [],
  'keys.sign': [],
  /** Serves the files of the page that has the function's name; see static-files.ts. */
  files: [],
  /** Keeps its state in its process (functions/README.md, In-memory variant). */
  memory: [],
} as const satisfies Readonly<Record<string, readonly UsePermission[]>>;

export type Use = keyof typeof permissionsOf;

/** Uses that a handler has only under some settings. */
export interface SomeUses {
  readonly isNeeded: Condition;
  readonly uses: readonly Use[];
}

export type Uses = Readonly<Record<string, readonly (Use | SomeUses)[]>>;

export function when(isNeeded: Condition, ...uses: readonly Use[]): SomeUses {
  return { isNeeded, uses };
}

/** The uses of every handler that has a caller, as its contract says. */
export const callers = ['caller', 'keys.read', when(signsBySecret, 'signing-secret')] as const;

/** The uses of a handler whose caller confirms a request by a password or an ID token. */
export const confirmation = [
  'signing-secret',
  'passwords',
  'identities',
  'failures.count',
] as const;

export const logins = [
  'attributes',
  'signing-secret',
  'keys.read',
  'keys.sign',
  'failures.count',
  'failures.forget',
  'users.change',
  'sessions.begin',
  'seen.note',
  'factor.decrypt',
] as const;

function where(isNeeded: Condition, ...permissions: readonly TablePermission[]): UsePermission[] {
  return permissions.map((permission) => ({ ...permission, isNeeded }));
}

function users(action: string, ...keys: readonly KeyPattern[]): TablePermission {
  return { table: 'users', action: `dynamodb:${action}`, keys };
}

/** The permission to query indexes. Without partition keys, it is for all entries of the indexes. */
function query(
  table: TablePermission['table'],
  indexes: readonly IndexDefinition[],
  keys?: readonly string[],
): TablePermission {
  return {
    table,
    action: 'dynamodb:Query',
    indexes: indexes.map(({ name }) => name),
    ...(keys ? { keys } : {}),
  };
}

/**
 * The permissions for a transaction: each action with the keys of all items of the transaction, because it is not known
 * whether AWS checks an action only against the keys of its own items.
 */
function transaction(actions: readonly string[], keys: readonly KeyPattern[]) {
  return actions.map((action) => users(action, ...keys));
}

function audit(action: string): TablePermission {
  return { table: 'audit', action: `dynamodb:${action}` };
}
