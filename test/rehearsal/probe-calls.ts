/** The calls that the role of a function must allow, and some that it must refuse. No call changes anything. */
import type { TablePermission } from '../../infra/permissions.ts';
import type { FunctionDefinition } from '../../infra/uses.ts';
import { tables } from '../../lib/dynamodb/tables.ts';
import type { ProbeCall } from './probe.ts';
import { otherCalls, type Variables } from './probe-others.ts';
import type { Outputs } from './stack.ts';

/** A condition that no item fulfils: an allowed call fails because of it, and writes nothing. */
const never = {
  ConditionExpression: 'attribute_exists(#never)',
  ExpressionAttributeNames: { '#never': 'of a proof' },
};

const dynamodb = (operation: string, input: object): ProbeCall => ({
  ...{ service: 'dynamodb', operation, input },
});

/** A key of a pattern that no item has. */
const keyOf = (pattern: string, n = 0) => ({ pk: { S: pattern.replace('*', `of-a-proof-${n}`) } });

/**
 * Each operation of a function once: on a table for each key, in a transaction of all its keys, and in a transaction of
 * all actions; and all its calls of other services.
 * @param encrypted a text that the key of second factors has encrypted
 */
export const allowedCalls = (
  definition: FunctionDefinition,
  variables: Variables,
  encrypted: string,
): readonly ProbeCall[] => [
  ...definition.permissions.flatMap((permission) => callsOf(permission, variables)),
  ...mixedTransaction(definition, variables),
  ...otherCalls(definition, variables, encrypted),
];

const tableIn = (variables: Variables, table: TablePermission['table']): string =>
  variables[table === 'users' ? 'USERS_TABLE' : 'AUDIT_TABLE'] ?? '';

const operationOf = ({ action }: TablePermission): string => action.replace('dynamodb:', '');

const callsOf = (permission: TablePermission, variables: Variables): readonly ProbeCall[] => {
  const { table, indexes = [], keys } = permission;
  const TableName = tableIn(variables, table);
  const operation = operationOf(permission);
  if (operation === 'Query') {
    return indexes.map((index) => dynamodb('Query', queryOf(table, index, TableName, keys)));
  }
  const all = table === 'audit' ? [{ id: { N: '0' } }] : (keys ?? []).map((key) => keyOf(key));
  if (operation === 'BatchGetItem') {
    return [dynamodb(operation, { RequestItems: { [TableName]: { Keys: all } } })];
  }
  const single = all.map((Key) => dynamodb(operation, inputOf(operation, TableName, Key)));
  if (operation === 'GetItem') return single;
  const TransactItems = all.map((Key) => partOf(operation, TableName, Key));
  const transaction = dynamodb('TransactWriteItems', { TransactItems });
  return operation === 'ConditionCheckItem' ? [transaction] : [...single, transaction];
};

/** An item of a transaction. */
const partOf = (operation: string, TableName: string, Key: object) => ({
  [operation.replace('Item', '')]: inputOf(operation, TableName, Key),
});

/**
 * A transaction, like the transactions of handlers, of all actions that a function may take on the keys of one pattern,
 * and of an entry.
 */
const mixedTransaction = (
  { permissions }: FunctionDefinition,
  variables: Variables,
): readonly ProbeCall[] => {
  const writes = permissions.filter(({ indexes, action }) => !indexes && !/Get/.test(action));
  const patterns = writes.flatMap(({ keys = [] }) => keys).filter((key) => key.endsWith('*'));
  const having = (pattern: string) => writes.filter(({ keys }) => keys?.includes(pattern));
  const [most = ''] = patterns.toSorted((a, b) => having(b).length - having(a).length);
  const ofUsers = having(most).map((permission, n) =>
    partOf(operationOf(permission), tableIn(variables, 'users'), keyOf(most, n)),
  );
  const ofEntries = writes
    .filter(({ table }) => table === 'audit')
    .map((permission) =>
      partOf(operationOf(permission), tableIn(variables, 'audit'), { id: { N: '0' } }),
    );
  const TransactItems = [...ofUsers, ...ofEntries];
  return TransactItems.length > 1 ? [dynamodb('TransactWriteItems', { TransactItems })] : [];
};

const inputOf = (operation: string, TableName: string, Key: object): object => {
  if (operation === 'GetItem') return { TableName, Key };
  if (operation === 'PutItem') return { TableName, Item: Key, ...never };
  if (operation !== 'UpdateItem') return { TableName, Key, ...never };
  const { ConditionExpression, ExpressionAttributeNames } = never;
  return {
    ...{ TableName, Key, ConditionExpression, ExpressionAttributeNames },
    UpdateExpression: 'REMOVE #never',
  };
};

const queryOf = (
  table: TablePermission['table'],
  IndexName: string,
  TableName: string,
  [value = '0'] = [] as readonly string[],
): object => {
  const indexes = tables.find(({ name }) => name === table)?.indexes ?? [];
  const key = indexes.find(({ name }) => name === IndexName)?.partitionKey;
  if (!key) throw new Error(`The table ${table} has no index ${IndexName}`);
  return {
    ...{ TableName, IndexName, Limit: 1, KeyConditionExpression: '#key = :p' },
    ExpressionAttributeNames: { '#key': key.name },
    ExpressionAttributeValues: { ':p': { [key.type]: value } },
  };
};

/** A call that must be refused, and whether it must be refused only because of the keys of its items. */
export interface RefusedCall extends ProbeCall {
  readonly isByKeys?: true;
}

/** The ten calls that the function of GET /api/users/{id} must not be able to make. */
export const refusedCalls = (outputs: Outputs): readonly RefusedCall[] => {
  const { UsersTableName: TableName = '', AuditTableName: AuditName = '' } = outputs;
  const user = inputOf('PutItem', TableName, keyOf('user#*'));
  const other = inputOf('GetItem', TableName, keyOf('reset#*'));
  return [
    { ...dynamodb('GetItem', other), isByKeys: true },
    dynamodb('Scan', { TableName, Limit: 1 }),
    dynamodb('PutItem', user),
    dynamodb('DeleteItem', inputOf('DeleteItem', TableName, keyOf('user#*'))),
    dynamodb('TransactWriteItems', { TransactItems: [{ Put: user }] }),
    dynamodb('Query', queryOf('users', 'admins', TableName)),
    dynamodb('UpdateItem', inputOf('UpdateItem', AuditName, { id: { N: '0' } })),
    dynamodb('DeleteItem', inputOf('DeleteItem', AuditName, { id: { N: '0' } })),
    {
      ...{ service: 'secretsmanager', operation: 'PutSecretValue' },
      input: { SecretId: outputs.SigningSecretArn, SecretString: 'of a proof' },
    },
    {
      ...{ service: 's3', operation: 'ListObjectsV2' },
      input: { Bucket: outputs.AuditArchiveBucketName, MaxKeys: 1 },
    },
  ];
};

/**
 * A transaction with an action on a key for which that function has no permission, although it has permission for the
 * action on other keys. The documents of AWS leave open whether AWS refuses the transaction.
 */
export const foreignTransaction = ({ UsersTableName = '' }: Outputs): ProbeCall =>
  dynamodb('TransactWriteItems', {
    TransactItems: [partOf('UpdateItem', UsersTableName, keyOf('user#*'))],
  });
