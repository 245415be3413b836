/** Times and numbers as the language of the browser writes them, and English plurals. */
const dateTime = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'medium' });
const short = new Intl.DateTimeFormat(undefined, {
  month: 'short',
  day: 'numeric',
  hour: 'numeric',
  minute: '2-digit',
  second: '2-digit',
});
const day = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium' });
const utc = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeZone: 'UTC' });
const clock = new Intl.DateTimeFormat(undefined, { timeStyle: 'short' });
const exact = new Intl.DateTimeFormat(undefined, { timeStyle: 'medium' });
const number = new Intl.NumberFormat();
/** The texts of the console are English. */
const plural = new Intl.PluralRules('en');

/** A time in milliseconds since 1970; NaN if the text is not a time, as in an entry that the service did not write. */
export const timeOf = (at: string): number =>
  /^\d{4}-\d\d-/.test(at) ? Date.parse(at) : Number.NaN;

/**
 * Here and below, a text that is not a time is returned unchanged, and an empty text is replaced by `no time`, except
 * in {@link localRange}, which throws.
 */
const written = (at: string, write: (time: number) => string): string => {
  const time = timeOf(at);
  return Number.isNaN(time) ? at || 'no time' : write(time);
};

/** The day of a time, on the calendar of this machine. */
export const localDay = (at: string): string => written(at, day.format);

/** A day of UTC, such as that of `2026-11-22`. */
export const utcDay = (at: string): string => written(at, (time) => `${utc.format(time)} (UTC)`);

/** A time on the clock of this machine. */
export const localTime = (at: string): string => written(at, dateTime.format);

/** A time of the trail, as short as it is exact to the second; the year only if it is not the present one. */
export const shortTime = (at: string): string =>
  written(at, (time) => (year(time) === year(Date.now()) ? short : dateTime).format(time));

const year = (time: number): number => new Date(time).getFullYear();

/** A time in UTC: `2026-11-22 09:05:00 UTC`. */
export const utcTime = (at: string): string =>
  written(at, (time) => `${new Date(time).toISOString().slice(0, 19).replace('T', ' ')} UTC`);

/** A range of time on the clock of this machine. */
export const localRange = (from: string, until: string): string =>
  dateTime.formatRange(new Date(from), new Date(until));

/** A time of the next hours on the clock of this machine: `14:33`. */
export const clockTime = (at: string): string => written(at, clock.format);

/** A time on the clock of this machine, to the second, and with its day if it is not today. */
export const exactTime = (at: string): string =>
  written(at, localDay(at) === day.format() ? exact.format : () => shortTime(at));

/** How long ago something was, in whole minutes or, from two hours on, in whole hours. */
export const ago = (milliseconds: number): string => {
  const minutes = Math.max(0, Math.floor(milliseconds / 60_000));
  if (minutes === 0) return 'just now';
  const said =
    minutes < 120 ? counted(minutes, 'minute') : counted(Math.floor(minutes / 60), 'hour');
  return `${said} ago`;
};

/** `4,980`. */
export const grouped = (count: number): string => number.format(count);

/** `1 entry`, `1,000 entries`. */
export const counted = (count: number, one: string, several = `${one}s`): string =>
  `${number.format(count)} ${plural.select(count) === 'one' ? one : several}`;

/** A length of time: `2:05 min`, or `45 s`. */
export const duration = (seconds: number): string =>
  seconds < 60
    ? `${seconds} s`
    : `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')} min`;
