/** How machines are written (functions/README.md, Machines). */
import { type Step, transact, untilWritten } from '../../dynamodb/client.ts';
import { config } from '../../ground/settings.ts';
import { type Change, merged, newVersion } from '../../users/item.ts';
import { allocateIds } from '../../users/store.ts';
import { unchanged } from '../../users/write.ts';
import { listKey, type Machine, machineKey, readMachine, usedKey } from './machine.ts';

/** The most machines that a service may have: together they are read in one batch. */
export const mostMachines = 100;

export function allocateMachineId(): Promise<number> {
  return allocateIds(listKey, 'last');
}

/**
 * Stores a new machine, and its id in the list of all, whose size is the limit.
 * @throws {DomainError} the error of a condition that does not hold, MACHINES_LIMITED
 */
export async function insertMachine(
  machine: Machine,
  ...changes: readonly Change[]
): Promise<void> {
  const listed = {
    TableName: config.usersTable,
    Key: listKey,
    UpdateExpression: 'ADD ids :id',
    ConditionExpression: 'attribute_not_exists(ids) OR size(ids) < :most',
    ExpressionAttributeValues: { ':id': new Set([machine.id]), ':most': mostMachines },
  };
  await transact([
    ...merged(...changes).steps,
    [{ Update: listed }, 'MACHINES_LIMITED'],
    [putting(machine, { ConditionExpression: 'attribute_not_exists(pk)' }), 'STORAGE_FAULT'],
  ]);
}

/**
 * Reads a machine, decides and writes, as {@link untilWritten} does.
 * @param changed the machine as it is to be, and further conditions of the same transaction
 * @returns the machine before and after
 * @throws {DomainError} MACHINE_NOT_FOUND, the error of a condition that does not hold
 */
export function rewriteMachine(
  id: number,
  changed: (before: Machine) => Omit<Machine, 'version'>,
  condition: Change,
): Promise<{ before: Machine; after: Machine }> {
  return untilWritten(
    () => readMachine(id),
    async (before) => {
      const after = { ...changed(before), version: newVersion() };
      const { steps } = merged(condition);
      await transact([...steps, [putting(after, unchanged(before))]], after.version);
      return { before, after };
    },
  );
}

/**
 * Removes a machine, its place in the list, and the day of its last use.
 * @throws {DomainError} MACHINE_NOT_FOUND if it was removed meanwhile
 */
export async function deleteMachine({ id }: Machine): Promise<void> {
  const TableName = config.usersTable;
  const unlisted = {
    TableName,
    Key: listKey,
    UpdateExpression: 'DELETE ids :id',
    ExpressionAttributeValues: { ':id': new Set([id]) },
  };
  const condition = { ConditionExpression: 'attribute_exists(pk)' };
  await transact([
    [{ Update: unlisted }],
    [{ Delete: { TableName, Key: machineKey(id), ...condition } }, 'MACHINE_NOT_FOUND'],
    [{ Delete: { TableName, Key: usedKey(id) } }],
  ]);
}

function putting(machine: Machine, condition: object): Step[0] {
  const Item = { ...machineKey(machine.id), ...machine };
  const ReturnValuesOnConditionCheckFailure = 'ALL_OLD';
  return {
    Put: {
      TableName: config.usersTable,
      Item,
      ...condition,
      ReturnValuesOnConditionCheckFailure,
    },
  };
}
