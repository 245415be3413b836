/** A clock that stands still, for a trail: batches end when a test says so, and pauses end at once. */
import type { Clock } from '../../../functions/client/trail-clock.ts';

/** @param beforePausesEnd pauses end once it is resolved */
export const manualClock = (beforePausesEnd: Promise<void> = Promise.resolve()) => {
  const waiting: (() => void)[] = [];
  const pauses: number[] = [];
  const held: number[] = [];
  const clock: Clock = {
    now: () => new Date('2030-01-02T03:04:05.678Z'),
    random: () => 0.5,
    later: (act, milliseconds) => {
      // Only entries wait for exactly a second.
      if (milliseconds === 1000) waiting.push(act);
      else {
        pauses.push(milliseconds);
        void beforePausesEnd.then(() => setImmediate(act));
      }
      return { hold: () => void held.push(milliseconds) };
    },
  };
  return {
    clock,
    /** The milliseconds of the pauses so far. */
    pauses,
    /** The milliseconds of the pauses that have kept the process from ending. */
    held,
    /** Ends the second for which entries wait for others. */
    passSecond: () => waiting.splice(0).forEach((act) => void act()),
  };
};
