/**
 * The tables and their indexes, as data. The stack, the local service and the tests build them from this data, and
 * the stores take the names of attributes and indexes from it.
 */
import { variableOf } from '../ground/setting.ts';

export interface KeyAttribute {
  readonly name: string;
  readonly type: 'S' | 'N';
}

export interface IndexDefinition {
  readonly name: string;
  readonly partitionKey: KeyAttribute;
  readonly sortKey: KeyAttribute;
  /** The attributes that the index has besides its keys; absent: all of them. */
  readonly include?: readonly string[];
}

export interface TableDefinition {
  readonly name: 'users' | 'audit';
  readonly variable: string;
  readonly partitionKey: KeyAttribute;
  readonly indexes: readonly IndexDefinition[];
  /** The attribute with the time (seconds since 1970) after which DynamoDB may delete an item. */
  readonly timeToLive?: string;
}

export function createdAtKey({ id, created_at }: { id: number; created_at: string }): string {
  return `${created_at}#${String(id).padStart(16, '0')}`;
}

/**
 * The sort key of each index by creation: created_at, then the id, so that even entries of the same millisecond have an
 * order in which a cursor can resume. It is text, because times in ISO 8601, sorted as text, are in order.
 */
const createdAtAndId: KeyAttribute = { name: 'created_at_id', type: 'S' };

/** The attributes of a user that lists show. */
const listed = [
  'id',
  'name',
  'email',
  'role',
  'created_at',
  'email_verified',
  'pending_email',
  'pending_until',
  'suspended_at',
  'auditor',
  'invited_until',
] as const;

/** The index of all users has one partition, which allows as many writes as the counter of ids does. */
export const usersIndexes = {
  byCreatedAt: { ...byCreation('by_created_at', 'listing'), include: listed },
  // Only items of admins have the partition key of this index, so that admins are found without reading all users.
  admins: { ...byCreation('admins', 'admin_listing'), include: listed },
  // Only the items that say when users were last seen have its keys. The sort key is the day, and then the id.
  lastSeen: {
    name: 'last_seen',
    partitionKey: { name: 'seen_shard', type: 'S' },
    sortKey: { name: 'seen_on_id', type: 'S' },
    include: ['user_id', 'seen_on'],
  },
} as const;

/** The users table has items of several kinds; the keys of each kind follow one {@link KeyPattern}. */
export const usersTable = {
  name: 'users',
  variable: variableOf('usersTable'),
  partitionKey: { name: 'pk', type: 'S' },
  indexes: Object.values(usersIndexes),
  timeToLive: 'expires_at',
} as const satisfies TableDefinition;

/**
 * The indexes that queries of audit entries read. Where many writes would have the same key (all entries; all entries
 * of one action; all failures), the key contains the number of a shard. An entry is only in the indexes whose keys it
 * has. New indexes are added at the end, because a deployed table gets new indexes one at a time.
 */
export const auditIndexes = {
  byCreatedAt: byCreation('by_created_at', 'shard'),
  byUserId: byCreation('by_user_id', 'user_key'),
  byAction: byCreation('by_action', 'action_shard'),
  byUserIdAndAction: byCreation('by_user_id_and_action', 'user_action'),
  byResourceId: byCreation('by_resource_id', 'resource_key'),
  failures: byCreation('failures', 'failure_shard'),
  // Only entries that machines posted have the partition key of this index.
  byResource: byCreation('by_resource', 'resource_shard'),
} as const;

export const replayId = 'replay';

/** Audit entries. They have the attribute `expires_at` unless AUDIT_RETENTION_DAYS is 0. */
export const auditTable = {
  name: 'audit',
  variable: variableOf('auditTable'),
  partitionKey: { name: 'id', type: 'N' },
  indexes: Object.values(auditIndexes),
  timeToLive: 'expires_at',
} as const satisfies TableDefinition;

/**
 * The keys of the users table. Each kind of item has a pattern, from which {@link itemKey} makes the keys of its items.
 * Permissions name the same patterns (infra/permissions.ts), so that they allow the keys that the code uses.
 */
export type KeyPattern =
  | 'user#*'
  /** An address or an identity that belongs to a user, so that nobody else can have it. */
  | 'email#*'
  | 'identity#*'
  /** The public key of a passkey, and its last use, by the id of its credential. */
  | 'passkey#*'
  | 'sessions#*'
  | 'seen#*'
  /** The newest link of a user that resets the password, and the newest link that verifies an address. */
  | 'reset#*'
  | 'address#*'
  /** Counts of attempts, and the item that is written in place of a user if the address is taken. */
  | 'attempts#login#*'
  | 'attempts#register#*'
  | 'attempts#mail#*'
  | 'attempts#taken#*'
  | 'mails#*'
  | 'nonce#*'
  /**
   * The list of machines; each machine; the day of its last use; and the item of an Idempotency-Key. `machines` and
   * `machine#*` never have the attribute of the table's time to live.
   */
  | 'machines'
  | 'machine#*'
  | 'machine-used#*'
  | 'posted#*'
  /** Marks of audit queries. */
  | 'audit-read#*'
  /**
   * The newest header of the seal, which the console shows; the request of an admin to check the seal; and the whole
   * check that an admin has requested last.
   */
  | 'audit-seal'
  | 'audit-seal-check'
  | 'audit-seal-whole'
  | 'counter';

/** The key of an item: its pattern, with the distinguishing part in place of `*`. */
export function itemKey(pattern: KeyPattern, ...parts: readonly (string | number)[]) {
  return {
    pk: pattern.replace('*', () => parts.join('#')),
  };
}

export const tables: readonly TableDefinition[] = [usersTable, auditTable];

function byCreation<Name extends string>(name: Name, partition: string) {
  return {
    name,
    partitionKey: { name: partition, type: 'S' } as const,
    sortKey: createdAtAndId,
  };
}
