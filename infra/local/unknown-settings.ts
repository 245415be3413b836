/** Finds environment variables that are no settings, and were probably meant as some. */
import { serviceSettings, settings, variableOf } from '../../lib/settings.ts';
import { environmentDefaults, localSettings } from './settings.ts';

const variablesOf = (all: object): readonly string[] => Object.keys(all).map(variableOf);

/** The settings that people choose. */
const meant = variablesOf({ ...localSettings, ...serviceSettings });

/** Those that the service gives itself besides. */
const known = new Set([...meant, ...variablesOf(settings), ...Object.keys(environmentDefaults)]);

/** The beginnings of a name's words, alike for SESSION_DAYS, sessionDay and SESSIONS_DAYS. */
const stemsOf = (name: string): readonly string[] =>
  name
    .replaceAll(/([a-z\d])([A-Z])/g, '$1_$2')
    .toUpperCase()
    .split('_')
    .map((word) => word.slice(0, 3));

/** The setting that has the same first stem and most others: MAIL_HOST is another program's. */
const resembled = (name: string): string | undefined => {
  const [first, ...others] = stemsOf(name);
  const [closest] = meant
    .map((setting) => ({ setting, stems: stemsOf(setting) }))
    .filter(({ stems }) => stems[0] === first)
    .map(({ setting, stems: [, ...rest] }) => ({
      setting,
      shared: rest.filter((stem) => others.includes(stem)).length,
    }))
    .filter(({ shared }) => shared > 0)
    .sort((one, other) => other.shared - one.shared);
  return closest?.setting;
};

/** A sentence for each variable of an environment that is probably a misspelt setting, without its value. */
export const doubtsAbout = (env: Readonly<Record<string, string | undefined>>): readonly string[] =>
  Object.entries(env).flatMap(([name, value]) => {
    // Variables of AWS are the SDK's.
    if (!value || known.has(name) || name.startsWith('AWS_')) return [];
    const setting = resembled(name);
    return setting ? [`${name} is not a setting of this service: is ${setting} meant?`] : [];
  });
