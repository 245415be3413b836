import { record, recordingFaults } from '../../lib/audit/record.ts';
import { prepareFirstSession } from '../../lib/auth/new-session.ts';
import * as contract from '../../lib/contract/accounts.ts';
import { anyone, endpoint } from '../../lib/http/endpoint.ts';
import { sourceOf } from '../../lib/http/request.ts';
import { countRegistration } from '../../lib/limits/counters.ts';
import { remindToVerify, tellHolder } from '../../lib/mail/hand-over.ts';
import { config, hidesAccounts } from '../../lib/settings.ts';
import { creationDetails } from '../../lib/users/audit-details.ts';
import { parseNewUser } from '../../lib/users/schema.ts';
import { insertIfFree, insertUser, prepareUser } from '../../lib/users/store.ts';

/** @returns false if the address is taken and nobody may know it: the rest goes on as if it were free */
const insert = async (...user: Parameters<typeof insertUser>): Promise<boolean> => {
  if (hidesAccounts(config)) return insertIfFree(...user);
  await insertUser(...user);
  return true;
};

/** POST /api/auth/register */
export const handler = endpoint(contract.register, anyone, async (request) => {
  const newUser = parseNewUser(request.body);
  const source = sourceOf(request);
  await countRegistration(source.ip_address);

  const attempt = { ...source, action: 'CREATE' } as const;
  const user = await recordingFaults(attempt, () =>
    prepareUser(newUser, 'user', { isVerified: false }),
  );
  // The tokens are issued before the user is stored, so that a failure leaves nothing behind.
  const { tokens, writes } =
    config.emailVerification === 'required'
      ? { tokens: {}, writes: [] }
      : await prepareFirstSession(user, source);
  const details = creationDetails(user);
  const creation = { ...attempt, user_id: user.id, resource_id: user.id, details };
  if (await recordingFaults(creation, () => insert(user, writes))) {
    await Promise.all([record({ ...creation, result: 'SUCCESS' }), remindToVerify(user, source)]);
  } else {
    const refusal = { result: 'FAILURE', details: { reason: 'email_registered' } } as const;
    await Promise.all([record({ ...attempt, ...refusal }), tellHolder(user.email, source)]);
  }
  return { statusCode: 201, body: { message: 'User registered successfully', ...tokens } };
});
