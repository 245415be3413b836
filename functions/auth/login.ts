import { record } from '../../lib/audit/record.ts';
import { config } from '../../lib/config.ts';
import { type ApiRequest, anyone, endpoint } from '../../lib/endpoint.ts';
import { DomainError } from '../../lib/errors.ts';
import { issueToken } from '../../lib/tokens/token.ts';
import { refreshHash } from '../../lib/users/accounts.ts';
import {
  type Counts,
  countAttempt,
  forgetAttempts,
  loginCounters,
  requireNoWait,
  requireStillNoWait,
} from '../../lib/users/attempts.ts';
import type { StoredUser } from '../../lib/users/items.ts';
import { unmatchableHash, verifyPassword } from '../../lib/users/password.ts';
import { parseCredentials } from '../../lib/users/schema.ts';
import { findUserByEmail } from '../../lib/users/store.ts';

/** Who logs in, or why nobody does. */
const authenticate = async (user: StoredUser | undefined, password: string) => {
  const known = user !== undefined;
  // Where the answer must not tell, neither may the time: an unknown account costs a hash too, and
  // one whose hash was made at a lower cost as much.
  const raisesWork = config.loginAnswers === 'uniform';
  const hash = () => user?.password_hash ?? unmatchableHash();
  const matches = (known || raisesWork) && (await verifyPassword(password, hash(), { raisesWork }));
  if (known && matches) return { user };
  return { reason: known ? 'wrong_password' : 'unknown_email' } as const;
};

const refusal = (reason: 'wrong_password' | 'unknown_email') =>
  new DomainError(
    reason === 'unknown_email' && config.loginAnswers === 'distinct'
      ? 'USER_NOT_REGISTERED'
      : 'INVALID_CREDENTIALS',
  );

const logIn = async (request: ApiRequest) => {
  const { email, password } = parseCredentials(request.body);
  const counters = await loginCounters(email, request.requestContext.http.sourceIp);
  const { user: found, items } = await findUserByEmail(email, { alongside: counters });
  const counts = items as Counts;
  requireNoWait(counts);

  const { user, reason } = await authenticate(found, password);
  const attempt = { action: 'LOGIN', user_id: found?.id, resource_id: found?.id } as const;
  if (!user) {
    const entry = record(request, { ...attempt, result: 'FAILURE', details: { reason } });
    // Its refusal waits for the entry: what a function has under way freezes with its answer.
    const [, counted] = await Promise.allSettled([entry, countAttempt(counters, counts)]);
    throw counted.status === 'rejected' ? counted.reason : refusal(reason);
  }
  const failed = (reason: string) => async (error: unknown) => {
    await record(request, { ...attempt, result: 'FAILURE', details: { reason } });
    throw error;
  };
  const countsByNow = await requireStillNoWait(counters).catch(failed('too_many_attempts'));
  const token = await issueToken(user).catch(failed('no_token'));
  await Promise.all([
    record(request, { ...attempt, result: 'SUCCESS' }),
    forgetAttempts(counters, countsByNow),
    refreshHash(user, password),
  ]);
  return { statusCode: 200, body: { message: 'Login successful', token } };
};

/** POST /api/login */
export const handler = endpoint(
  { access: anyone, body: 'json', storageFault: ['Error checking user', 'err'] },
  logIn,
);
