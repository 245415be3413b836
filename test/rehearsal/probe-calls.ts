/** The calls that the role of a function must allow, and some that it must refuse. None changes anything. */
import type { TablePermission } from '../../infra/permissions.ts';
import type { FunctionDefinition } from '../../infra/uses.ts';
import { tables } from '../../lib/dynamodb/tables.ts';
import type { ProbeCall } from './probe.ts';
import type { Outputs } from './stack.ts';

/** A condition that no item fulfils: a call that is allowed fails by it, and writes nothing. */
const never = {
  ConditionExpression: 'attribute_exists(#never)',
  ExpressionAttributeNames: { '#never': 'of a proof' },
};

const nameIn = (outputs: Outputs, table: TablePermission['table']): string =>
  outputs[table === 'users' ? 'UsersTableName' : 'AuditTableName'] ?? '';

const dynamodb = (command: string, input: object): ProbeCall => ({
  ...{ service: 'dynamodb', command, input },
});

/** A key of a pattern that no item has. */
const keyOf = (pattern: string, n = 0) => ({ pk: { S: pattern.replace('*', `of-a-proof-${n}`) } });

/** Each operation of a function once, and each that a transaction can have in a transaction of all its keys. */
export const allowedCalls = (
  { permissions }: FunctionDefinition,
  outputs: Outputs,
): readonly ProbeCall[] => permissions.flatMap((permission) => callsOf(permission, outputs));

const callsOf = (permission: TablePermission, outputs: Outputs): readonly ProbeCall[] => {
  const { table, action, indexes = [], keys } = permission;
  const TableName = nameIn(outputs, table);
  const operation = action.replace('dynamodb:', '');
  if (operation === 'Query') {
    return indexes.map((index) => dynamodb('Query', queryOf(table, index, TableName, keys)));
  }
  const all = table === 'audit' ? [{ id: { N: '0' } }] : (keys ?? []).map((key) => keyOf(key));
  if (operation === 'BatchGetItem') {
    return [dynamodb(operation, { RequestItems: { [TableName]: { Keys: all } } })];
  }
  const single = all.map((Key) => dynamodb(operation, inputOf(operation, TableName, Key)));
  if (operation === 'GetItem') return single;
  const TransactItems = all.map((Key) => ({
    [operation.replace('Item', '')]: inputOf(operation, TableName, Key),
  }));
  const transaction = dynamodb('TransactWriteItems', { TransactItems });
  return operation === 'ConditionCheckItem' ? [transaction] : [...single, transaction];
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
    ...{ TableName, IndexName, Limit: 1, KeyConditionExpression: '#key = :value' },
    ExpressionAttributeNames: { '#key': key.name },
    ExpressionAttributeValues: { ':value': { [key.type]: value } },
  };
};

/** A call that must be refused, and whether only the keys of its items say so. */
export interface RefusedCall extends ProbeCall {
  readonly isByKeys?: true;
}

/** The ten calls that a function which only reads users, and writes their entries, must not be able to make. */
export const refusedCalls = (outputs: Outputs): readonly RefusedCall[] => {
  const TableName = nameIn(outputs, 'users');
  const AuditName = nameIn(outputs, 'audit');
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
      ...{ service: 'secrets', command: 'PutSecretValue' },
      input: { SecretId: outputs.SigningSecretArn, SecretString: 'of a proof' },
    },
    {
      ...{ service: 's3', command: 'ListObjectsV2' },
      input: { Bucket: outputs.AuditArchiveBucketName, MaxKeys: 1 },
    },
  ];
};
