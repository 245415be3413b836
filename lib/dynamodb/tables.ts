/**
 * The tables and their indexes, as data. The stack, the local service and the tests build them
 * from here; the stores name attributes and indexes from here.
 */
import { settings } from '../settings.ts';

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
  readonly variable: 'USERS_TABLE' | 'AUDIT_TABLE';
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

/** Whether a sort key has the form that the service gives it, by any clock from 0000 to 9999. */
export const isCreatedAtKey = (key: string): boolean =>
  /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z#\d{16}$/.test(key);

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
] as const;

/**
 * The items of users: themselves, their addresses, sessions and links; the counter of ids; counts of
 * attempts; and marks of audit queries. The prefix of `pk` distinguishes them.
 * The index of the list has one partition, which takes as many writes as the counter of ids does.
 */
export const usersTable = {
  name: 'users',
  variable: settings.usersTable.variable,
  partitionKey: { name: 'pk', type: 'S' },
  indexes: [
    {
      name: 'by_created_at',
      partitionKey: { name: 'listing', type: 'S' },
      sortKey: createdAtAndId,
      include: listed,
    },
    // Only admins have its partition key, so that they are found without reading everyone.
    {
      name: 'admins',
      partitionKey: { name: 'admin_listing', type: 'S' },
      sortKey: createdAtAndId,
      include: listed,
    },
  ],
  timeToLive: 'expires_at',
} as const satisfies TableDefinition;

/**
 * Audit entries, with the indexes that queries read. Where many writes would share a key (all
 * entries; all entries of one action; all failures), the key has a shard number in it. The last two
 * are sparse: only entries that have their keys are in them. A deployed table gets new indexes one
 * at a time, so that a new one is added at the end.
 */
export const auditTable = {
  name: 'audit',
  variable: settings.auditTable.variable,
  partitionKey: { name: 'id', type: 'N' },
  indexes: [
    {
      name: 'by_created_at',
      partitionKey: { name: 'shard', type: 'S' },
      sortKey: createdAtAndId,
    },
    {
      name: 'by_user_id',
      partitionKey: { name: 'user_key', type: 'S' },
      sortKey: createdAtAndId,
    },
    {
      name: 'by_action',
      partitionKey: { name: 'action_shard', type: 'S' },
      sortKey: createdAtAndId,
    },
    {
      name: 'by_user_id_and_action',
      partitionKey: { name: 'user_action', type: 'S' },
      sortKey: createdAtAndId,
    },
    {
      name: 'by_resource_id',
      partitionKey: { name: 'resource_key', type: 'S' },
      sortKey: createdAtAndId,
    },
    {
      name: 'failures',
      partitionKey: { name: 'failure_shard', type: 'S' },
      sortKey: createdAtAndId,
    },
  ],
  // Entries have this attribute unless AUDIT_RETENTION_DAYS is 0.
  timeToLive: 'expires_at',
} as const satisfies TableDefinition;

export const tables: readonly TableDefinition[] = [usersTable, auditTable];
