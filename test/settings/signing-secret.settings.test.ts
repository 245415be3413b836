import { describe, expect, it, vi } from 'vitest';
import { handler as login } from '../../functions/auth/login.ts';
import { handler as registration } from '../../functions/auth/register.ts';
import { handler as profile } from '../../functions/profile/get.ts';
import { serviceForThisFile, stopClock } from '../support/acceptance.ts';
import { register, uniqueEmail } from '../support/client.ts';
import { invoke, stubSettings } from './invoke.ts';

const service = await serviceForThisFile();
const account = await register(service.api);
const wrong = { ...account, password: 'wrong' };
const logged = stubSettings(service, { JWT_SECRET: '' });

const noToken = [500, { message: 'No token provided, please try again', err: 'ConfigError' }];

describe('Without a signing secret,', () => {
  it('a login with the right password gets the response 500', async () => {
    expect(await invoke(login, { json: account })).toEqual(noToken);
  });

  it('logins with right and wrong passwords are recorded', async () => {
    const { id } = account;
    const newest = async () => {
      const path = `/api/admin/audit-logs?userId=${id}&limit=2`;
      const { body } = await service.api('GET', path, { token: service.adminToken });
      return body.data;
    };

    await invoke(login, { json: wrong });
    await invoke(login, { json: account });

    const attempt = { action: 'LOGIN', resource_id: String(id), result: 'FAILURE' };
    expect(await newest()).toEqual([
      expect.objectContaining({ ...attempt, details: '{"reason":"no_token"}' }),
      expect.objectContaining({ ...attempt, details: '{"reason":"wrong_password"}' }),
    ]);
  });

  it('an address still has to wait after too many failed logins', async () => {
    stopClock();
    vi.stubEnv('LOGIN_FAILURES_PER_ADDRESS', '3');
    const statuses: unknown[] = [];
    for (let i = 0; i < 4; i += 1) {
      const [status] = await invoke(login, { json: wrong, sourceIp: '192.0.2.77' });
      statuses.push(status);
    }
    vi.stubEnv('LOGIN_FAILURES_PER_ADDRESS', '');

    expect(statuses).toEqual([401, 401, 401, 429]);
  });

  it('a registration gets the response 500, and no user is stored', async () => {
    const newUser = { name: 'n', email: uniqueEmail(), password: 'p' };

    const answer = await invoke(registration, { json: newUser });

    expect(answer).toEqual(noToken);
    expect((await register(service.api, newUser)).email).toBe(newUser.email);
  });

  it('a protected route responds with 500 to a token, and with 401 to a request without a token', async () => {
    const headers = { authorization: `Bearer ${account.token}` };

    expect(await invoke(profile, { headers })).toEqual([
      500,
      { message: 'Internal server error', err: 'ConfigError' },
    ]);
    expect(await invoke(profile, {})).toEqual([401, { message: 'No token provided' }]);
  });

  it('the log has the name of the setting, and neither password nor token', async () => {
    await invoke(login, { json: account });

    const log = logged.mock.calls.flat().join('\n');
    expect(log).toContain('JWT_SECRET');
    expect(log).not.toContain(account.password);
    expect(log).not.toContain(account.token);
  });
});
