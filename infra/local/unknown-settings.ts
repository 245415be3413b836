/** Finds environment variables that are no settings, and were probably meant as some. */
import { resolve } from 'node:path';
import { serviceSettings, settings, variableOf } from '../../lib/settings.ts';
import { environmentDefaults, localSettings } from './settings.ts';

const variablesOf = (all: object): readonly string[] => Object.keys(all).map(variableOf);

/** The settings that people choose. */
const meant = variablesOf({ ...localSettings, ...serviceSettings });

/** Those that the service gives itself besides. */
const known = new Set([...meant, ...variablesOf(settings), ...Object.keys(environmentDefaults)]);

/** The words of a name, whether it is written SESSION_DAYS or sessionDays. */
const wordsOf = (name: string): readonly string[] =>
  name
    .replaceAll(/([a-z\d])([A-Z])/g, '$1_$2')
    .toUpperCase()
    .split('_');

/** Whether words begin alike, as DAY and DAYS do, DIR and DIRECTORY, or VERIFY and VERIFICATION. */
const alike = (one: string, other: string): boolean => {
  const length = Math.min(one.length, other.length, 4);
  return length >= 3 && one.slice(0, length) === other.slice(0, length);
};

/** How many words of a setting's name another name has; 0 unless the first ones are alike. */
const common = (name: string, setting: string): number => {
  const [words, wanted] = [wordsOf(name), wordsOf(setting)];
  const [[first = ''], [wantedFirst = '']] = [words, wanted];
  if (!alike(first, wantedFirst)) return 0;
  return wanted.filter((one) => words.some((word) => alike(word, one))).length;
};

/** The setting that a name resembles most, in two words at least: MAIL_HOST is another program's. */
const resembled = (name: string): string | undefined => {
  const [closest] = meant
    .map((setting) => ({ setting, words: common(name, setting) }))
    .filter(({ words }) => words >= 2)
    .sort((one, other) => other.words - one.words);
  return closest?.setting;
};

/** A folder whose name differs from the word `memory` in letter case alone. */
const almostMemory = ({ DATA_DIR = '' }: Readonly<Record<string, string | undefined>>) =>
  DATA_DIR !== 'memory' && DATA_DIR.trim().toLowerCase() === 'memory'
    ? [
        `DATA_DIR=${DATA_DIR} is the folder ${resolve(DATA_DIR)}: only memory, in lower case, keeps nothing.`,
      ]
    : [];

/**
 * A sentence for each variable of the environment that is probably a misspelt setting. It never
 * holds the value, except of DATA_DIR.
 */
export const doubtsAbout = (
  env: Readonly<Record<string, string | undefined>>,
): readonly string[] => [
  ...Object.entries(env).flatMap(([name, value]) => {
    // Variables of AWS are the SDK's.
    if (!value || known.has(name) || name.startsWith('AWS_')) return [];
    const setting = resembled(name);
    return setting ? [`${name} is not a setting of this service: is ${setting} meant?`] : [];
  }),
  ...almostMemory(env),
];
