import { record } from '../../lib/audit/record.ts';
import { anyone, endpoint } from '../../lib/endpoint.ts';
import { DomainError } from '../../lib/errors.ts';
import { issueToken } from '../../lib/tokens/token.ts';
import { verifyPassword } from '../../lib/users/password.ts';
import { parseCredentials } from '../../lib/users/schema.ts';
import { findUserByEmail } from '../../lib/users/store.ts';

/** POST /api/login */
export const handler = endpoint(
  {
    access: anyone,
    body: 'json',
    storageFault: ['Error checking user', 'err'],
  },
  async (request) => {
    const { email, password } = parseCredentials(request.body);
    const user = await findUserByEmail(email);
    const attempt = {
      action: 'LOGIN',
      user_id: user?.id,
      resource_id: user?.id,
    } as const;
    if (!user) {
      const details = { reason: 'unknown_email' };
      await record(request, { ...attempt, result: 'FAILURE', details });
      throw new DomainError('USER_NOT_REGISTERED');
    }
    if (!(await verifyPassword(password, user.password_hash))) {
      const details = { reason: 'wrong_password' };
      await record(request, { ...attempt, result: 'FAILURE', details });
      throw new DomainError('INVALID_CREDENTIALS');
    }
    const token = await issueToken(user);
    await record(request, { ...attempt, result: 'SUCCESS' });
    return { statusCode: 200, body: { message: 'Login successful', token } };
  },
);
