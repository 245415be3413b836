import { afterEach, beforeEach, vi } from 'vitest';

/**
 * Lets the clock of this process stand still during each test of a file, so that no token ends while a test waits.
 * @returns what sets the clock forward by some seconds
 */
export const stillClockForThisFile = () => {
  beforeEach(() => {
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() });
    // The machine may stand still for as long as it takes.
    vi.spyOn(AbortSignal, 'timeout').mockReturnValue(new AbortController().signal);
  });
  afterEach(() => {
    vi.useRealTimers();
    vi.restoreAllMocks();
  });
  return (seconds: number): void => void vi.setSystemTime(Date.now() + seconds * 1000);
};
