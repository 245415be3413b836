import { isDeepStrictEqual } from 'node:util';
import { afterEach, beforeAll, describe, expect, inject, it } from 'vitest';
import { uniqueAgent } from '../../support/acceptance.ts';
import { type Account, register, uniqueEmail } from '../../support/client.ts';
import { proxiedServiceForThisFile } from '../../support/proxied-service.ts';
import { type Fault, faults } from '../../support/proxy.ts';
import { scan, scanAudit, usersIn } from '../../support/stored-items.ts';

const { proxy, service, admin } = await proxiedServiceForThisFile();

describe('The entry of a change whose write DynamoDB did not acknowledge', () => {
  let account: Account;
  beforeAll(async () => {
    account = await register(service.api);
  });
  afterEach(() => proxy.impose());

  const newUser = () => ({ name: 'n', email: uniqueEmail(), password: 'pass-word' });
  const registration = () => ['POST', '/api/auth/register', newUser()] as const;
  const creation = () => ['POST', '/api/users', newUser()] as const;
  const creationOfAdmin = () => ['POST', '/api/users', { ...newUser(), role: 'admin' }] as const;
  const put = (json: object) => ['PUT', `/api/users/${account.id}`, json] as const;
  const rename = () => put({ name: 'New' });
  const move = () => put({ email: uniqueEmail() });
  const promote = () => put({ role: 'admin' });
  const deletion = () => ['DELETE', `/api/users/${account.id}`] as const;

  const users = async () =>
    usersIn(await scan(inject('engine'), service.environment.USERS_TABLE ?? ''));
  type Users = Awaited<ReturnType<typeof users>>;
  /** The users of one list who are missing in the other list, or differ there. */
  const differing = (one: Users, other: Users) =>
    one.filter((user) => !other.some((same) => isDeepStrictEqual(user, same)));
  type Request = readonly [method: string, path: string, json?: object];
  /** The response to a request, and the entries that the request leaves, while the engine has a fault. */
  const entriesWhile = async (
    rule: { readonly fault: Fault; readonly operation: string; readonly times?: number },
    [method, path, json]: Request,
  ) => {
    const agent = uniqueAgent();
    proxy.impose({ table: service.environment.USERS_TABLE ?? '', ...rule });
    const { status, body } = await service.api(method, path, {
      token: admin,
      headers: { 'user-agent': agent },
      ...(json ? { json } : {}),
    });
    proxy.impose();
    const entries = await scanAudit(inject('engine'), service.environment.AUDIT_TABLE ?? '');
    return { status, body, entries: entries.filter(({ user_agent }) => user_agent === agent) };
  };

  // biome-ignore format: a table
  it.each([
    ['a registration', 'CREATE', 'TransactWriteItems', registration],
    ['the creation of a user', 'CREATE', 'TransactWriteItems', creation],
    ['the creation of an admin', 'CREATE', 'TransactWriteItems', creationOfAdmin, { role: 'admin' }],
    ['a change of name', 'UPDATE', 'UpdateItem', rename],
    ['a change of address', 'UPDATE', 'TransactWriteItems', move],
    ['a change of role', 'UPDATE', 'TransactWriteItems', promote],
    // After the deletion there is no account.
    ['a deletion', 'DELETE', 'TransactWriteItems', deletion],
  ] as const)(
    'says that the outcome is unknown, and names the user, for %s',
    async (_, action, operation, request, besides: object = {}) => {
      const before = await users();

      const { status, entries } = await entriesWhile({ fault: faults.lose, operation }, request());

      const after = await users();
      const [changed] = [...differing(after, before), ...differing(before, after)];
      expect(changed).toBeDefined();
      expect(status).toBe(500);
      expect(entries).toEqual([
        expect.objectContaining({ action, result: 'FAILURE', resource_id: String(changed?.id) }),
      ]);
      expect(JSON.parse(entries[0]?.details ?? '')).toEqual({
        error: 'ECONNRESET',
        outcome: 'unknown',
        ...besides,
      });
    },
  );

  describe('after a first attempt that took effect but was not acknowledged', () => {
    /** The engine performs the request, something else happens, and then the response is lost. */
    const loseThen =
      (next: () => unknown): Fault =>
      async ({ forward, socket }) => {
        await forward();
        await next();
        socket.resetAndDestroy();
      };
    const outcomeOf = async (operation: string, next: () => unknown, request: Request) => {
      const rule = { fault: loseThen(next), operation, times: 1 };
      const { status, entries } = await entriesWhile(rule, request);
      const [entry] = entries;
      return { status, result: entry?.result, details: JSON.parse(entry?.details ?? 'null') };
    };

    it('names the role that the user had before', async () => {
      const { id } = await register(service.api);
      await service.api('PUT', `/api/users/${id}`, { token: admin, json: { role: 'admin' } });

      const request = ['PUT', `/api/users/${id}`, { role: 'user' }] as const;
      const outcome = await outcomeOf('UpdateItem', () => undefined, request);

      const details = { fields: ['role'], role: { from: 'admin', to: 'user' } };
      expect(outcome).toEqual({ status: 200, result: 'SUCCESS', details });
    });

    it.each([
      ['changed', 'PUT', { email: uniqueEmail() }],
      ['deleted', 'DELETE', undefined],
    ])(
      'says that the outcome is unknown if others have meanwhile %s the user',
      async (_, method, json) => {
        const { id } = await register(service.api);
        const options = { token: admin, ...(json ? { json } : {}) };
        const overtake = () => service.api(method, `/api/users/${id}`, options);

        const request = ['PUT', `/api/users/${id}`, { name: 'New' }] as const;
        const outcome = await outcomeOf('UpdateItem', overtake, request);

        const details = { error: 'ConditionalCheckFailedException', outcome: 'unknown' };
        expect(outcome).toEqual({ status: 500, result: 'FAILURE', details });
      },
    );

    it('has the result SUCCESS for a deletion even if the second attempt conflicts with a transaction', async () => {
      const { id } = await register(service.api);
      const conflict = () =>
        proxy.impose({ fault: faults.conflict, operation: 'TransactWriteItems', times: 1 });

      const request = ['DELETE', `/api/users/${id}`] as const;
      const outcome = await outcomeOf('TransactWriteItems', conflict, request);

      expect(outcome).toEqual({ status: 204, result: 'SUCCESS', details: null });
    });
  });
});
