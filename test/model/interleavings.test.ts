import { beforeEach, describe, expect, it } from 'vitest';
import { outcome, refusal } from '../support/acceptance.ts';
import { type Account, logIn, makeUser, register, uniqueEmail } from '../support/client.ts';
import { proxiedServiceForThisFile } from '../support/proxied-service.ts';
import { overtake } from '../support/proxy.ts';
import { expectSoundTable } from '../support/users-table.ts';

const { proxy, service, admin } = await proxiedServiceForThisFile();

/** The proxy holds the first write back, so that the second overtakes it between read and write. */
describe('A write that another one overtakes after it has read the user', () => {
  let account: Account;
  beforeEach(async () => {
    account = await register(service.api);
  });

  const change = (json: object, token = account.token) =>
    service.api('PUT', `/api/users/${account.id}`, { token, json });
  const remove = () => service.api('DELETE', `/api/users/${account.id}`, { token: admin });
  const current = () => service.api('GET', `/api/users/${account.id}`, { token: admin });
  const isFree = async (email: string) =>
    (await service.api('POST', '/api/auth/register', { json: { name: 'n', email, password: 'p' } }))
      .status === 201;

  it('a deletion frees the address that the user got in the meantime', async () => {
    const email = uniqueEmail();

    const [deletion, moved] = await overtake(proxy, 'TransactWriteItems', remove, () =>
      change({ email }),
    );

    expect([deletion.status, moved.status]).toEqual([204, 200]);
    expect(await current()).toMatchObject({ status: 404 });
    expect([await isFree(email), await isFree(account.email)]).toEqual([true, true]);
    await expectSoundTable(service);
  });

  it('a change of address does not bring a deleted user back', async () => {
    const email = uniqueEmail();

    const [moved, deletion] = await overtake(
      proxy,
      'TransactWriteItems',
      () => change({ email }),
      remove,
    );

    expect([moved.status, deletion.status]).toEqual([404, 204]);
    expect([await isFree(email), await isFree(account.email)]).toEqual([true, true]);
    await expectSoundTable(service);
  });

  it('a change of name does not bring a deleted user back', async () => {
    const [renamed, deletion] = await overtake(
      proxy,
      'UpdateItem',
      () => change({ name: 'Late' }),
      remove,
    );

    expect([renamed.status, deletion.status]).toEqual([404, 204]);
    expect(await current()).toMatchObject({ status: 404 });
    await expectSoundTable(service);
  });

  it.each([
    ['name', 'the address', 'UpdateItem', { name: 'New' }, { email: uniqueEmail() }],
    ['name', 'the role', 'UpdateItem', { name: 'New' }, { role: 'admin' }],
    [
      'address',
      'name and role',
      'TransactWriteItems',
      { email: uniqueEmail() },
      { name: 'New', role: 'admin' },
    ],
    ['the spelling of the address', 'the name', 'UpdateItem', undefined, { name: 'New' }],
  ])('a change of %s keeps %s that the user got in the meantime', async (...row) => {
    const [, , operation, late = { email: account.email.toUpperCase() }, early] = row;

    const [second, first] = await overtake(
      proxy,
      operation,
      () => change(late, admin),
      () => change(early, admin),
    );

    expect([first.status, second.status]).toEqual([200, 200]);
    expect(second.body).toMatchObject({ ...late, ...early });
    expect((await current()).body).toEqual(second.body);
    await expectSoundTable(service);
  });

  it('a login with an address that the user left in the meantime finds no user', async () => {
    const json = { email: account.email, password: 'new' };

    const [login] = await overtake(
      proxy,
      'GetItem',
      () => service.api('POST', '/api/login', { json }),
      () => change({ email: uniqueEmail(), password: 'new' }, admin),
    );

    expect(outcome(login)).toEqual(refusal(404, 'User is not registered'));
  });

  it('a change of address frees the one that the user got in the meantime', async () => {
    const [early, late] = [uniqueEmail(), uniqueEmail()];

    const [second, first] = await overtake(
      proxy,
      'TransactWriteItems',
      () => change({ email: late }),
      () => change({ email: early }),
    );

    expect([first.status, second.status]).toEqual([200, 200]);
    expect((await current()).body.email).toBe(late);
    expect([await isFree(early), await isFree(account.email)]).toEqual([true, true]);
    await expectSoundTable(service);
  });

  it.each([
    ['demoted', (id: number) => ['PUT', `/api/users/${id}`, { role: 'user' }] as const],
    ['deleted', (id: number) => ['DELETE', `/api/users/${id}`, undefined] as const],
  ])('a promotion by an admin who is %s meanwhile is refused', async (_, end) => {
    const grantor = await register(service.api);
    const json = { role: 'admin' };
    await service.api('PUT', `/api/users/${grantor.id}`, { token: admin, json });
    const token = await logIn(service.api, grantor);
    const [method, path, body] = end(grantor.id);

    const [promotion] = await overtake(
      proxy,
      'TransactWriteItems',
      () => service.api('PUT', `/api/users/${account.id}`, { token, json }),
      () => service.api(method, path, { token: admin, json: body }),
    );

    expect([promotion.status, promotion.body]).toEqual([403, { message: 'Forbidden' }]);
    expect((await current()).body.role).toBe('user');
  });

  it.each([
    [{ name: 'Late' }, { password: 'its own' }],
    [{ name: 'Late' }, { email: 'its-own@example.org' }],
    [{ password: 'late' }, { password: 'its own' }],
    [{ email: 'late@example.org' }, { password: 'its own' }],
  ])(
    'a change to %j by whoever made the user is refused when the user has set %j meanwhile',
    async (late, own) => {
      const made = await makeUser(service.api, account.token);
      const token = await logIn(service.api, made);
      const put = (bearer: string, json: object) =>
        service.api('PUT', `/api/users/${made.id}`, { token: bearer, json });
      const write = 'email' in late ? 'TransactWriteItems' : 'UpdateItem';

      const [change, before] = await overtake(
        proxy,
        write,
        () => put(account.token, late),
        () => put(token, own),
      );

      expect(before.status).toBe(200);
      expect([change.status, change.body]).toEqual([403, { message: 'Forbidden' }]);
      const shown = await service.api('GET', `/api/users/${made.id}`, { token: admin });
      expect(shown.body).toEqual(before.body);
      expect(await logIn(service.api, { ...made, ...own })).toBeTypeOf('string');
      await expectSoundTable(service);
    },
  );

  it('a change by whoever made the user is refused when the user became an admin meanwhile', async () => {
    const { id } = await makeUser(service.api, account.token);
    const get = async () => (await service.api('GET', `/api/users/${id}`, { token: admin })).body;
    const put = (token: string, json: object) =>
      service.api('PUT', `/api/users/${id}`, { token, json });
    const before = await get();

    const [change, promotion] = await overtake(
      proxy,
      'UpdateItem',
      () => put(account.token, { name: 'Late' }),
      () => put(admin, { role: 'admin' }),
    );

    expect([change.status, promotion.status]).toEqual([403, 200]);
    expect(await get()).toEqual({ ...before, role: 'admin' });
  });

  it('a change to an address that another user got in the meantime is refused', async () => {
    const email = uniqueEmail();

    const [moved] = await overtake(
      proxy,
      'TransactWriteItems',
      () => change({ email, name: 'Moved' }),
      () => isFree(email),
    );

    expect([moved.status, moved.body]).toEqual([409, { message: 'Email already registered' }]);
    expect((await current()).body).toMatchObject({ email: account.email, name: account.name });
    await expectSoundTable(service);
  });
});
