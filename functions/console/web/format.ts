/** Times, numbers and plurals as the language of the browser writes them. */
const dateTime = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'medium' });
const number = new Intl.NumberFormat();
/** The texts of the console are English. */
const plural = new Intl.PluralRules('en');

const day = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium' });

/** Any value as text. Whoever writes to the table decides what a field of an entry holds. */
export const textOf = (value: unknown): string =>
  typeof value === 'string' ? value : (JSON.stringify(value) ?? '');

/** The time that a value is, in milliseconds since 1970; NaN: it is none. */
export const timeOf = (value: unknown): number => {
  const time = /^\d{4}-\d\d-/.test(textOf(value)) ? Date.parse(textOf(value)) : Number.NaN;
  return time >= 0 && time < Date.UTC(10_000, 0) ? time : Number.NaN;
};

const written = (at: unknown, write: (time: number) => string): string => {
  const time = timeOf(at);
  return Number.isNaN(time) ? textOf(at) || 'no time' : write(time);
};

/** The day of a time, on the calendar of this machine. Here and below, what is no time stays. */
export const localDay = (at: unknown): string => written(at, day.format);

/** A time on the clock of this machine. */
export const localTime = (at: unknown): string => written(at, dateTime.format);

/** The same in UTC: `2026-11-22 09:05:00 UTC`. */
export const utcTime = (at: unknown): string =>
  written(at, (time) => `${new Date(time).toISOString().slice(0, 19).replace('T', ' ')} UTC`);

/** `1 entry`, `1,000 entries`. */
export const counted = (count: number, one: string, several = `${one}s`): string =>
  `${number.format(count)} ${plural.select(count) === 'one' ? one : several}`;

/** A time to wait: `2:05`, or `45 s`. */
export const duration = (seconds: number): string =>
  seconds < 60
    ? `${seconds} s`
    : `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')} min`;
