import { randomUUID } from 'node:crypto';
import {
  afterAll,
  afterEach,
  beforeAll,
  beforeEach,
  describe,
  expect,
  inject,
  it,
  vi,
} from 'vitest';
import { logIn } from '../../../lib/auth/log-in.ts';
import type { StoredUser } from '../../../lib/users/items.ts';
import { hashPassword } from '../../../lib/users/password.ts';
import { insertUser } from '../../../lib/users/store.ts';
import { uniqueEmail } from '../../support/client.ts';
import { type OwnTables, useOwnTables } from '../../support/own-tables.ts';
import { type EngineProxy, faults, overtake, startProxy } from '../../support/proxy.ts';
import { scanAudit } from '../../support/stored-items.ts';
import { storedUser } from '../../support/stored-user.ts';

let proxy: EngineProxy;
let tables: OwnTables;
beforeAll(async () => {
  proxy = await startProxy(inject('engine'));
  tables = await useOwnTables(proxy.url);
});
const logged = vi.spyOn(console, 'error').mockReturnValue();
beforeEach(() => {
  // The service's clock stands still unless a test moves it.
  vi.useFakeTimers({ toFake: ['Date'], now: Date.now() });
  vi.stubEnv('JWT_SECRET', 'x'.repeat(40));
  vi.stubEnv('LOGIN_FAILURES_PER_ACCOUNT', '2');
  vi.stubEnv('LOGIN_FAILURES_PER_ADDRESS', '0');
});
afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllEnvs();
  proxy.impose();
  proxy.forget();
  logged.mockClear();
});
afterAll(() => proxy.stop());

const pass = (seconds: number) => vi.setSystemTime(Date.now() + 1000 * seconds);

let lastId = 0;
const newUser = async (fields: Partial<StoredUser> = {}) => {
  lastId += 1;
  const user = storedUser({ id: lastId, password_hash: await hashPassword('right'), ...fields });
  await insertUser(user);
  return user;
};

/** Where logins of one test come from. */
const newSource = () => {
  const [network = '', user_agent = ''] = [randomUUID(), randomUUID()];
  const ip_address = `2001:db8:${network.slice(0, 4)}:${network.slice(4, 8)}::1`;
  return { ip_address, user_agent, request_id: randomUUID() };
};

/** The code of the refusal of a login. */
const attempt = (email: string, source: ReturnType<typeof newSource>, password = 'wrong') =>
  logIn({ email, password }, source).catch(({ code }) => code as string);
const tooMany = 'TOO_MANY_ATTEMPTS';

const attempts = async (times: number, email: string, source: ReturnType<typeof newSource>) => {
  const codes = [];
  for (let i = 0; i < times; i += 1) codes.push(await attempt(email, source));
  return codes;
};

/** The entries of logins from a source that were refused before their password was checked. */
const refusals = async ({ user_agent }: ReturnType<typeof newSource>) =>
  (await scanAudit(inject('engine'), tables.audit)).filter(
    (entry) => entry.user_agent === user_agent && entry.details?.includes('too_many_attempts'),
  );
const refusal = (id: number | null) =>
  expect.objectContaining({
    action: 'LOGIN',
    result: 'FAILURE',
    details: '{"reason":"too_many_attempts"}',
    resource: 'users',
    user_id: id,
    resource_id: id && String(id),
  });

const writes = () => proxy.requests.filter((request) => request.writes > 0);

describe('The first login that a wait refuses before its password is checked', () => {
  it('leaves an entry of the account, and the refusals after it write nothing', async () => {
    const [{ id, email }, source] = [await newUser(), newSource()];
    await attempts(2, email, source);

    expect(await attempt(email, source)).toBe(tooMany);

    const { ip_address } = source;
    expect(await refusals(source)).toEqual([refusal(id)]);
    expect(await refusals(source)).toMatchObject([{ ip_address }]);
    proxy.forget();
    expect(await attempt(email, source)).toBe(tooMany);
    expect(await attempt(email, source, 'right')).toBe(tooMany);
    expect(writes()).toEqual([]);
  });

  it('leaves an entry without a user where nobody has the address', async () => {
    const [email, source] = [uniqueEmail(), newSource()];
    await attempts(4, email, source);

    expect(await refusals(source)).toEqual([refusal(null)]);
  });

  it('leaves an entry without a user when its source address must wait', async () => {
    vi.stubEnv('LOGIN_FAILURES_PER_ADDRESS', '2');
    const [{ email }, source] = [await newUser(), newSource()];
    for (const other of [uniqueEmail(), uniqueEmail()]) await attempt(other, source);

    expect(await attempts(2, email, source)).toEqual([tooMany, tooMany]);

    expect(await refusals(source)).toEqual([refusal(null)]);
  });

  it('leaves an entry for each of account and source address when both must wait', async () => {
    vi.stubEnv('LOGIN_FAILURES_PER_ADDRESS', '2');
    const [{ id, email }, source] = [await newUser(), newSource()];
    await attempts(2, email, source);

    expect(await attempts(2, email, source)).toEqual([tooMany, tooMany]);

    const entries = await refusals(source);
    expect(entries).toHaveLength(2);
    expect(entries).toEqual(expect.arrayContaining([refusal(id), refusal(null)]));
  });

  it('leaves another entry in the next wait', async () => {
    const [{ id, email }, source] = [await newUser(), newSource()];
    await attempts(4, email, source);
    pass(30);

    expect(await attempts(3, email, source)).toEqual(['INVALID_CREDENTIALS', tooMany, tooMany]);

    expect(await refusals(source)).toEqual([refusal(id), refusal(id)]);
  });

  it('leaves one entry of two refused at the same time', async () => {
    const [{ id, email }, source] = [await newUser(), newSource()];
    await attempts(2, email, source);
    const refused = () => attempt(email, source);

    expect(await overtake(proxy, 'UpdateItem', refused, refused)).toEqual([tooMany, tooMany]);

    expect(await refusals(source)).toEqual([refusal(id)]);
  });

  it('leaves its entry also when the response of DynamoDB is lost once', async () => {
    const [{ id, email }, source] = [await newUser(), newSource()];
    await attempts(2, email, source);
    proxy.impose({ fault: faults.lose, operation: 'UpdateItem', times: 1 });

    expect(await attempts(2, email, source)).toEqual([tooMany, tooMany]);

    expect(await refusals(source)).toEqual([refusal(id)]);
  });

  it('leaves its entry to the next refusal when the wait cannot be marked, which is logged', async () => {
    const [{ id, email }, source] = [await newUser(), newSource()];
    await attempts(2, email, source);
    proxy.impose({ fault: faults.missingTable, operation: 'UpdateItem' });

    expect(await attempt(email, source)).toBe(tooMany);

    const lines = logged.mock.calls.map(([line]) => JSON.parse(String(line)));
    expect(lines).toMatchObject([
      { event: 'refusal-not-marked', fault: 'ResourceNotFoundException' },
    ]);
    expect(await refusals(source)).toEqual([]);
    proxy.impose();
    expect(await attempt(email, source)).toBe(tooMany);
    expect(await refusals(source)).toEqual([refusal(id)]);
  });
});

describe('Where nobody may know who has an account', () => {
  it('a right password of an unverified address asks the store for the same as a wrong one', async () => {
    vi.stubEnv('EMAIL_VERIFICATION', 'required');
    vi.stubEnv('LOGIN_ANSWERS', 'uniform');
    vi.stubEnv('LOGIN_FAILURES_PER_ADDRESS', '9');
    const [unverified, holder] = [await newUser(), await newUser({ email_verified: true })];
    const asked = async (email: string, password: string) => {
      proxy.forget();
      const code = await attempt(email, newSource(), password);
      return [code, ...proxy.requests.map(({ operation }) => operation).sort()];
    };

    const outcomes = [
      await asked(unverified.email, 'right'),
      await asked(holder.email, 'wrong'),
      await asked(uniqueEmail(), 'wrong'),
    ];

    const operations = ['BatchGetItem', 'GetItem', 'PutItem', 'UpdateItem', 'UpdateItem'];
    expect(outcomes).toEqual(Array(3).fill(['INVALID_CREDENTIALS', ...operations]));
  });
});
