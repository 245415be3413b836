import { randomUUID } from 'node:crypto';
import { afterAll, afterEach, beforeAll, describe, expect, inject, it, vi } from 'vitest';
import type { DomainError } from '../../../lib/errors.ts';
import { countRegistration, exceeds, networkOf } from '../../../lib/limits/counters.ts';
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
  it('is also the longest by a clock that is behind', async () => {
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

  it('leave an item that DynamoDB sweeps once it has expired', async () => {
    const attempt = attempts();
    await attempt(0);
    await attempt(7);

    const items = await scan(inject('engine'), table);

    const seconds = start / 1000;
    expect(items).toContainEqual({
      pk: expect.stringMatching(/^attempts#register#address#/),
      occurrences: 2,
      blocked_until: seconds + 37,
      expires_at: seconds + 937,
    });
  });

  it('need one request to the store while they wait', async () => {
    const attempt = attempts(1);
    await attempt(0);
    proxy.forget();

    expect(await attempt(0)).toEqual(tooMany(30));

    expect(proxy.requests).toHaveLength(1);
  });

  it('wait for a second when other attempts always count first', async () => {
    const attempt = attempts();
    proxy.forget();
    proxy.impose({ fault: faults.conditionFails, operation: 'UpdateItem' });

    expect(await attempt(0)).toEqual(tooMany(1));

    expect(proxy.requests).toHaveLength(8);
  });

  it('are let through while they cannot be counted, which is logged', async () => {
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
    const address = randomUUID();

    const outcomes = await Promise.all(
      Array.from({ length: 60 }, () => outcomeOf(countRegistration(address))),
    );

    expect(outcomes.filter((outcome) => outcome === undefined)).toHaveLength(2);
  });
});

describe('Attempts within quarters of an hour', () => {
  const noon = Date.parse('2026-11-21T12:00:00Z');
  const attempts = () => {
    const pk = `attempts#test#${randomUUID()}`;
    return (second: number) => exceeds(pk, 3, new Date(noon + 1000 * second));
  };
  const every = (step: number, end: number) =>
    Array.from({ length: Math.ceil(end / step) }, (_, i) => i * step);

  it.each([
    ['in one of them', [0, 0, 1, 2, 898, 899], '+++...'],
    ['again in the next one', [0, 1, 2, 899, 900, 901, 902, 903], '+++.+++.'],
    ['in each, however long somebody keeps trying', every(150, 3 * 3600), '+++...'.repeat(12)],
    ['apart when the clock is set back', [3600, 3600, 3600, 3600, 0, 0, 0, 0], '+++.+++.'],
  ])('are let through as often as the limit allows %s', async (_, times, expected) => {
    const attempt = attempts();
    let outcomes = '';

    for (const time of times) outcomes += (await attempt(time)) ? '.' : '+';

    expect(outcomes).toBe(expected);
  });

  it('need one request each, also at the same time, and leave an item that DynamoDB sweeps', async () => {
    const attempt = attempts();
    proxy.forget();

    const outcomes = await Promise.all(Array.from({ length: 9 }, () => attempt(5)));

    expect(outcomes.filter((exceeded) => !exceeded)).toHaveLength(3);
    expect(proxy.requests).toHaveLength(9);
    expect(await scan(inject('engine'), table)).toContainEqual({
      pk: expect.stringMatching(/^attempts#test#.*#\d+$/),
      occurrences: 3,
      expires_at: noon / 1000 + 900,
    });
  });

  it('are let through while they cannot be counted, which is logged', async () => {
    const logged = vi.spyOn(console, 'error').mockReturnValue();
    const attempt = attempts();
    proxy.impose({ fault: faults.missingTable });

    const exceeded = await attempt(0);

    const lines = logged.mock.calls.map(([line]) => JSON.parse(String(line)));
    logged.mockRestore();
    expect(exceeded).toBe(false);
    expect(lines).toMatchObject([{ event: 'attempt-not-counted' }]);
  });
});

describe('The network of an address', () => {
  it.each([
    ['203.0.113.7', '203.0.113.7'],
    ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
    ['2001:db8:1:2::9', '2001:db8:1:2::/64'],
    ['2001:DB8:0001:02::', '2001:db8:1:2::/64'],
    ['2001:db8::1', '2001:db8:0:0::/64'],
    ['2001:db8::3:4:5:6:7', '2001:db8:0:3::/64'],
    ['2001::2:3:4:5:6:7', '2001:0:2:3::/64'],
    ['::2:3:4:5:6:7:8', '0:2:3:4::/64'],
    ['2001:db8:1:2:3:4:5::', '2001:db8:1:2::/64'],
    ['::1', '0:0:0:0::/64'],
    ['::', '0:0:0:0::/64'],
    ['::ffff:203.0.113.7', '::ffff:203.0.113.7'],
    ['', ''],
  ])('of %j is %j', (address, network) => {
    expect(networkOf(address)).toBe(network);
  });
});
