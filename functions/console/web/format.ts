/** Times, numbers and plurals as the language of the browser writes them. */
const dateTime = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'medium' });
const number = new Intl.NumberFormat();
/** The texts of the console are English. */
const plural = new Intl.PluralRules('en');

const day = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium' });

/** The day of a time, on the calendar of this machine. */
export const localDay = (iso: string): string => day.format(new Date(iso));

/** A time on the clock of this machine. */
export const localTime = (iso: string): string => dateTime.format(new Date(iso));

/** The same in UTC: `2026-11-22 09:05:00 UTC`. */
export const utcTime = (iso: string): string =>
  `${new Date(iso).toISOString().slice(0, 19).replace('T', ' ')} UTC`;

/** `1 entry`, `1,000 entries`. */
export const counted = (count: number, one: string, several = `${one}s`): string =>
  `${number.format(count)} ${plural.select(count) === 'one' ? one : several}`;

/** A time to wait: `2:05`, or `45 s`. */
export const duration = (seconds: number): string =>
  seconds < 60
    ? `${seconds} s`
    : `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')} min`;
