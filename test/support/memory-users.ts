import { type ApiClient, uniqueEmail } from './client.ts';

export interface MemoryUser {
  readonly id: number;
  readonly name: string;
  readonly email: string;
  readonly createdAt: string;
}

/** Creates a user of whom only the given fields matter to the test. */
export const createMemoryUser = async (
  api: ApiClient,
  fields: { name?: string; email?: string } = {},
): Promise<MemoryUser> => {
  const json = { name: 'Some One', email: uniqueEmail(), ...fields };
  const { status, body } = await api('POST', '/api/v1/users', { json });
  if (status !== 201) throw new Error(`Creation answered ${status} ${JSON.stringify(body)}`);
  return body;
};

/** An id that no user ever gets. */
export const unknownId = 9_007_199_254_740_991;
