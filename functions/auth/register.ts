import { record, recordingFaults } from '../../lib/audit/record.ts';
import { anyone, endpoint } from '../../lib/endpoint.ts';
import { issueToken } from '../../lib/tokens/token.ts';
import { createAccount } from '../../lib/users/accounts.ts';
import { parseNewUser } from '../../lib/users/schema.ts';

/** POST /api/auth/register */
export const handler = endpoint(
  {
    access: anyone,
    body: 'json',
    storageFault: ['Error registering user', 'insertErr'],
  },
  async (request) => {
    const newUser = parseNewUser(request.body);
    const { user, token } = await recordingFaults(request, { action: 'CREATE' }, () =>
      createAccount(newUser, 'user', async (user) => ({
        user,
        token: await issueToken(user),
      })),
    );
    await record(request, {
      action: 'CREATE',
      user_id: user.id,
      resource_id: user.id,
      result: 'SUCCESS',
    });
    return {
      statusCode: 201,
      body: { message: 'User registered successfully', token },
    };
  },
);
