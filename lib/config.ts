/** The values of the settings that lib reads, from the environment and typed. */
import { sealerSettings, settings, type ValueOf, type VariableSetting } from './settings.ts';

/** A setting that is missing or out of range; names the variable, never its value. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';

  constructor(variable: string, rule: string) {
    super(`Environment variable ${variable} ${rule}`);
  }
}

type Environment = Readonly<Record<string, string | undefined>>;
type Catalogue = Readonly<Record<string, VariableSetting<unknown>>>;
type Values<C extends Catalogue> = { readonly [K in keyof C]: ValueOf<C[K]> };
export type Config = Values<typeof settings>;

const variableOf = (name: string): string => (settings as Catalogue)[name]?.variable ?? name;

const read = (env: Environment, setting: VariableSetting<unknown>) => {
  const { variable, rule, otherwise, together } = setting;
  const text = env[variable] || otherwise;
  if (text === undefined) throw new ConfigError(variable, 'is not set');
  const value = rule.parse(text);
  if (value === undefined) throw new ConfigError(variable, `must be ${rule.form}`);
  if (together && env[variable] && !env[variableOf(together)]) {
    throw new ConfigError(variableOf(together), `must be set together with ${variable}`);
  }
  return value;
};

/**
 * Has an environment show settings' values: each is read whenever it is used, and not before, so
 * that a function which never touches a table needs no table name.
 */
const show = <C extends Catalogue>(env: Environment, catalogue: C): Values<C> => {
  const getters = Object.entries(catalogue).map(([name, setting]) => [
    name,
    { get: () => read(env, setting), enumerable: true, configurable: true },
  ]);
  return Object.defineProperties({}, Object.fromEntries(getters)) as Values<C>;
};

/**
 * The settings that an environment shows.
 * @throws {ConfigError} from the getter of a setting that is missing or out of range
 */
export const configFrom = (env: Environment): Config => show(env, settings);

export const config = configFrom(process.env);

/** Those of the sealer on AWS besides. Its getters throw likewise. */
export const sealerConfig = show(process.env, sealerSettings);
