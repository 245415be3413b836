import { afterEach, describe, expect, it, vi } from 'vitest';
import { patiently } from '../../../lib/ground/time.ts';

describe('A time limit', () => {
  afterEach(() => {
    vi.unstubAllGlobals();
  });

  it('is the limit of AWS, multiplied by the patience of the process', () => {
    const limits = [undefined, 1, 10].map((patience) => {
      vi.stubGlobal('patience', patience);
      return patiently(5);
    });

    expect(limits).toEqual([5, 5, 50]);
  });
});
