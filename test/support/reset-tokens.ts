import { inject } from 'vitest';
import { makeResetToken } from '../../lib/reset/store.ts';
import { findStoredUser } from '../../lib/users/store.ts';

/** One at a time: lib reads from this process's environment which table it works on. */
let last: Promise<unknown> = Promise.resolve();
const inTurn = <T>(work: () => Promise<T>): Promise<T> => {
  const result = last.then(work);
  last = result.catch(() => undefined);
  return result;
};

/** Makes a link of a user of a service without a mail. @returns its token */
export const plantResetToken = (
  environment: Readonly<Record<string, string>>,
  id: number,
): Promise<string> =>
  inTurn(async () => {
    // Past whatever stands before the service's engine.
    Object.assign(process.env, {
      AWS_REGION: 'us-east-1',
      AWS_ACCESS_KEY_ID: 'local',
      AWS_SECRET_ACCESS_KEY: 'local',
      AWS_ENDPOINT_URL_DYNAMODB: inject('engine'),
      USERS_TABLE: environment.USERS_TABLE,
    });
    const user = await findStoredUser(id);
    if (!user) throw new Error(`There is no user ${id}`);
    return makeResetToken(user);
  });
