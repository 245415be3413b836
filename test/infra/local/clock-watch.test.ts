import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { watchClock } from '../../../infra/local/clock-watch.ts';

const minute = 60_000;
const hour = 60 * minute;
const day = 24 * hour;
const present = Date.parse('2026-11-22T12:00:00Z');

const said = vi.spyOn(console, 'error').mockReturnValue();
beforeEach(() => said.mockClear());

/** A machine whose time a test makes, and whose service is started again and again. */
const machine = () => {
  const folder = mkdtempSync(join(tmpdir(), 'clock-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  let [now, up] = [present, 1000];
  const clock = { wall: () => now, monotonic: () => up };
  let newest: number | undefined = present;
  let watch = watchClock(folder, { newest, clock });
  const it = {
    folder,
    /** What the clock is trusted to say, in milliseconds after the beginning. */
    look: () => {
      const trusted = watch.look();
      return trusted === undefined ? 'not trusted' : trusted - present;
    },
    run: (milliseconds: number) => {
      now += milliseconds;
      up += milliseconds;
      return it.look();
    },
    setClock: (milliseconds: number) => {
      now += milliseconds;
    },
    /** Starts the service anew, so many milliseconds after its end, with an entry of that time. */
    start: (pause: number, options: { newest?: number | undefined } = {}) => {
      now += pause;
      up = 5;
      newest = 'newest' in options ? options.newest : now;
      watch = watchClock(folder, { newest, clock });
    },
  };
  return it;
};

describe('The clock of a machine', () => {
  it('is trusted as long as it differs from the monotonic clock by at most five minutes', () => {
    const { look, run, setClock, folder } = machine();

    expect([look(), run(30 * day)]).toEqual([0, 30 * day]);
    setClock(5 * minute);
    expect(look()).toBe(30 * day + 5 * minute);
    setClock(-5 * minute);
    expect(look()).toBe(30 * day);
    expect(readdirSync(folder)).toEqual([]);
    expect(said).not.toHaveBeenCalled();
  });

  it.each([
    ['ahead', 45 * day, 'has jumped by 45 days'],
    ['back', -45 * day, 'has jumped by 45 days'],
    ['ahead by little more than five minutes', 5 * minute + 1, 'has jumped by 5 minutes'],
  ])(
    'that was set %s is trusted after 24 hours without a jump, which is reported once',
    (_, jump, reason) => {
      const { run, setClock, folder } = machine();

      setClock(jump);
      expect(run(1)).toBe('not trusted');
      expect(run(12 * hour)).toBe('not trusted');
      setClock(-jump);
      expect(run(12 * hour)).toBe('not trusted');
      expect(run(24 * hour - 1)).toBe('not trusted');

      expect(run(1)).toBe(48 * hour + 1);
      expect(readdirSync(folder)).toEqual([]);
      expect(said.mock.calls).toEqual([
        [
          `The clock of this machine ${reason}: expired data is not removed until the service has run for 24 hours without another jump.`,
        ],
      ]);
    },
  );

  it('is trusted again after 24 hours of run time, which are summed over starts', () => {
    const { run, setClock, start } = machine();
    setClock(45 * day);
    run(0);
    setClock(-45 * day);
    run(0);

    expect(run(10 * hour)).toBe('not trusted');
    start(20 * hour);
    expect(run(10 * hour)).toBe('not trusted');
    start(20 * hour);
    expect(run(4 * hour - 1)).toBe('not trusted');
    expect(run(1)).not.toBe('not trusted');
    expect(said).toHaveBeenCalledTimes(1);
  });

  it('is not trusted after a start that is more than a day ahead of the newest entry', () => {
    const { look, run, start } = machine();

    start(day, { newest: present });
    expect(look()).toBe(day);
    start(45 * day, { newest: present });
    expect(look()).toBe('not trusted');
    expect(said.mock.calls).toEqual([
      [expect.stringContaining('is 46 days ahead of the newest audit entry')],
    ]);
    expect(run(day)).toBe(47 * day);
  });

  it('is not trusted for a day when it shows a time long after the last look, whatever the newest entry says', () => {
    const { run, start } = machine();
    start(2 * day, { newest: present });
    run(20 * hour);

    start(hour, { newest: present });
    expect(run(3 * hour)).toBe('not trusted');
    // An entry that was recorded while the clock was wrong vouches for nothing.
    start(45 * day);
    expect(run(20 * hour)).toBe('not trusted');
    expect(run(4 * hour)).not.toBe('not trusted');
  });

  it('is trusted at a start where nothing was ever recorded', () => {
    const { look, start } = machine();
    start(45 * day, { newest: undefined });
    expect(look()).toBe(45 * day);
  });

  it('is not trusted for a day when the file with the run time is damaged', () => {
    const { folder, run, start } = machine();
    writeFileSync(join(folder, 'clock-not-trusted.json'), '{"left":');
    start(0);
    expect(run(day - 1)).toBe('not trusted');
    expect(run(1)).toBe(day);
  });
});
