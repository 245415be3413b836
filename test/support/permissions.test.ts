/** Tests test/support/permissions.ts, which checks the requests of all services within their tests. */
import { expect, it } from 'vitest';
import type { TablePermission } from '../../infra/permissions.ts';
import { isAllowed, takenBy } from './permissions.ts';

const environment = { USERS_TABLE: 'u', AUDIT_TABLE: 'a' };
const pk = (key: string) => ({ pk: { S: key } });
const item = (key: string) => ({ TableName: 'u', Key: pk(key) });
const batch = { RequestItems: { u: { Keys: [pk('user#1'), pk('sessions#1')] } } };
const transaction = {
  TransactItems: [
    { Update: item('user#1') },
    { Delete: item('email#a') },
    { Put: { TableName: 'u', Item: pk('email#b') } },
    { Put: { TableName: 'u', Item: pk('nonce#c') } },
  ],
};
const entry = { id: { N: '1' } };
const query = {
  TableName: 'a',
  IndexName: 'by_resource_id',
  ExpressionAttributeValues: { ':p': { S: 'replay' } },
};

const may = (action: string, ...keys: readonly string[]): TablePermission => ({
  table: 'users',
  action: `dynamodb:${action}`,
  keys,
});
const mayQuery = (index: string, key: string): TablePermission => ({
  table: 'audit',
  action: 'dynamodb:Query',
  indexes: [index],
  keys: [key],
});
const inTransaction = (...keys: readonly string[]) =>
  ['UpdateItem', 'DeleteItem', 'PutItem'].map((action) => may(action, ...keys));

// biome-ignore format: a table
it.each<[string, string, object, readonly TablePermission[], boolean]>([
  ['one key', 'GetItem', item('user#1'), [may('GetItem', 'user#*')], true],
  ['a key of another kind', 'GetItem', item('user#1'), [may('GetItem', 'users#*')], false],
  ['the one key of its kind', 'UpdateItem', item('counter'), [may('UpdateItem', 'counter')], true],
  ['a longer key', 'UpdateItem', item('counters'), [may('UpdateItem', 'counter')], false],
  ['another action', 'GetItem', item('user#1'), [may('BatchGetItem', 'user#*')], false],
  ['a batch whose keys one permission names', 'BatchGetItem', batch, [may('BatchGetItem', 'user#*', 'sessions#*')], true],
  [
    'a batch whose keys two permissions name together',
    'BatchGetItem',
    batch,
    [may('BatchGetItem', 'user#*'), may('BatchGetItem', 'sessions#*')],
    false,
  ],
  [
    'a transaction whose actions are each allowed all of its keys',
    'TransactWriteItems',
    transaction,
    inTransaction('user#*', 'email#*', 'nonce#*'),
    true,
  ],
  [
    'a transaction with an action that is allowed only the keys of its own items',
    'TransactWriteItems',
    transaction,
    [...inTransaction('user#*', 'email#*', 'nonce#*').slice(1), may('UpdateItem', 'user#*')],
    false,
  ],
  [
    'a transaction with an item of another table that is allowed its own keys',
    'TransactWriteItems',
    { TransactItems: [{ Update: item('user#1') }, { Put: { TableName: 'a', Item: entry } }] },
    [may('UpdateItem', 'user#*'), { table: 'audit', action: 'dynamodb:PutItem', keys: ['1'] }],
    true,
  ],
  ['a partition of an index', 'Query', query, [mayQuery('by_resource_id', 'replay')], true],
  ['another partition', 'Query', query, [mayQuery('by_resource_id', '1')], false],
  ['another index', 'Query', query, [mayQuery('by_user_id', 'replay')], false],
  [
    'an item by a number, where all keys are allowed',
    'PutItem',
    { TableName: 'a', Item: entry },
    [{ table: 'audit', action: 'dynamodb:PutItem' }],
    true,
  ],
])('IAM allows or refuses a request: %s', (_, operation, request, permissions, allowed) => {
  const taken = takenBy(operation, request, environment);

  expect(taken.every((one) => isAllowed(one, permissions))).toBe(allowed);
});
