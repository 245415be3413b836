/** Permissions on tables, each as a text such as `dynamodb:Query on users/by-email`. */
import type { TablePermission } from '../../infra/uses.ts';
import type { EngineRequest } from './proxy.ts';

type Environment = Readonly<Record<string, string>>;

/** The permissions that some statements give. */
export const allowedBy = (permissions: readonly TablePermission[] = []): readonly string[] =>
  permissions.flatMap(({ table, actions, indexes = [undefined] }) =>
    actions.flatMap((action) => indexes.map((index) => permissionTo(action, table, index))),
  );

/** The permissions that a request to the engine takes; for a transaction, those of its items. */
export const takenBy = (
  { operation, content }: EngineRequest,
  { USERS_TABLE: users = '', AUDIT_TABLE: audit = '' }: Environment,
): readonly string[] => {
  const { TableName, IndexName, TransactItems, RequestItems } = JSON.parse(
    content.slice(operation.length),
  );
  const on = (action: string, table: string, index?: string) =>
    permissionTo(
      `dynamodb:${action}`,
      { [users]: 'users', [audit]: 'audit' }[table] ?? table,
      index,
    );
  if (TransactItems) {
    return TransactItems.flatMap((item: Record<string, { TableName: string }>) =>
      Object.entries(item).map(([kind, one]) => on(`${kind}Item`, one.TableName)),
    );
  }
  const names: readonly string[] = TableName ? [TableName] : Object.keys(RequestItems);
  return names.map((name) => on(operation, name, IndexName));
};

const permissionTo = (action: string, table: string, index?: string) =>
  `${action} on ${table}${index ? `/${index}` : ''}`;
