/** The settings of a service on this machine that is not running: the settings of its newest start. */
import { parseSetting, type Setting, variableOf } from '../../lib/ground/setting.ts';
import { settings } from '../../lib/ground/settings.ts';
import { type KeptStart, placeVariables, readKeptStart } from '../local/kept-start.ts';
import { Failure } from './failure.ts';
import { shownTime } from './terminal.ts';

/**
 * Applies the settings of the newest start to this process. Prints on standard error from which start the settings are,
 * and which variables of the shell they replace.
 * @returns the start; undefined if the folder has no settings of a start, as folders of version 1.0.0
 * @throws {Failure} if a variable of the shell names another engine or table, or if the settings cannot be read
 */
export function useKeptSettings(folder: string): KeptStart | undefined {
  const kept = read(folder);
  if (!kept) return undefined;
  const startedAt = shownTime(Date.parse(kept.startedAt));
  const differing = differingFrom(kept);
  requireSamePlace(differing, startedAt);
  console.error(`The service is not running: the settings of its start of ${startedAt} count.`);
  if (differing.length > 0) {
    console.error(
      `These variables of the shell differ from them and do not count: ${differing.join(', ')}.`,
    );
  }
  Object.assign(process.env, kept.variables);
  return kept;
}

/** @throws {Failure} if the file exists but cannot be read */
function read(folder: string): KeptStart | undefined {
  try {
    return readKeptStart(folder);
  } catch (error) {
    throw new Failure((error as Error).message);
  }
}

/** The variables whose values in this process differ from their values at the start. */
function differingFrom({ variables }: KeptStart): readonly string[] {
  return Object.entries(variables)
    .filter(([name, kept]) => {
      const given = process.env[name];
      return given && canonical(name, given) !== canonical(name, kept);
    })
    .map(([name]) => name);
}

const settingsByVariable: Readonly<Record<string, Setting>> = Object.fromEntries(
  Object.entries(settings).map(([name, setting]) => [variableOf(name), setting]),
);

/** A form of a value that is the same for all spellings of the value. */
function canonical(variable: string, text: string): string {
  const setting = settingsByVariable[variable];
  if (variable === 'AWS_ENDPOINT_URL_DYNAMODB') return URL.parse(text)?.href ?? text;
  return String((setting && parseSetting(setting, text)) ?? text);
}

/** @throws {Failure} if a variable of the shell names an engine or table that the start did not use */
function requireSamePlace(differing: readonly string[], startedAt: string): void {
  for (const [variable, what] of Object.entries(placeVariables)) {
    if (!differing.includes(variable)) continue;
    throw new Failure(
      `${variable} names another ${what} than the start of the service at ${startedAt}: unset it, or start the service with it.`,
    );
  }
}
