/** Both tables as they are, and a way back. */
import { DeleteCommand, PutCommand, ScanCommand } from '@aws-sdk/lib-dynamodb';
import { inject } from 'vitest';
import type { AuditEntry } from '../../lib/audit/entry.ts';
import { engineClient, type Item } from '../support/stored-items.ts';
import type { Handlers } from './handlers.ts';

export interface Snapshot {
  readonly users: readonly Item[];
  /** Oldest first. */
  readonly audit: readonly AuditEntry[];
}

const same = (one: Item | undefined, other: Item) => JSON.stringify(one) === JSON.stringify(other);

export const openTables = ({ usersTable, auditTable }: Handlers) => {
  const client = engineClient(inject('engine'));
  const scanOnce = async (TableName: string): Promise<readonly Item[]> => {
    const scan = new ScanCommand({ TableName, ConsistentRead: true });
    const { Items = [], LastEvaluatedKey } = await client.send(scan);
    if (LastEvaluatedKey) throw new Error(`${TableName} has outgrown one scan`);
    return Items;
  };
  const read = async (): Promise<Snapshot> => {
    const [users = [], audit = []] = await Promise.all([usersTable, auditTable].map(scanOnce));
    return {
      users,
      audit: (audit as unknown as AuditEntry[]).sort((a, b) => a.id - b.id),
    };
  };
  /** Undoes whatever was written between two snapshots, and empties the audit table. */
  const restore = async (before: Snapshot, after: Snapshot) => {
    const old = new Map(before.users.map((item) => [item.pk, item]));
    const kept = new Set(after.users.map(({ pk }) => pk));
    const added = after.users.filter(({ pk }) => !old.has(pk));
    const changed = after.users.filter((item) => old.has(item.pk) && !same(old.get(item.pk), item));
    const lost = before.users.filter(({ pk }) => !kept.has(pk));
    await Promise.all(
      [
        ...added.map(({ pk }) => new DeleteCommand({ TableName: usersTable, Key: { pk } })),
        ...after.audit.map(({ id }) => new DeleteCommand({ TableName: auditTable, Key: { id } })),
      ].map((command) => client.send(command)),
    );
    await Promise.all(
      [...lost, ...changed.map(({ pk }) => old.get(pk))].map((Item) =>
        client.send(new PutCommand({ TableName: usersTable, Item })),
      ),
    );
  };
  return { read, restore };
};
