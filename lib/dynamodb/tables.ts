/**
 * The tables and their indexes, as data. The stack, the local service and the tests build them
 * from here; the stores name attributes and indexes from here.
 */
import { variableOf } from '../ground/settings.ts';

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
  /** The logical name, and the setting that holds the name of the real table. */
  readonly name: 'users' | 'audit';
  readonly variable: string;
  readonly partitionKey: KeyAttribute;
  readonly indexes: readonly IndexDefinition[];
  /** The attribute with the time (seconds since 1970) after which DynamoDB may delete an item. */
  readonly timeToLive?: string;
}

/**
 * Sort key of every index: created_at, then the id, so that entries of one millisecond have an
 * order that a cursor can resume in. Text, because ISO 8601 sorts as time does.
 */
const createdAtAndId: KeyAttribute = { name: 'created_at_id', type: 'S' };

export const createdAtKey = ({ id, created_at }: { id: number; created_at: string }): string =>
  `${created_at}#${String(id).padStart(16, '0')}`;

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
] as const;

/** An index by creation, whose partition a key has. */
const byCreation = <Name extends string>(name: Name, partition: string) => ({
  name,
  partitionKey: { name: partition, type: 'S' } as const,
  sortKey: createdAtAndId,
});

/** The index of the list has one partition, which takes as many writes as the counter of ids does. */
export const usersIndexes = {
  byCreatedAt: { ...byCreation('by_created_at', 'listing'), include: listed },
  // Only admins have its partition key, so that they are found without reading everyone.
  admins: { ...byCreation('admins', 'admin_listing'), include: listed },
} as const;

/**
 * The items of users: themselves, their addresses, identities, sessions and links; the counter of ids; counts
 * of attempts and of mails; used nonces; marks of audit queries; what the console shows of the seal, and whether it
 * requests a check of it. The prefix of `pk` distinguishes them.
 */
export const usersTable = {
  name: 'users',
  variable: variableOf('usersTable'),
  partitionKey: { name: 'pk', type: 'S' },
  indexes: Object.values(usersIndexes),
  timeToLive: 'expires_at',
} as const satisfies TableDefinition;

/**
 * The indexes that queries of audit entries read. Where many writes would share a key (all entries; all
 * entries of one action; all failures), the key has a shard number in it. An entry is only in the indexes whose
 * keys it has. A deployed table gets new indexes one at a time, so that a new one is added at the end.
 */
export const auditIndexes = {
  byCreatedAt: byCreation('by_created_at', 'shard'),
  byUserId: byCreation('by_user_id', 'user_key'),
  byAction: byCreation('by_action', 'action_shard'),
  byUserIdAndAction: byCreation('by_user_id_and_action', 'user_action'),
  byResourceId: byCreation('by_resource_id', 'resource_key'),
  failures: byCreation('failures', 'failure_shard'),
} as const;

/** Audit entries. They have the attribute `expires_at` unless AUDIT_RETENTION_DAYS is 0. */
export const auditTable = {
  name: 'audit',
  variable: variableOf('auditTable'),
  partitionKey: { name: 'id', type: 'N' },
  indexes: Object.values(auditIndexes),
  timeToLive: 'expires_at',
} as const satisfies TableDefinition;

export const tables: readonly TableDefinition[] = [usersTable, auditTable];
