import { randomUUID } from 'node:crypto';
import { afterAll, afterEach, beforeAll, describe, expect, inject, it, vi } from 'vitest';
import { forgetFailures, loginCounters } from '../../../lib/auth/login-protection.ts';
import { type Counter, countAttempt, requireNoWaitNow } from '../../../lib/limits/counters.ts';
import { useOwnTables } from '../../support/own-tables.ts';
import { type EngineProxy, faults, startProxy } from '../../support/proxy.ts';
import { scan } from '../../support/stored-items.ts';
import { storedUser } from '../../support/stored-user.ts';

let proxy: EngineProxy;
let table: string;
beforeAll(async () => {
  proxy = await startProxy(inject('engine'));
  ({ users: table } = await useOwnTables(proxy.url));
});
afterEach(() => {
  vi.unstubAllEnvs();
  proxy.impose();
});
afterAll(() => proxy.stop());

describe('The counters of a login', () => {
  const secret = 'x'.repeat(40);
  const address = { pk: 'attempts#login#address#192.0.2.1', limit: 1000 };
  const account = {
    pk: expect.stringMatching(/^attempts#login#account#[\w-]{43}$/),
    limit: 10,
    ofAccount: true,
  };
  const user = { pk: 'attempts#login#user#7', limit: 10, ofAccount: true };

  it.each([
    ['both', {}, [account, address]],
    ['that of the address', { LOGIN_FAILURES_PER_ACCOUNT: '0' }, [address]],
    ['that of the account', { LOGIN_FAILURES_PER_ADDRESS: '0' }, [account]],
    ['none', { LOGIN_FAILURES_PER_ACCOUNT: '0', LOGIN_FAILURES_PER_ADDRESS: '0' }, []],
  ])('are %s, depending on the limits', async (_, environment, expected) => {
    vi.stubEnv('JWT_SECRET', secret);
    for (const [name, value] of Object.entries(environment)) vi.stubEnv(name, value);

    expect(await loginCounters('ada@example.org', '192.0.2.1')).toEqual(expected);
  });

  it('differ between accounts, but not between letter cases', async () => {
    vi.stubEnv('JWT_SECRET', secret);
    const pkOf = async (email: string) => (await loginCounters(email, ''))[0]?.pk;

    const keys = ['ada@example.org', 'ADA@example.org', 'bob@example.org'].map(pkOf);

    const [ada, capitals, bob] = await Promise.all(keys);
    expect(capitals).toBe(ada);
    expect(bob).not.toBe(ada);
  });

  it.each([
    ['is none of a user without a second factor', {}, undefined, []],
    ['is one of a user with a second factor', {}, 'secret', [user]],
    ['is none while nobody is asked for codes', { SECOND_FACTOR: 'off' }, 'secret', []],
    ['is none without a limit', { LOGIN_FAILURES_PER_ACCOUNT: '0' }, 'secret', []],
  ])(
    'include one of the user’s id, which no change of address changes: there %s',
    async (_, environment, factor_secret, expected) => {
      const settings = { JWT_SECRET: secret, SECOND_FACTOR: 'optional', ...environment };
      for (const [name, value] of Object.entries(settings)) vi.stubEnv(name, value);
      const found = storedUser({ id: 7, factor_secret });

      const counters = await loginCounters(found.email, '192.0.2.1', found);

      expect(counters.slice(counters.findIndex(({ pk }) => pk === address.pk) + 1)).toEqual(
        expected,
      );
    },
  );
});

describe('Failed logins', () => {
  const newCounter = (fields: Partial<Counter> = {}): Counter => ({
    pk: `attempts#test#${randomUUID()}`,
    limit: 2,
    ofAccount: true,
    ...fields,
  });
  const fail = (counter: Counter) => countAttempt([{ ...counter, count: undefined }]);
  const occurrencesOf = async ({ pk }: Counter) =>
    (await scan(inject('engine'), table)).find((item) => item.pk === pk)?.occurrences;

  it('are forgotten by a success, of the account and of its user', async () => {
    const counters = [newCounter(), newCounter()];
    await Promise.all(counters.map(fail));

    const seen = await requireNoWaitNow(counters);
    await forgetFailures(seen);

    expect(seen).toMatchObject(counters.map((each) => ({ ...each, count: { occurrences: 1 } })));
    expect(await Promise.all(counters.map(occurrencesOf))).toEqual([undefined, undefined]);
    expect(await requireNoWaitNow(counters)).toEqual(
      counters.map((each) => ({ ...each, count: undefined })),
    );
  });

  it.each([
    [899, 2],
    [900, 1],
    [-960, 2],
    [-961, 1],
  ])(
    'are counted from the count that was read while that is valid: %i s after it',
    async (later, counted) => {
      const counter = newCounter({ limit: 5 });
      const start = Date.parse('2026-11-21T12:00:00Z');
      await countAttempt([{ ...counter, count: undefined }], { now: new Date(start) });
      const seen = await requireNoWaitNow([counter]);

      await countAttempt(seen, { now: new Date(start + 1000 * later) });

      expect(await occurrencesOf(counter)).toBe(counted);
    },
  );

  it('reach the limit even if each was counted from what was read before the others', async () => {
    const counter = newCounter({ limit: 3 });
    await fail(counter);
    const seen = await requireNoWaitNow([counter]);

    await Promise.all([countAttempt(seen), countAttempt(seen)]);

    expect(await occurrencesOf(counter)).toBe(3);
    await expect(requireNoWaitNow([counter])).rejects.toMatchObject({ code: 'TOO_MANY_ATTEMPTS' });
  });

  it('of a source address are not forgotten by a success', async () => {
    const { pk, limit } = newCounter();
    await fail({ pk, limit });

    await forgetFailures(await requireNoWaitNow([{ pk, limit }]));

    expect(await occurrencesOf({ pk, limit })).toBe(1);
  });

  it('are not forgotten when others have reached the limit since they were read', async () => {
    const counter = newCounter();
    await fail(counter);
    const seen = await requireNoWaitNow([counter]);
    await fail(counter);

    await forgetFailures(seen);

    await expect(requireNoWaitNow([counter])).rejects.toMatchObject({ code: 'TOO_MANY_ATTEMPTS' });
    await forgetFailures(seen, { now: new Date(Date.now() + 31_000) });
    expect(await occurrencesOf(counter)).toBeUndefined();
  });

  it('are read only where there is a limit', async () => {
    proxy.forget();

    expect(await requireNoWaitNow([])).toEqual([]);
    await forgetFailures([{ ...newCounter(), count: undefined }]);

    expect(proxy.requests).toEqual([]);
  });

  it('that cannot be forgotten fail no login, and are logged', async () => {
    const logged = vi.spyOn(console, 'error').mockReturnValue();
    const counter = newCounter();
    await fail(counter);
    const seen = await requireNoWaitNow([counter]);
    proxy.impose({ fault: faults.missingTable });

    await forgetFailures(seen);

    const lines = logged.mock.calls.map(([line]) => JSON.parse(String(line)));
    logged.mockRestore();
    expect(lines).toMatchObject([
      { event: 'attempt-not-counted', fault: 'ResourceNotFoundException' },
    ]);
    expect(await occurrencesOf(counter)).toBe(1);
  });

  it('delay no login while they cannot be read', async () => {
    const logged = vi.spyOn(console, 'error').mockReturnValue();
    const counter = newCounter();
    await fail(counter);
    await fail(counter);
    proxy.impose({ fault: faults.missingTable });

    const seen = await requireNoWaitNow([counter]);

    logged.mockRestore();
    expect(seen).toEqual([{ ...counter, count: undefined }]);
  });
});
