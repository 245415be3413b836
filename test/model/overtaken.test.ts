import { afterAll, beforeEach, describe, expect, inject, it } from 'vitest';
import { outcome, refusal, serviceForThisFile } from '../support/acceptance.ts';
import { type Account, register, uniqueEmail } from '../support/client.ts';
import { overtake, startProxy } from '../support/proxy.ts';

const proxy = await startProxy(inject('engine'));
const { api, adminToken } = await serviceForThisFile({ AWS_ENDPOINT_URL_DYNAMODB: proxy.url });
afterAll(() => proxy.stop());

/** Orders that the model test found to be explained by no order of whole requests. */
describe('A request that another one overtakes', () => {
  let account: Account;
  beforeEach(async () => {
    account = await register(api);
  });

  const change = (json: object) =>
    api('PUT', `/api/users/${account.id}`, { token: adminToken, json });

  it('responds as if it came wholly before or after, as a login with an address that the user left in the meantime', async () => {
    const [login] = await overtake(
      proxy,
      'GetItem',
      () => api('POST', '/api/login', { json: { email: account.email, password: 'new' } }),
      () => change({ email: uniqueEmail(), password: 'new' }),
    );

    expect(outcome(login)).toEqual(refusal(404, 'User is not registered'));
  });

  it('responds as if it came wholly before or after, as a change of name while the role is changed', async () => {
    const [renamed] = await overtake(
      proxy,
      'UpdateItem',
      () => change({ name: 'Renamed' }),
      () => change({ role: 'admin' }),
    );

    expect(renamed.body).toMatchObject({ name: 'Renamed', role: 'admin' });
  });

  it('responds as if it came wholly before or after, as a change of address while name and role are changed', async () => {
    const email = uniqueEmail();

    const [moved] = await overtake(
      proxy,
      'TransactWriteItems',
      () => change({ email }),
      () => change({ name: 'Renamed', role: 'admin' }),
    );

    expect(moved.body).toMatchObject({ email, name: 'Renamed', role: 'admin' });
  });

  it('responds as if it came wholly before or after, as a change of spelling of the address while the name is changed', async () => {
    const email = account.email.toUpperCase();

    const [respelt] = await overtake(
      proxy,
      'UpdateItem',
      () => change({ email }),
      () => change({ name: 'Renamed' }),
    );

    expect(respelt.body).toMatchObject({ email, name: 'Renamed' });
  });
});
