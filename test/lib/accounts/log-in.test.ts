import { randomUUID } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, inject, it, vi } from 'vitest';
import { logIn } from '../../../lib/accounts/log-in.ts';
import type { StoredUser } from '../../../lib/users/item.ts';
import { hashPassword } from '../../../lib/users/password.ts';
import { findStoredUser } from '../../../lib/users/store.ts';
import { uniqueEmail } from '../../support/client.ts';
import { proxiedTablesForThisFile } from '../../support/own-tables.ts';
import { faults, overtake } from '../../support/proxy.ts';
import { scanAudit } from '../../support/stored-items.ts';
import { insertedUser } from '../../support/stored-user.ts';

const { proxy, ...tables } = await proxiedTablesForThisFile();
const logged = vi.spyOn(console, 'error').mockReturnValue();
beforeEach(() => {
  // The service's clock is stopped, and only tests move it.
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

const pass = (seconds: number) => vi.setSystemTime(Date.now() + 1000 * seconds);

const newUser = async (fields: Partial<StoredUser> = {}) =>
  insertedUser({ password_hash: await hashPassword('right'), ...fields });

/** A new source for the logins of one test. */
const newSource = () => {
  const [network = '', user_agent = ''] = [randomUUID(), randomUUID()];
  const ip_address = `2001:db8:${network.slice(0, 4)}:${network.slice(4, 8)}::1`;
  return { ip_address, user_agent, request_id: randomUUID() };
};

/** The code of the error that refuses a login. */
const attempt = (email: string, source: ReturnType<typeof newSource>, password = 'wrong') =>
  logIn({ email, password }, source).catch(({ code }) => code as string);
const tooMany = 'TOO_MANY_ATTEMPTS';

const attempts = async (times: number, email: string, source: ReturnType<typeof newSource>) => {
  const codes = [];
  for (let i = 0; i < times; i += 1) codes.push(await attempt(email, source));
  return codes;
};

/** The details of the entries of logins from a source, with their users, in the order of their waits. */
const entriesOf = async ({ user_agent }: ReturnType<typeof newSource>) =>
  (await scanAudit(inject('engine'), tables.audit))
    .filter((entry) => entry.user_agent === user_agent)
    .map(({ user_id, details }) => ({ user_id, ...JSON.parse(details ?? '') }))
    .sort((a, b) => (a.waits_until ?? '').localeCompare(b.waits_until ?? ''));

/** The time after some seconds, rounded down to a second. */
const inSeconds = (seconds: number) =>
  new Date(1000 * (Math.floor(Date.now() / 1000) + seconds)).toISOString();

const writes = () => proxy.requests.filter((request) => request.writes > 0);

describe('The failed login that begins a wait', () => {
  it('names the wait in its entry, and the logins that the wait refuses write nothing', async () => {
    const [{ id: user_id, email }, source] = [await newUser(), newSource()];
    const failure = { user_id, reason: 'wrong_password' };

    await attempts(2, email, source);

    expect(await entriesOf(source)).toEqual([failure, { ...failure, waits_until: inSeconds(30) }]);
    proxy.forget();
    expect(await attempt(email, source)).toBe(tooMany);
    expect(await attempt(email, source, 'right')).toBe(tooMany);
    expect(writes()).toEqual([]);
  });

  it('names the wait in its entry even if nobody has the address', async () => {
    const [email, source] = [uniqueEmail(), newSource()];

    await attempts(2, email, source);

    const failure = { user_id: null, reason: 'unknown_email' };
    expect(await entriesOf(source)).toEqual([failure, { ...failure, waits_until: inSeconds(30) }]);
  });

  it('names the longer of the two waits for the account and for the source address', async () => {
    vi.stubEnv('LOGIN_FAILURES_PER_ADDRESS', '1');
    const [{ email }, source] = [await newUser(), newSource()];
    await attempts(1, email, source);
    pass(30);

    await attempts(1, email, source);

    expect(await entriesOf(source)).toMatchObject([{}, { waits_until: inSeconds(60) }]);
  });

  it('names the next, longer wait once the first wait has passed', async () => {
    const [{ email }, source] = [await newUser(), newSource()];
    await attempts(3, email, source);
    const first = inSeconds(30);
    pass(30);

    expect(await attempts(2, email, source)).toEqual(['INVALID_CREDENTIALS', tooMany]);

    const waits = (await entriesOf(source)).map(({ waits_until }) => waits_until);
    expect(waits).toEqual([undefined, first, inSeconds(60)]);
  });

  it('leaves its entry even if the failure cannot be counted', async () => {
    const [{ email }, source] = [await newUser(), newSource()];
    proxy.impose({ fault: faults.missingTable, operation: 'UpdateItem' });

    expect(await attempts(3, email, source)).toEqual(Array(3).fill('INVALID_CREDENTIALS'));

    expect(await entriesOf(source)).toHaveLength(3);
  });
});

describe('A login with the right password', () => {
  it('forgets the failures of the account', async () => {
    const [{ email }, source] = [await newUser(), newSource()];
    const failAndEnter = async () => [
      await attempt(email, source),
      typeof (await attempt(email, source, 'right')),
    ];

    const outcomes = [await failAndEnter(), await failAndEnter()];

    expect(outcomes).toEqual(Array(2).fill(['INVALID_CREDENTIALS', 'object']));
  });

  it('has to wait when other attempts reach the limit while it is checked, and its entry says so', async () => {
    const [{ id, email }, source] = [await newUser(), newSource()];

    // This holds back the read of the user, which follows the read of the counts.
    const [code] = await overtake(
      proxy,
      'GetItem',
      () => attempt(email, source, 'right'),
      () => attempts(2, email, newSource()),
    );

    expect(code).toBe(tooMany);
    expect(await entriesOf(source)).toEqual([{ user_id: id, reason: 'too_many_attempts' }]);
  });

  it('never waits because of other right logins, fifty at the same time and ten in a row', async () => {
    const [{ email }, source] = [await newUser(), newSource()];
    const right = () => attempt(email, source, 'right');

    const together = await Promise.all(Array.from({ length: 50 }, right));
    const inTurn = [];
    for (let i = 0; i < 10; i += 1) inTurn.push(await right());

    expect(new Set([...together, ...inTurn].map((each) => typeof each))).toEqual(
      new Set(['object']),
    );
  });

  it('hashes the password again at the present cost, and the maker of the user keeps the permission', async () => {
    const { id, email } = await newUser({ made_by: 1 });
    const stored = () => findStoredUser(id);
    const costOf = (user?: StoredUser) => user?.password_hash.split('$').at(-2);
    const before = await stored();
    vi.stubEnv('BCRYPT_COST', '6');

    await attempt(email, newSource(), 'right');
    const after = await stored();
    await attempt(email, newSource(), 'right');

    expect([before, after].map(costOf)).toEqual(['04', '06']);
    expect(await stored()).toEqual(after);
    expect(after?.made_by).toBe(1);
  });
});

describe('Where nobody may learn who has an account,', () => {
  it('a right password for an unverified address causes the same requests to the store as a wrong one', async () => {
    vi.stubEnv('EMAIL_VERIFICATION', 'required');
    vi.stubEnv('ACCOUNTS', 'private');
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
