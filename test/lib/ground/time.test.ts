import { afterEach, describe, expect, it, vi } from 'vitest';
import { patiently } from '../../../lib/ground/time.ts';

describe('A time limit', () => {
  afterEach(() => {
    vi.unstubAllGlobals();
  });

  it('is that on AWS unless the process is more patient', () => {
    const limits = [undefined, 1, 10].map((patience) => {
      vi.stubGlobal('patience', patience);
      return patiently(5);
    });

    expect(limits).toEqual([5, 5, 50]);
  });
});
