/**
 * Decides whether the clock of this machine can be trusted to say what has expired. What a wrong
 * clock removes is lost, even when the clock is corrected (infra/runbooks.md, How long entries
 * are kept).
 */
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { describeFault, logError } from '../../lib/log.ts';
import { writePrivately } from './folder.ts';

/** Milliseconds: of the wall clock since 1970, and of a clock that nobody can set. */
export interface Clock {
  wall(): number;
  monotonic(): number;
}

export const machineClock: Clock = {
  wall: () => Date.now(),
  monotonic: () => performance.now(),
};

export interface ClockWatch {
  /** Reads the clock. @returns milliseconds since 1970; undefined while it is not trusted */
  look(): number | undefined;
}

/** The record in the data folder while the clock is not trusted. */
interface Distrust {
  /** Milliseconds that the service must still run before the clock is trusted. */
  readonly left: number;
  /** The last time that was read from the clock. */
  readonly seen?: number;
}

const minute = 60_000;
const hour = 60 * minute;
const day = 24 * hour;

/** Milliseconds by which the clock may differ from the monotonic one between two readings. */
const longestJump = 5 * minute;
/** Milliseconds by which the clock at a start may be ahead of the last known time. */
const longestGap = day;
/** Milliseconds that the service must run without a jump before the clock is trusted again. */
const probation = day;

const fileIn = (folder: string) => join(folder, 'clock-not-trusted.json');

const readDistrust = (file: string): Distrust => {
  if (!existsSync(file)) return { left: 0 };
  try {
    const { left, seen } = JSON.parse(readFileSync(file, 'utf8'));
    if (Number.isFinite(left) && Number.isFinite(seen)) return { left, seen };
  } catch {
    // A file that cannot be read counts as one of a clock that has just jumped.
  }
  return { left: probation };
};

const inWords = (milliseconds: number): string => {
  const [unit, name] = [
    [day, 'days'],
    [hour, 'hours'],
  ].find(([length]) => milliseconds >= 2 * Number(length)) ?? [minute, 'minutes'];
  return `${Math.round(milliseconds / Number(unit))} ${name}`;
};

/**
 * Watches the clock of a service and stores in its data folder how long it is not to be trusted.
 * @param newest when the newest audit entry before this start was recorded
 */
export const watchClock = (
  folder: string,
  { newest, clock = machineClock }: { newest: number | undefined; clock?: Clock },
): ClockWatch => {
  const file = fileIn(folder);
  const { left: kept, seen } = readDistrust(file);
  let left = kept;
  let last = { wall: clock.wall(), monotonic: clock.monotonic() };

  const distrust = (reason: string) => {
    if (left === 0) {
      console.error(
        `The clock of this machine ${reason}: expired data is not removed until the service has run for 24 hours without another jump.`,
      );
    }
    left = probation;
  };
  const keep = () => {
    try {
      if (left > 0) writePrivately(file, JSON.stringify({ left, seen: last.wall }));
      else rmSync(file, { force: true });
    } catch (error) {
      logError('clock-not-kept', describeFault(error));
    }
  };

  // While the clock was not trusted, entries may have been given wrong times: `seen` comes first.
  const gap = last.wall - (seen ?? newest ?? last.wall);
  if (gap > longestGap) distrust(`is ${inWords(gap)} ahead of the newest audit entry`);
  if (left > 0) keep();

  return {
    look: () => {
      const [wall, monotonic] = [clock.wall(), clock.monotonic()];
      const elapsed = monotonic - last.monotonic;
      const jump = Math.abs(wall - last.wall - elapsed);
      const before = left;
      last = { wall, monotonic };
      if (jump > longestJump) distrust(`has jumped by ${inWords(jump)}`);
      else left = Math.max(0, left - elapsed);
      if (before > 0 || left > 0) keep();
      return left === 0 ? wall : undefined;
    },
  };
};
