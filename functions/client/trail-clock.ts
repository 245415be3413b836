/** The time, the timers and the chance of a trail, which tests replace. */
export interface Clock {
  readonly now: () => Date;
  readonly later: (act: () => void, milliseconds: number) => Timer;
  /** A number from 0 to below 1. */
  readonly random: () => number;
}

/** A timer that lets the process end, where the platform has such timers. */
export interface Timer {
  /** From now on, the timer keeps the process from ending. */
  readonly hold: () => void;
}

export const systemClock: Clock = {
  now: () => new Date(),
  later: (act, milliseconds) => {
    // In Node it is an object, elsewhere a number.
    const timer: Partial<Record<'ref' | 'unref', () => void>> = Object(
      setTimeout(act, milliseconds),
    );
    timer.unref?.();
    return { hold: () => timer.ref?.() };
  },
  random: Math.random,
};
