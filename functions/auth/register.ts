import { record, recordingFaults } from '../../lib/audit/record.ts';
import { countRegistration } from '../../lib/auth/limits.ts';
import { issueToken } from '../../lib/auth/token.ts';
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
  // The token is issued before the user is stored, so that a failure leaves nothing behind.
  const token = await issueToken(user);
  const details = creationDetails(user);
  const creation = { ...attempt, user_id: user.id, resource_id: user.id, details };
  await recordingFaults(creation, () => insertUser(user));
  await record({ ...creation, result: 'SUCCESS' });
  return { statusCode: 201, body: { message: 'User registered successfully', token } };
});
