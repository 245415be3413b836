import { RetentionDays } from 'aws-cdk-lib/aws-logs';
import { originsRule, parseOrigins } from './origins.ts';

/** A setting that is unknown or breaks a rule; names the setting and says the rule. */
export class SettingError extends Error {
  override readonly name = 'SettingError';

  constructor(setting: string, rule: string) {
    super(`Setting ${setting} ${rule}`);
  }
}

/** From the text given for a setting, or undefined, to its value. */
export interface Reader<T> {
  (setting: string, text: string | undefined): T;
  /** Greater for a stricter value; absent where no value is stricter than another. */
  readonly strictness?: (value: T) => number;
}

/** One of a list of words; the first is the default. */
export const oneOf =
  <T extends string>(allowed: readonly [T, ...T[]]): Reader<T> =>
  (setting, text = allowed[0]) => {
    const found = allowed.find((candidate) => candidate === text);
    if (!found) throw new SettingError(setting, `must be one of ${allowed.join(', ')}`);
    return found;
  };

/** One of a list of words, from the laxest, which is the default, to the strictest. */
export const fromLaxest = <T extends string>(words: readonly [T, ...T[]]): Reader<T> =>
  Object.assign(oneOf(words), { strictness: (word: T) => words.indexOf(word) });

/** A whole number within bounds. */
export const integer =
  (minimum: number, maximum: number, otherwise: number): Reader<number> =>
  (setting, text = String(otherwise)) => {
    const value = /^\d{1,9}$/.test(text) ? Number(text) : Number.NaN;
    if (!(value >= minimum && value <= maximum)) {
      throw new SettingError(setting, `must be a whole number from ${minimum} to ${maximum}`);
    }
    return value;
  };

/** A number, the stricter the greater. */
export const greaterIsStricter = (read: Reader<number>): Reader<number> =>
  Object.assign(read, { strictness: (value: number) => value });

/** How often something may be tried, the stricter the smaller; but 0 sets no limit. */
export const limit = (otherwise: number): Reader<number> =>
  Object.assign(integer(0, 1_000_000, otherwise), {
    strictness: (value: number) => (value === 0 ? Number.NEGATIVE_INFINITY : -value),
  });

/** Text of a given form, which may be left out. */
export const optional =
  (form: RegExp, description: string): Reader<string | undefined> =>
  (setting, text) => {
    if (text !== undefined && !form.test(text)) {
      throw new SettingError(setting, `must be ${description}`);
    }
    return text;
  };

const readOrigins: Reader<readonly string[]> = (setting, text = '*') => {
  const list = parseOrigins(text);
  if (!list) throw new SettingError(setting, originsRule);
  return list;
};

/** `*`, the default, or origins separated by commas, any of which are stricter. */
export const origins: Reader<readonly string[]> = Object.assign(readOrigins, {
  strictness: (list: readonly string[]) => (list.includes('*') ? 0 : 1),
});

/** The numbers of days that CloudWatch Logs knows. */
const retentions = Object.values(RetentionDays)
  .filter((days) => typeof days === 'number')
  .filter((days) => days !== RetentionDays.INFINITE)
  .sort((a, b) => a - b);

/** One of them; 90 unless said otherwise. */
export const retention: Reader<RetentionDays> = (setting, text = '90') => {
  const days = retentions.find((candidate) => String(candidate) === text);
  if (days === undefined) {
    throw new SettingError(setting, `must be one of ${retentions.join(', ')}`);
  }
  return days;
};

/** How many run at once: 1 unless said otherwise; `none`, undefined, for as many as come. */
export const concurrency: Reader<number | undefined> = (setting, text = '1') => {
  if (text === 'none') return undefined;
  const value = /^[1-9]\d{0,2}$/.test(text) ? Number(text) : undefined;
  if (!value) throw new SettingError(setting, 'must be none or a whole number from 1 to 999');
  return value;
};
