/** The keys of entries in the indexes of the audit table, which depend on the entries alone. */
import { createdAtKey } from '../dynamodb/tables.ts';
import type { AuditEntry } from './entry.ts';

/** The number of partitions over which a key that many writes share is spread. Each takes 1,000 writes a second. */
const shardCount = 8;
export const shards = Array.from({ length: shardCount }, (_, shard) => String(shard));

/** The shards of entries that machines posted, which share no partition with the service's own entries. */
export const postedShards = shards.map(postedKey);

/**
 * Whether a machine posted an entry, by its resource alone: the resources of the service's own entries never have a
 * dot.
 */
export function isPosted({ resource }: { readonly resource?: unknown }): boolean {
  return typeof resource === 'string' && resource.includes('.');
}

/** The key of entries that machines posted where the service's own entries have a given key. */
export function postedKey(key: string): string {
  return `m${key}`;
}

/** The index keys of an entry. An entry without the key of an index is not in that index. */
export function indexKeys(entry: AuditEntry): Readonly<Record<string, string>> {
  const { id, user_id, action, resource, resource_id, result, created_at } = entry;
  const posted = isPosted(entry);
  const keyOf = posted ? postedKey : (key: string) => key;
  const shard = keyOf(String(id % shardCount));
  const user = keyOf(String(user_id));
  return {
    created_at_id: createdAtKey({ id, created_at }),
    shard,
    action_shard: `${action}#${shard}`,
    ...(user_id === null ? {} : { user_key: user, user_action: `${user}#${action}` }),
    ...(resource_id
      ? { resource_key: posted ? postedKey(`${resource}#${resource_id}`) : resource_id }
      : {}),
    ...(result === 'FAILURE' ? { failure_shard: shard } : {}),
    ...(posted ? { resource_shard: `${resource}#${id % shardCount}` } : {}),
  };
}
