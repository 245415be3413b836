import { describe, expect, it } from 'vitest';
import { outcome, refusal } from '../../support/acceptance.ts';
import { type Account, logIn, register } from '../../support/client.ts';
import { proxiedServiceForThisFile } from '../../support/proxied-service.ts';
import { faults, overtake } from '../../support/proxy.ts';

const { proxy, service } = await proxiedServiceForThisFile({ SESSION_DAYS: '90' });
const { api, adminToken } = service;

const invalid = refusal(401, 'Invalid token');
const profile = (token: string) => api('GET', '/api/profile', { token });
const endOthers = ({ id }: Account, token: string) =>
  api('DELETE', `/api/users/${id}/sessions`, { token });
/** Logs a user in. @returns the account with the new token */
const enter = async (user: Account) => ({ ...user, token: await logIn(api, user) });

describe('DELETE /api/users/{id}/sessions', () => {
  it('ends all sessions of another user for an admin, and of nobody else; later ones are good', async () => {
    const [user, bystander] = [await register(api), await register(api)];
    const other = await enter(user);

    const { status, text } = await endOthers(user, adminToken);

    expect([status, text]).toEqual([204, '']);
    for (const { token } of [user, other]) {
      expect(outcome(await profile(token))).toEqual(invalid);
    }
    for (const token of [adminToken, bystander.token, await logIn(api, user)]) {
      expect((await profile(token)).status).toBe(200);
    }
  });

  it('revives no session that is ended before it is written', async () => {
    const user = await register(api);

    const [refused] = await overtake(
      proxy,
      'UpdateItem',
      () => endOthers(user, user.token),
      () => endOthers(user, adminToken),
    );

    expect(outcome(refused)).toEqual(invalid);
    expect(outcome(await profile(user.token))).toEqual(invalid);
  });

  it('is refused after another session of the user did the same; that one goes on', async () => {
    const user = await register(api);
    const other = await enter(user);

    const [refused] = await overtake(
      proxy,
      'UpdateItem',
      () => endOthers(user, user.token),
      () => endOthers(user, other.token),
    );

    expect(outcome(refused)).toEqual(invalid);
    expect((await profile(other.token)).status).toBe(200);
  });

  it('is made once when its response is lost', async () => {
    const user = await register(api);
    proxy.impose({ fault: faults.lose, operation: 'UpdateItem', times: 1 });

    const answer = await endOthers(user, user.token);

    proxy.impose();
    expect(answer.status).toBe(204);
    expect((await profile(user.token)).status).toBe(200);
  });
});
