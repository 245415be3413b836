import { afterEach, beforeEach, vi } from 'vitest';

/**
 * Stops the clock of this process during each test of a file, so that no token expires while a test waits.
 * @returns a function that sets the clock forward by some seconds
 */
export const stillClockForThisFile = () => {
  beforeEach(() => {
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() });
    // No request is aborted, however long the machine stalls.
    vi.spyOn(AbortSignal, 'timeout').mockReturnValue(new AbortController().signal);
  });
  afterEach(() => {
    vi.useRealTimers();
    vi.restoreAllMocks();
  });
  return (seconds: number): void => void vi.setSystemTime(Date.now() + seconds * 1000);
};
