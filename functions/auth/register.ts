import { record, recordingFaults } from '../../lib/audit/record.ts';
import { type ApiRequest, anyone, endpoint } from '../../lib/endpoint.ts';
import { issueToken } from '../../lib/tokens/token.ts';
import { createAccount } from '../../lib/users/accounts.ts';
import { countAttempt, registrationCounters } from '../../lib/users/attempts.ts';
import { parseNewUser } from '../../lib/users/schema.ts';

const register = async (request: ApiRequest) => {
  const newUser = parseNewUser(request.body);
  await countAttempt(registrationCounters(request.requestContext.http.sourceIp));

  const { user, token } = await recordingFaults(request, { action: 'CREATE' }, () =>
    createAccount(newUser, 'user', async (created) => ({
      user: created,
      token: await issueToken(created),
    })),
  );
  await record(request, {
    action: 'CREATE',
    user_id: user.id,
    resource_id: user.id,
    result: 'SUCCESS',
  });
  return { statusCode: 201, body: { message: 'User registered successfully', token } };
};

/** POST /api/auth/register */
export const handler = endpoint(
  { access: anyone, body: 'json', storageFault: ['Error registering user', 'insertErr'] },
  register,
);
