import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { afterEach, describe, expect, inject, it, vi } from 'vitest';
import type { DomainError } from '../../../../lib/ground/errors.ts';
import { settings } from '../../../../lib/ground/settings.ts';
import { patiently } from '../../../../lib/ground/time.ts';
import {
  type Counter,
  countAfter,
  countAttempt,
  countRegistration,
  forgetFailures,
  loginCounters,
  readCounts,
  requireUnderLimit,
  waitOf,
} from '../../../../lib/options/protection/counters.ts';
import { nobodysEmail } from '../../../../lib/users/address.ts';
import { proxiedTablesForThisFile } from '../../../support/own-tables.ts';
import { faults } from '../../../support/proxy.ts';
import { scan } from '../../../support/stored-items.ts';
import { storedUser } from '../../../support/stored-user.ts';

const { proxy, users: table } = await proxiedTablesForThisFile();
afterEach(() => {
  vi.unstubAllEnvs();
  proxy.impose();
});

const outcomeOf = (work: Promise<void>): Promise<DomainError | undefined> =>
  work.then(() => undefined).catch((error) => error);
/** Counters as they were read; none of them requires a wait. */
const readUnderLimit = async (counters: readonly Counter[]) => {
  const read = await readCounts(counters);
  requireUnderLimit(read);
  return read;
};
const tooMany = (retryAfter: number) =>
  expect.objectContaining({ code: 'TOO_MANY_ATTEMPTS', retryAfter });

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
    ['the counters of account and address', {}, [account, address]],
    ['only the counter of the address', { LOGIN_FAILURES_PER_ACCOUNT: '0' }, [address]],
    ['only the counter of the account', { LOGIN_FAILURES_PER_ADDRESS: '0' }, [account]],
    ['none', { LOGIN_FAILURES_PER_ACCOUNT: '0', LOGIN_FAILURES_PER_ADDRESS: '0' }, []],
  ])('are %s, depending on the limits that are set', async (_, environment, expected) => {
    vi.stubEnv('JWT_SECRET', secret);
    for (const [name, value] of Object.entries(environment)) vi.stubEnv(name, value);

    expect(await loginCounters('ada@example.org', '192.0.2.1')).toEqual(expected);
  });

  it('are only the counter of the source if the email address is too long to be read', async () => {
    vi.stubEnv('JWT_SECRET', secret);

    expect(await loginCounters(nobodysEmail, '192.0.2.1')).toEqual([address]);
  });

  it('differ between accounts, but not between letter cases of the address', async () => {
    vi.stubEnv('JWT_SECRET', secret);
    const pkOf = async (email: string) => (await loginCounters(email, ''))[0]?.pk;

    const keys = ['ada@example.org', 'ADA@example.org', 'bob@example.org'].map(pkOf);

    const [ada, capitals, bob] = await Promise.all(keys);
    expect(capitals).toBe(ada);
    expect(bob).not.toBe(ada);
  });

  it.each([
    ['include no counter of the user’s id without a second factor', {}, undefined, []],
    ['include a counter of the user’s id with a second factor', {}, 'secret', [user]],
    [
      'include no counter of the user’s id while nobody is asked for codes',
      { SECOND_FACTOR: 'off' },
      'secret',
      [],
    ],
    [
      'include no counter of the user’s id without a limit',
      { LOGIN_FAILURES_PER_ACCOUNT: '0' },
      'secret',
      [],
    ],
  ])('%s, whatever the address of the user is', async (_, environment, factor_secret, expected) => {
    const settings = { JWT_SECRET: secret, SECOND_FACTOR: 'optional', ...environment };
    for (const [name, value] of Object.entries(settings)) vi.stubEnv(name, value);
    const found = storedUser({ id: 7, factor_secret });

    const counters = await loginCounters(found.email, '192.0.2.1', found);

    expect(counters.slice(counters.findIndex(({ pk }) => pk === address.pk) + 1)).toEqual(expected);
  });
});

describe('Attempts in a row', () => {
  const start = Date.parse('2026-11-21T12:00:00Z');
  const attempts = (limit = 2) => {
    vi.stubEnv('REGISTRATIONS_PER_ADDRESS', String(limit));
    const address = randomUUID();
    /** An attempt, some seconds after the first one. */
    return (second: number) =>
      outcomeOf(countRegistration(address, new Date(start + 1000 * second)));
  };

  it('have to wait for half a minute, and then each time twice as long, up to 15 minutes', async () => {
    const attempt = attempts();
    await attempt(0);
    const waits: number[] = [];
    for (let second = 0; waits.length < 8; second += waits.at(-1) ?? 0) {
      expect(await attempt(second)).toBeUndefined();
      const wait = Number((await attempt(second))?.retryAfter);
      expect(await attempt(second + wait - 1)).toEqual(tooMany(1));
      waits.push(wait);
    }

    expect(waits).toEqual([30, 60, 120, 240, 480, 900, 900, 900]);
  });

  it.each([
    [929, 60],
    [930, undefined],
  ])(
    'are remembered for 15 minutes after the end of a wait: %i s after its beginning',
    async (second, wait) => {
      const attempt = attempts();
      await attempt(0);
      await attempt(0);

      expect(await attempt(second)).toBeUndefined();
      const next = await attempt(second);

      expect(next?.retryAfter).toBe(wait);
    },
  );

  it.each([
    [899, 30],
    [900, undefined],
  ])('add up for 15 minutes from the first attempt: %i s after it', async (second, wait) => {
    const attempt = attempts(3);
    await attempt(0);
    await attempt(0);

    expect(await attempt(second)).toBeUndefined();
    const next = await attempt(second);

    expect(next?.retryAfter).toBe(wait);
  });

  it.each([1, 2, 3, 5])('are let through %i times if the limit has this number', async (limit) => {
    const attempt = attempts(limit);
    const outcomes: (number | undefined)[] = [];
    for (let i = 0; i <= limit; i += 1) outcomes.push((await attempt(i))?.retryAfter);

    expect(outcomes).toEqual([...Array(limit).fill(undefined), 29]);
  });

  it('leave an item that DynamoDB deletes once the item has expired', async () => {
    const attempt = attempts();
    await attempt(0);
    await attempt(7);

    const items = await scan(inject('engine'), table);

    const seconds = start / 1000;
    expect(items).toContainEqual({
      pk: expect.stringMatching(/^attempts#register#address#/),
      attempts: 2,
      waits_until: seconds + 37,
      expires_at: seconds + 937,
    });
  });

  it('leave an item without a wait when they are counted anew after it has expired', async () => {
    const attempt = attempts();
    await attempt(0);
    await attempt(7);

    await attempt(938);

    expect(await scan(inject('engine'), table)).toContainEqual({
      pk: expect.stringMatching(/^attempts#register#address#/),
      attempts: 1,
      expires_at: start / 1000 + 938 + 900,
    });
  });

  it('cause one request to the store while they have to wait', async () => {
    const attempt = attempts(1);
    await attempt(0);
    proxy.forget();

    expect(await attempt(0)).toEqual(tooMany(30));

    expect(proxy.requests).toHaveLength(1);
  });

  it('have to wait for a second if other attempts are always counted first', async () => {
    const attempt = attempts();
    proxy.forget();
    proxy.impose({ fault: faults.conditionFails, operation: 'UpdateItem' });

    expect(await attempt(0)).toEqual(tooMany(1));

    expect(proxy.requests).toHaveLength(8);
  });

  it('delay a response by at most a second when they are read, and by a second when they are counted', async () => {
    const limits = vi.spyOn(AbortSignal, 'timeout');
    const counter = { pk: `attempts#test#${randomUUID()}`, limit: 2 };

    await countAttempt(await readCounts([counter]));

    expect(limits.mock.calls).toEqual([[patiently(1000)], [patiently(1000)]]);
    limits.mockRestore();
  });

  it('are let through while they cannot be counted, and the fault is logged', async () => {
    const logged = vi.spyOn(console, 'error').mockReturnValue();
    const attempt = attempts(1);
    proxy.impose({ fault: faults.missingTable });

    const outcomes = [await attempt(0), await attempt(0)];

    const lines = logged.mock.calls.map(([line]) => JSON.parse(String(line)));
    logged.mockRestore();
    expect(outcomes).toEqual([undefined, undefined]);
    expect(lines).toHaveLength(2);
    expect(lines[0]).toMatchObject({
      event: 'attempt-not-counted',
      fault: 'ResourceNotFoundException',
    });
  });
});

describe('Attempts that are counted at the same time', () => {
  it('are let through as often as the limit allows, however many there are', async () => {
    vi.stubEnv('REGISTRATIONS_PER_ADDRESS', '2');
    const address = randomUUID();

    const outcomes = await Promise.all(
      Array.from({ length: 60 }, () => outcomeOf(countRegistration(address))),
    );

    expect(outcomes.filter((outcome) => outcome === undefined)).toHaveLength(2);
  });

  it('are all let through below the limit, although each attempt has read the same count', async () => {
    const counter = { pk: `attempts#test#${randomUUID()}`, limit: 60 };
    await countAttempt([counter]);
    const seen = await readCounts([counter]);

    const counted = await Promise.all(Array.from({ length: 40 }, () => countAttempt(seen)));

    expect(counted.filter(({ wait }) => wait > 0)).toEqual([]);
  });
});

describe('Failed logins', () => {
  const newCounter = (fields: Partial<Counter> = {}): Counter => ({
    pk: `attempts#test#${randomUUID()}`,
    limit: 2,
    ofAccount: true,
    ...fields,
  });
  const fail = (counter: Counter) => countAttempt([counter]);
  const attemptsOf = async ({ pk }: Counter) =>
    (await scan(inject('engine'), table)).find((item) => item.pk === pk)?.attempts;

  it('of the account and of its user are forgotten after a successful login', async () => {
    const counters = [newCounter(), newCounter()];
    await Promise.all(counters.map(fail));

    const seen = await readUnderLimit(counters);
    await forgetFailures(seen);

    expect(seen).toMatchObject(counters.map((each) => ({ ...each, count: { attempts: 1 } })));
    expect(await Promise.all(counters.map(attemptsOf))).toEqual([undefined, undefined]);
    expect(await readUnderLimit(counters)).toEqual(
      counters.map((each) => ({ ...each, count: undefined })),
    );
  });

  it.each([
    [899, 2],
    [900, 1],
  ])(
    'are added to the count that was read as long as it is valid: %i s after its first failure',
    async (later, counted) => {
      const counter = newCounter({ limit: 5 });
      const start = Date.parse('2026-11-21T12:00:00Z');
      await countAttempt([counter], new Date(start));
      const seen = await readCounts([counter]);

      await countAttempt(seen, new Date(start + 1000 * later));

      expect(await attemptsOf(counter)).toBe(counted);
    },
  );

  it('reach the limit even if each failure is added to a count that was read before the other failures', async () => {
    const counter = newCounter({ limit: 3 });
    await fail(counter);
    const seen = await readUnderLimit([counter]);

    await Promise.all([countAttempt(seen), countAttempt(seen)]);

    expect(await attemptsOf(counter)).toBe(3);
    await expect(readUnderLimit([counter])).rejects.toMatchObject({ code: 'TOO_MANY_ATTEMPTS' });
  });

  it('of a source address are not forgotten after a successful login', async () => {
    const { pk, limit } = newCounter();
    await fail({ pk, limit });

    await forgetFailures(await readUnderLimit([{ pk, limit }]));

    expect(await attemptsOf({ pk, limit })).toBe(1);
  });

  it('are not forgotten if further failures have reached the limit since the count was read', async () => {
    const counter = newCounter();
    await fail(counter);
    const seen = await readUnderLimit([counter]);
    await fail(counter);

    await forgetFailures(seen);

    await expect(readUnderLimit([counter])).rejects.toMatchObject({ code: 'TOO_MANY_ATTEMPTS' });
    await forgetFailures(seen, new Date(Date.now() + 31_000));
    expect(await attemptsOf(counter)).toBeUndefined();
  });

  it('are read only if there is a limit', async () => {
    proxy.forget();

    expect(await readUnderLimit([])).toEqual([]);
    await forgetFailures([newCounter()]);

    expect(proxy.requests).toEqual([]);
  });

  it('that cannot be forgotten are logged, and the login succeeds', async () => {
    const logged = vi.spyOn(console, 'error').mockReturnValue();
    const counter = newCounter();
    await fail(counter);
    const seen = await readUnderLimit([counter]);
    proxy.impose({ fault: faults.missingTable });

    await forgetFailures(seen);

    const lines = logged.mock.calls.map(([line]) => JSON.parse(String(line)));
    logged.mockRestore();
    expect(lines).toMatchObject([
      { event: 'attempt-not-counted', fault: 'ResourceNotFoundException' },
    ]);
    expect(await attemptsOf(counter)).toBe(1);
  });

  it('let logins through while the counts cannot be read', async () => {
    const logged = vi.spyOn(console, 'error').mockReturnValue();
    const counter = newCounter();
    await fail(counter);
    await fail(counter);
    proxy.impose({ fault: faults.missingTable });

    const seen = await readUnderLimit([counter]);

    logged.mockRestore();
    expect(seen).toEqual([{ ...counter, count: undefined }]);
  });
});

describe('An account', () => {
  const limit = Number(settings.loginFailuresPerAccount.default);
  const day = 24 * 60 * 60;

  /** How many failures a day are possible for a caller who fails as often as allowed and then lets the count expire. */
  const failuresADay = (failures: number): number => {
    let count = countAfter(undefined, limit, 0);
    let now = 0;
    for (let made = 1; made < failures; made += 1) {
      now += waitOf(count, new Date(now * 1000));
      count = countAfter(count, limit, now);
    }
    return (failures * day) / count.expires_at;
  };

  it('allows as many guesses a day, and withstands them for as many days, as SECURITY.md says', () => {
    const most = Math.max(...Array.from({ length: 60 }, (_, i) => failuresADay(i + 1)));
    // The steps that are accepted have three of a million codes.
    const evenChance = Math.log(1 / 2) / Math.log(1 - 3 / 1_000_000);

    const text = readFileSync('.github/SECURITY.md', 'utf8').replaceAll(/\s+/g, ' ');

    expect(text).toContain(
      `at most ${Math.floor(most)} guesses a day, one after another, each in the trail: an even chance takes ${Math.floor(evenChance / most)} days`,
    );
  });
});
