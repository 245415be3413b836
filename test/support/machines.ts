/** Machines that tests make over the API. */
import type { Scope } from '../../lib/options/machines/machine.ts';
import type { ApiClient } from './client.ts';

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
