/** Checks which settings other settings require, for a deployment and for one machine. */
import type { Catalogue } from '../lib/ground/setting.ts';

/**
 * The settings that a setting with a value lacks: it requires them, directly or through other settings, but they have
 * their defaults.
 * @param settingOf returns the value of a setting, undefined or '' for its default
 * @param nameOf returns the name by which users know a setting
 * @returns the rest of a sentence that begins with the name of the setting; undefined: the setting lacks nothing, or a
 *   setting that it requires lacks the same settings
 */
export function lackOf(
  name: string,
  all: Catalogue,
  settingOf: (name: string) => unknown,
  nameOf = (each: string) => each,
): string | undefined {
  const isAtDefault = (each: string): boolean => {
    const value = String(settingOf(each) ?? '');
    return value === '' || value === all[each]?.default;
  };
  const requiredBy = (each: string): readonly string[] => {
    const { requires = [], requiresWith = {} } = all[each] ?? {};
    const more = Object.entries(requiresWith).filter(([other]) => !isAtDefault(other));
    return [requires, more.map(([, required]) => required)].flat();
  };
  const direct = requiredBy(name).filter(isAtDefault);
  if (direct.length === 0 || isAtDefault(name)) return undefined;
  const missing = new Set(direct.flatMap((each) => chainOf(requiredBy, each).filter(isAtDefault)));
  const lacking = [...missing].map((each) => {
    const value = all[each]?.default;
    return value ? `that ${nameOf(each)} is not ${value}` : nameOf(each);
  });
  return `requires ${new Intl.ListFormat('en-GB').format(lacking)}`;
}

/** A setting, and the settings that it requires, directly or through other settings. */
function chainOf(
  requiredBy: (name: string) => readonly string[],
  name: string,
  known: readonly string[] = [],
): readonly string[] {
  const join = (chain: readonly string[], next: string) => chainOf(requiredBy, next, chain);
  return known.includes(name) ? known : requiredBy(name).reduce(join, [...known, name]);
}
