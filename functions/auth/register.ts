import { record, recordingFaults } from '../../lib/audit/record.ts';
import { type ApiRequest, anyone, endpoint } from '../../lib/endpoint.ts';
import { issueToken } from '../../lib/tokens/token.ts';
import { prepareUser } from '../../lib/users/accounts.ts';
import { countAttempt, registrationCounters } from '../../lib/users/attempts.ts';
import { parseNewUser } from '../../lib/users/schema.ts';
import { insertUser } from '../../lib/users/store.ts';

const register = async (request: ApiRequest) => {
  const newUser = parseNewUser(request.body);
  await countAttempt(registrationCounters(request.requestContext.http.sourceIp));

  const user = await recordingFaults(request, { action: 'CREATE' }, () =>
    prepareUser(newUser, 'user'),
  );
  // Before the user is stored, so that its failure leaves nothing behind.
  const token = await issueToken(user);
  const creation = { action: 'CREATE', user_id: user.id, resource_id: user.id } as const;
  await recordingFaults(request, creation, () => insertUser(user));
  await record(request, { ...creation, result: 'SUCCESS' });
  return { statusCode: 201, body: { message: 'User registered successfully', token } };
};

/** POST /api/auth/register */
export const handler = endpoint(
  { access: anyone, body: 'json', storageFault: ['Error registering user', 'insertErr'] },
  register,
);
