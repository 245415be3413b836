/** Machines that tests make, and their requests. */
import { UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { inject } from 'vitest';
import type { Scope } from '../../lib/options/machines/machine.ts';
import type { ApiAnswer, ApiClient } from './client.ts';
import { engineClient } from './stored-items.ts';

export interface TestMachine {
  readonly id: number;
  readonly key: string;
}

/** Makes a machine. @param token of an admin */
export const makeMachine = async (
  api: ApiClient,
  token: string,
  scopes: readonly Scope[],
  fields: object = {},
): Promise<TestMachine> => {
  const json = { name: 'Billing', scopes, ...fields };
  const { status, body } = await api('POST', '/api/machines', { token, json });
  if (status !== 201) throw new Error(`The machine was answered ${status} ${JSON.stringify(body)}`);
  return { id: body.id, key: body.key };
};

/** Posts entries to the trail. @param token the key of a machine @param key of the request */
export const postAs = (
  api: ApiClient,
  token: string,
  key: string,
  entries: unknown,
  headers: Readonly<Record<string, string>> = {},
): Promise<ApiAnswer> =>
  api('POST', '/api/admin/audit-logs', {
    token,
    headers: { 'idempotency-key': key, ...headers },
    json: { entries },
  });

/** Writes the list of all machines, whether or not there are machines with these ids. */
export const fillMachines = async (TableName: string, ids: readonly number[]): Promise<void> => {
  await engineClient(inject('engine')).send(
    new UpdateCommand({
      TableName,
      Key: { pk: 'machines' },
      UpdateExpression: 'SET ids = :ids',
      ExpressionAttributeValues: { ':ids': new Set(ids) },
    }),
  );
};
