import { record, recordingFaults } from '../../lib/audit/record.ts';
import { countRegistration } from '../../lib/auth/limits.ts';
import { prepareFirstSession } from '../../lib/auth/new-session.ts';
import * as contract from '../../lib/contract/accounts.ts';
import { anyone, endpoint } from '../../lib/http/endpoint.ts';
import { sourceOf } from '../../lib/http/request.ts';
import { creationDetails } from '../../lib/users/audit-details.ts';
import { parseNewUser } from '../../lib/users/schema.ts';
import { insertUser, prepareUser } from '../../lib/users/store.ts';

/** POST /api/auth/register */
export const handler = endpoint(contract.register, anyone, async (request) => {
  const newUser = parseNewUser(request.body);
  const source = sourceOf(request);
  await countRegistration(source.ip_address);

  const attempt = { ...source, action: 'CREATE' } as const;
  const user = await recordingFaults(attempt, () => prepareUser(newUser, 'user'));
  // The tokens are issued before the user is stored, so that a failure leaves nothing behind.
  const { tokens, writes } = await prepareFirstSession(user, source);
  const details = creationDetails(user);
  const creation = { ...attempt, user_id: user.id, resource_id: user.id, details };
  await recordingFaults(creation, () => insertUser(user, writes));
  await record({ ...creation, result: 'SUCCESS' });
  return { statusCode: 201, body: { message: 'User registered successfully', ...tokens } };
});
