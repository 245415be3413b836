/** Finds environment variables and arguments that are not settings, but were probably meant to be. */
import { variableOf } from '../../lib/ground/setting.ts';
import { serviceSettings, settings } from '../../lib/ground/settings.ts';
import { environmentDefaults, localSettings } from '../local-settings.ts';

/** The settings that people choose. */
const meant = variablesOf({ ...localSettings, ...serviceSettings });

/** The settings that people choose, and the settings that the service sets itself. */
const known = new Set([...meant, ...variablesOf(settings), ...Object.keys(environmentDefaults)]);

/**
 * A sentence for each variable in an environment that is probably a misspelt setting. It does not contain the
 * variable's value.
 */
export function doubtsAbout(env: Readonly<Record<string, string | undefined>>): readonly string[] {
  return Object.entries(env).flatMap(([name, value]) => {
    // Variables that begin with AWS_ belong to the SDK.
    if (!value || known.has(name) || name.startsWith('AWS_')) return [];
    const setting = resembled(name);
    return setting ? [`${name} is not a setting of this service: is ${setting} meant?`] : [];
  });
}

/**
 * A sentence for the first argument of `npm start`, which takes no arguments. It does not contain the argument's value.
 */
export function doubtAbout([first]: readonly string[]): string | undefined {
  if (first === undefined) return undefined;
  const [, argument = '', name = ''] = /^(--([a-z\d-]+))/i.exec(first) ?? [];
  const variable = variableOf(name).replaceAll('-', '_');
  const setting = meant.includes(variable) ? variable : resembled(variable);
  const advice = setting
    ? `in place of ${argument} set ${setting}, as in ${setting}=… npm start.`
    : 'its settings are environment variables, as in PORT=4000 npm start (infra/settings.md, On one machine).';
  return `npm start takes no arguments: ${advice}`;
}

function variablesOf(all: object): readonly string[] {
  return Object.keys(all).map(variableOf);
}

/**
 * The setting that has the same first stem, and has the most other stems in common, at least one: MAIL_HOST resembles
 * no setting.
 */
function resembled(name: string): string | undefined {
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
}

/** The beginnings of a name's words. They are the same for SESSION_DAYS, sessionDay and SESSIONS_DAYS. */
function stemsOf(name: string): readonly string[] {
  return name
    .replaceAll(/([a-z\d])([A-Z])/g, '$1_$2')
    .toUpperCase()
    .split('_')
    .map((word) => word.slice(0, 3));
}
