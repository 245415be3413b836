/**
 * Whether the clock of this machine may say what has expired: once removed, nothing comes back
 * when a clock that was wrong is set right (infra/runbooks.md, How long entries are kept).
 */
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { describeFault, logError } from '../../lib/log.ts';
import { writePrivately } from './folder.ts';

/** Milliseconds: since 1970, and of a clock that nobody can set. */
export interface Clock {
  wall(): number;
  monotonic(): number;
}

export const machineClock: Clock = {
  wall: () => Date.now(),
  monotonic: () => performance.now(),
};

export interface ClockWatch {
  /** Looks at the clock. @returns milliseconds since 1970; undefined while it is not trusted */
  look(): number | undefined;
}

/** What a data folder keeps while the clock is not trusted. */
interface Distrust {
  /** Milliseconds for which the service has yet to run. */
  readonly left: number;
  /** What the clock showed last. */
  readonly seen?: number;
}

const minute = 60_000;
const hour = 60 * minute;
const day = 24 * hour;

/** Milliseconds that the clock may go ahead of the monotonic one, or back, between two looks. */
const longestJump = 5 * minute;
/** Milliseconds by which a start may be ahead of what is known of the time before. */
const longestGap = day;
/** Milliseconds of run time after which a clock is trusted again. */
const probation = day;

const fileIn = (folder: string) => join(folder, 'clock-not-trusted.json');

const readDistrust = (file: string): Distrust => {
  if (!existsSync(file)) return { left: 0 };
  try {
    const { left, seen } = JSON.parse(readFileSync(file, 'utf8'));
    if (Number.isFinite(left) && Number.isFinite(seen)) return { left, seen };
  } catch {
    // It is as good as none that says when the clock jumped.
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
 * Watches the clock of a service with a data folder, which keeps the run time that is left to wait.
 * @param newest when the newest audit entry was recorded, before this start
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
        `The clock of this machine ${reason}: nothing that has expired is removed until the service has run for 24 hours without a further jump.`,
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

  // While the clock is not trusted, an entry may have its time from the wrong one.
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
