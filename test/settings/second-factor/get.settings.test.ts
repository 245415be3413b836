import { describe, expect, it } from 'vitest';
import { outcome, refusal, serviceForThisFile } from '../../support/acceptance.ts';
import { logIn, register } from '../../support/client.ts';
import {
  enrol,
  factorClient,
  factorSettings,
  registerWithFactor,
} from '../../support/second-factor.ts';

const service = await serviceForThisFile(factorSettings);
const { api } = service;
const { standing } = factorClient(api);

describe('With SECOND_FACTOR=admins', async () => {
  const strict = await serviceForThisFile({ ...factorSettings, SECOND_FACTOR: 'admins' });
  const required = refusal(403, 'Second factor required');
  const { api: call, admin: account, adminToken: token } = strict;

  it('an admin without a factor may do what a user may, and enrol', async () => {
    const user = await register(call);
    const refused = [
      await call('GET', '/api/admin/audit-logs', { token }),
      await call('DELETE', `/api/users/${user.id}`, { token }),
      await call('PUT', `/api/users/${user.id}`, { token, json: { name: 'Another' } }),
      await call('POST', '/api/users', { token, json: { ...user, role: 'admin' } }),
    ];

    expect(refused.map(outcome)).toEqual(refused.map(() => required));
    expect((await call('GET', '/api/users', { token })).status).toBe(200);
    expect(outcome(await call('GET', '/api/admin/audit-logs', { token: user.token }))).toEqual(
      refusal(403, 'Forbidden'),
    );

    const { recoveryCodes } = await enrol(call, { ...account, token });
    const session = await logIn(call, { ...account, code: recoveryCodes[0] });
    expect((await call('GET', '/api/admin/audit-logs', { token: session })).status).toBe(200);
  });
});

it('GET /api/second-factor shows whether there is one, and how many recovery codes are left', async () => {
  const user = await registerWithFactor(api);

  expect(await standing(user.token)).toEqual({ enabled: true, recovery_codes_left: 9 });
});
