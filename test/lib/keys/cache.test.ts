import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { cached } from '../../../lib/keys/cache.ts';

const second = 1000;
const minute = 60 * second;

/** The value that is read: the number of reads so far, unless the read fails. */
let [now, reads, isBroken] = [0, 0, false];
const read = async (): Promise<number> => {
  if (isBroken) throw Object.assign(new Error('secret text'), { name: 'TimeoutError' });
  reads += 1;
  return reads;
};
const start = (lifetime = 5 * minute) =>
  cached(read, { lifetime, event: 'not-read', now: () => now });

beforeEach(() => {
  [now, reads, isBroken] = [1000 * minute, 0, false];
});
afterEach(() => vi.restoreAllMocks());

describe('A cache', () => {
  it('reads once for simultaneous callers', async () => {
    const get = start();

    expect(await Promise.all([get(), get(), get()])).toEqual([1, 1, 1]);
  });

  it.each([
    ['the lifetime has passed', 1],
    ['the clock was set back by the lifetime', -1],
  ])('reads again when %s', async (_, direction) => {
    const get = start();
    await get();

    now += direction * (5 * minute - 1);
    const before = await get();
    now += direction;

    expect([before, await get()]).toEqual([1, 2]);
  });

  it('reads again for callers who miss something in it, but at most once a minute', async () => {
    const get = start();
    await get();

    now += minute - 1;
    const early = await get((value) => value === 1);
    now += 1;
    const later = [await get((value) => value === 1), await get((value) => value === 2)];

    expect([early, later]).toEqual([1, [2, 2]]);
  });

  it('returns the last value and logs the fault while nothing can be read, and recovers', async () => {
    const errors = vi.spyOn(console, 'error').mockReturnValue();
    const get = start();
    await get();

    isBroken = true;
    now += 5 * minute;
    const stale = [await get(), await get()];
    isBroken = false;
    now += minute;

    expect([stale, await get()]).toEqual([[1, 1], 2]);
    expect(errors.mock.calls).toHaveLength(1);
    expect(errors.mock.calls.flat().join()).toMatch(/not-read.*TimeoutError/);
    expect(errors.mock.calls.flat().join()).not.toContain('secret text');
  });

  it('rejects as long as nothing has ever been read, and recovers at once', async () => {
    isBroken = true;
    const get = start();
    await expect(get()).rejects.toThrow('secret text');

    isBroken = false;

    expect(await get()).toBe(1);
  });
});
