import { describe, expect, it } from 'vitest';
import {
  entriesOf,
  outcome,
  refusal,
  serviceForThisFile,
  uniqueAgent,
} from '../../support/acceptance.ts';
import { logIn } from '../../support/client.ts';
import { factorClient, factorSettings, registerWithFactor } from '../../support/second-factor.ts';

const service = await serviceForThisFile(factorSettings);
const { api, adminToken } = service;
const { tryLogin } = factorClient(api);

const none = refusal(404, 'Second factor not found');

describe('An admin', () => {
  const remove = (id: number, token: string, headers = {}) =>
    api('DELETE', `/api/users/${id}/second-factor`, { token, headers });
  const makeAdmin = async () => {
    const admin = await registerWithFactor(api);
    await api('PUT', `/api/users/${admin.id}`, { token: adminToken, json: { role: 'admin' } });
    const [code, ...recoveryCodes] = admin.recoveryCodes;
    return { ...admin, recoveryCodes, token: await logIn(api, { ...admin, code }) };
  };

  it('with a factor removes a user’s, and ends the sessions', async () => {
    const [admin, user] = [await makeAdmin(), await registerWithFactor(api)];
    const agent = uniqueAgent();

    expect((await remove(user.id, admin.token, { 'user-agent': agent })).status).toBe(204);

    expect((await api('GET', '/api/profile', { token: user.token })).status).toBe(401);
    expect((await tryLogin(user)).status).toBe(200);
    expect(await entriesOf(service, agent)).toEqual([
      expect.objectContaining({
        action: 'UPDATE',
        user_id: admin.id,
        resource_id: String(user.id),
        details: '{"fields":["second_factor"],"second_factor":"removed"}',
      }),
    ]);
    expect(outcome(await remove(user.id, admin.token))).toEqual(none);
  });

  it('does not remove its own so, nor without having one', async () => {
    const [admin, user] = [await makeAdmin(), await registerWithFactor(api)];

    expect(outcome(await remove(admin.id, admin.token))).toEqual(refusal(403, 'Forbidden'));
    expect(outcome(await remove(user.id, adminToken))).toEqual(
      refusal(403, 'Second factor required'),
    );
  });
});
