import { randomUUID } from 'node:crypto';
import { afterAll, afterEach, beforeAll, describe, expect, inject, it, vi } from 'vitest';
import { type Counter, countAttempt, requireNoWaitNow } from '../../../lib/auth/counters.ts';
import { countRegistration, exceedsNoticeLimit } from '../../../lib/auth/limits.ts';
import { forgetFailures, loginCounters } from '../../../lib/auth/login-protection.ts';
import type { DomainError } from '../../../lib/errors.ts';
import { useOwnTables } from '../../support/own-tables.ts';
import { type EngineProxy, faults, startProxy } from '../../support/proxy.ts';
import { scan } from '../../support/stored-items.ts';

let proxy: EngineProxy;
let table: string;
beforeAll(async () => {
  process.env.REGISTRATIONS_PER_ADDRESS = '2';
  proxy = await startProxy(inject('engine'));
  ({ users: table } = await useOwnTables(proxy.url));
});
afterEach(() => {
  vi.unstubAllEnvs();
  proxy.impose();
});
afterAll(() => proxy.stop());

const outcomeOf = (work: Promise<void>): Promise<DomainError | undefined> =>
  work.then(() => undefined).catch((error) => error);
const tooMany = (retryAfter: number) =>
  expect.objectContaining({ code: 'TOO_MANY_ATTEMPTS', retryAfter });

describe('A clock that is set back', () => {
  const noon = new Date('2026-11-21T12:00:00Z');
  const earlier = (minutes: number) => new Date(noon.getTime() - minutes * 60_000);

  const used = async () => {
    const address = randomUUID();
    const count = (now: Date) => outcomeOf(countRegistration(address, { now }));
    await count(noon);
    await count(noon);
    return count;
  };

  it('prolongs a wait to fifteen minutes at most', async () => {
    const count = await used();

    expect(await count(noon)).toEqual(tooMany(30));
    expect(await count(earlier(10))).toEqual(tooMany(630));
  });

  it.each([16, 120, 60 * 24 * 365])('by %d minutes ends a wait', async (minutes) => {
    const count = await used();

    expect(await count(earlier(minutes))).toBeUndefined();
    expect(await count(earlier(minutes))).toBeUndefined();
    expect(await count(earlier(minutes))).toEqual(tooMany(30));
  });
});

describe('The longest wait', () => {
  it('counts for who looks at it by a clock that is behind, too', async () => {
    const address = randomUUID();
    const start = Date.parse('2026-11-21T12:00:00Z');
    let time = start;
    const count = () => outcomeOf(countRegistration(address, { now: new Date(time) }));
    await count();
    for (let wait = 0; wait < 900; time += wait * 1000) {
      await count();
      wait = Number((await count())?.retryAfter);
    }
    time -= 900_000;

    expect(await count()).toEqual(tooMany(900));
    time -= 1;
    expect(await count()).toEqual(tooMany(900));
    time -= 5000;
    expect(await count()).toEqual(tooMany(900));
  });
});

describe('Attempts one after the other', () => {
  const start = Date.parse('2026-11-21T12:00:00Z');
  const attempts = (limit = 2) => {
    vi.stubEnv('REGISTRATIONS_PER_ADDRESS', String(limit));
    const address = randomUUID();
    /** At so many seconds after the first. */
    return (second: number) =>
      outcomeOf(countRegistration(address, { now: new Date(start + 1000 * second) }));
  };

  it('wait for half a minute, and twice as long each further time, up to 15 minutes', async () => {
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
  ])('are remembered for 15 minutes after a wait: %i s after it began', async (second, wait) => {
    const attempt = attempts();
    await attempt(0);
    await attempt(0);

    expect(await attempt(second)).toBeUndefined();
    const next = await attempt(second);

    expect(next?.retryAfter).toBe(wait);
  });

  it.each([
    [899, 30],
    [900, undefined],
  ])('add up for 15 minutes from the first: until %i s after it', async (second, wait) => {
    const attempt = attempts(3);
    await attempt(0);
    await attempt(0);

    expect(await attempt(second)).toBeUndefined();
    const next = await attempt(second);

    expect(next?.retryAfter).toBe(wait);
  });

  it.each([1, 2, 3, 5])('are let through %i times where that is the limit', async (limit) => {
    const attempt = attempts(limit);
    const outcomes: (number | undefined)[] = [];
    for (let i = 0; i <= limit; i += 1) outcomes.push((await attempt(i))?.retryAfter);

    expect(outcomes).toEqual([...Array(limit).fill(undefined), 29]);
  });

  it('leave an item that DynamoDB sweeps once it means nothing', async () => {
    const attempt = attempts();
    await attempt(0);
    await attempt(7);

    const items = await scan(inject('engine'), table);

    const seconds = start / 1000;
    expect(items).toContainEqual({
      pk: expect.stringMatching(/^attempts#register#address#/),
      ...{ occurrences: 2, blocked_until: seconds + 37, expires_at: seconds + 937 },
    });
  });

  it('ask once of the store while they wait', async () => {
    const attempt = attempts(1);
    await attempt(0);
    proxy.forget();

    expect(await attempt(0)).toEqual(tooMany(30));

    expect(proxy.requests).toHaveLength(1);
  });

  it('wait for a second where others always count first', async () => {
    const attempt = attempts();
    proxy.forget();
    proxy.impose({ fault: faults.conditionFails, operation: 'UpdateItem' });

    expect(await attempt(0)).toEqual(tooMany(1));

    expect(proxy.requests).toHaveLength(8);
  });

  it('are let through while they cannot be counted, which is in the log', async () => {
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

describe('The counters of a login', () => {
  const secret = 'x'.repeat(40);
  const address = { pk: 'attempts#login#address#192.0.2.1', limit: 100 };
  const account = {
    ...{ pk: expect.stringMatching(/^attempts#login#account#[\w-]{43}$/), limit: 10 },
    ofAccount: true,
  };

  it.each([
    ['both', {}, [account, address]],
    ['that of the address', { LOGIN_FAILURES_PER_ACCOUNT: '0' }, [address]],
    ['that of the account', { LOGIN_FAILURES_PER_ADDRESS: '0' }, [account]],
    ['none', { LOGIN_FAILURES_PER_ACCOUNT: '0', LOGIN_FAILURES_PER_ADDRESS: '0' }, []],
  ])('are %s, by what is limited', async (_, environment, expected) => {
    vi.stubEnv('JWT_SECRET', secret);
    for (const [name, value] of Object.entries(environment)) vi.stubEnv(name, value);

    expect(await loginCounters('ada@example.org', '192.0.2.1')).toEqual(expected);
  });

  it('tell one account from another, but not in letter case', async () => {
    vi.stubEnv('JWT_SECRET', secret);
    const pkOf = async (email: string) => (await loginCounters(email, ''))[0]?.pk;

    const keys = ['ada@example.org', 'ADA@example.org', 'bob@example.org'].map(pkOf);

    const [ada, capitals, bob] = await Promise.all(keys);
    expect(capitals).toBe(ada);
    expect(bob).not.toBe(ada);
  });
});

describe('Failed logins', () => {
  const newCounter = (fields: Partial<Counter> = {}): Counter => ({
    ...{ pk: `attempts#test#${randomUUID()}`, limit: 2, ofAccount: true },
    ...fields,
  });
  const fail = (counter: Counter) => countAttempt([{ ...counter, count: undefined }]);
  const occurrencesOf = async ({ pk }: Counter) =>
    (await scan(inject('engine'), table)).find((item) => item.pk === pk)?.occurrences;

  it('are forgotten by a success', async () => {
    const counter = newCounter();
    await fail(counter);

    const seen = await requireNoWaitNow([counter]);
    await forgetFailures(seen);

    expect(seen).toMatchObject([{ ...counter, count: { occurrences: 1 } }]);
    expect(await occurrencesOf(counter)).toBeUndefined();
    expect(await requireNoWaitNow([counter])).toEqual([{ ...counter, count: undefined }]);
  });

  it.each([
    [899, 2],
    [900, 1],
    [-960, 2],
    [-961, 1],
  ])(
    'count on from what was seen of them while it lasts: %i s after it',
    async (later, counted) => {
      const counter = newCounter({ limit: 5 });
      const start = Date.parse('2026-11-21T12:00:00Z');
      await countAttempt([{ ...counter, count: undefined }], { now: new Date(start) });
      const seen = await requireNoWaitNow([counter]);

      await countAttempt(seen, { now: new Date(start + 1000 * later) });

      expect(await occurrencesOf(counter)).toBe(counted);
    },
  );

  it('reach the limit also when each was counted by what was seen before the others', async () => {
    const counter = newCounter({ limit: 3 });
    await fail(counter);
    const seen = await requireNoWaitNow([counter]);

    await Promise.all([countAttempt(seen), countAttempt(seen)]);

    expect(await occurrencesOf(counter)).toBe(3);
    await expect(requireNoWaitNow([counter])).rejects.toMatchObject({ code: 'TOO_MANY_ATTEMPTS' });
  });

  it('of a source address are not forgotten by it', async () => {
    const { pk, limit } = newCounter();
    await fail({ pk, limit });

    await forgetFailures(await requireNoWaitNow([{ pk, limit }]));

    expect(await occurrencesOf({ pk, limit })).toBe(1);
  });

  it('are not forgotten when others have reached the limit since they were looked at', async () => {
    const counter = newCounter();
    await fail(counter);
    const seen = await requireNoWaitNow([counter]);
    await fail(counter);

    await forgetFailures(seen);

    await expect(requireNoWaitNow([counter])).rejects.toMatchObject({ code: 'TOO_MANY_ATTEMPTS' });
    await forgetFailures(seen, { now: new Date(Date.now() + 31_000) });
    expect(await occurrencesOf(counter)).toBeUndefined();
  });

  it('are asked for only where something is limited', async () => {
    proxy.forget();

    expect(await requireNoWaitNow([])).toEqual([]);
    await forgetFailures([{ ...newCounter(), count: undefined }]);

    expect(proxy.requests).toEqual([]);
  });

  it('hold nobody back while they cannot be read', async () => {
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

describe('Mails that nobody asked for', () => {
  const start = Date.parse('2026-11-21T12:00:00Z');
  const send = (user_id: number, minute: number, email: string = randomUUID()) =>
    exceedsNoticeLimit(
      { email, user_id, request_id: randomUUID() },
      { now: new Date(start + 60_000 * minute) },
    );

  it('are ten of an account in an hour of the clock, whatever its addresses', async () => {
    const exceeded: boolean[] = [];
    for (let i = 0; i < 10; i += 1) exceeded.push(await send(1, 6 * i));
    exceeded.push(await send(1, 59), await send(2, 59), await send(1, 60));

    expect(exceeded).toEqual([...Array(10).fill(false), true, false, false]);
  });

  it('leave an item of each hour that DynamoDB sweeps after it', async () => {
    await send(3, 10);

    const item = (await scan(inject('engine'), table)).find(
      ({ pk }) => pk === `attempts#notice#user#3#${start / 3_600_000}`,
    );

    expect(item?.expires_at).toBe(start / 1000 + 600 + 3600);
  });

  it('are ten to an address in 15 minutes, in whatever letter case', async () => {
    const exceeded: boolean[] = [];
    for (let i = 0; i < 10; i += 1) exceeded.push(await send(100 + i, i, 'ada@example.org'));
    exceeded.push(await send(200, 9, 'ADA@example.org'), await send(201, 9));

    expect(exceeded).toEqual([...Array(10).fill(false), true, false]);
  });
});

describe('Attempts that are counted at the same time', () => {
  it('are let through as often as the limit says, however many there are', async () => {
    const address = randomUUID();

    const outcomes = await Promise.all(
      Array.from({ length: 60 }, () => outcomeOf(countRegistration(address))),
    );

    expect(outcomes.filter((outcome) => outcome === undefined)).toHaveLength(2);
  });
});
