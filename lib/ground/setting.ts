/** The form of a setting: the values that it may have, and how its text in an environment is read. */

/** They are data, not valibot schemas: the stack, the local service and the documents read them too. */
export type Allowed =
  | readonly (string | number)[]
  /** A whole number within these bounds, or a single other value. */
  | { readonly from: number; readonly to: number; readonly or?: string | number }
  /** Text that follows a rule; the rule completes a sentence that begins with `must be`. */
  | Rule;

export interface Rule {
  readonly rule: string;
  readonly isJson?: true;
  isAllowed(text: string): boolean;
}

export interface Setting {
  readonly allowed: Allowed;
  /** The default as text, which is always an allowed value. Absent: the setting has no default. */
  readonly default?: string;
  /** The names of settings that must not have their defaults unless this setting has its default. */
  readonly requires?: string | readonly string[];
  /** Another setting, and the setting that this one also requires if the other does not have its default. */
  readonly requiresWith?: Readonly<Record<string, string>>;
  /**
   * Whether a stack only passes the setting on. Its value in a stack may be a reference that AWS resolves during the
   * deployment, so only functions can check it.
   */
  readonly isPassedOn?: true;
}

export type Catalogue = Readonly<Record<string, Setting>>;

/** Any text: `anyText` must be set, `optionalText` is '' by default. */
export const anyText = {
  allowed: { rule: 'text', isAllowed: () => true },
} as const satisfies Setting;
export const optionalText = { ...anyText, default: '' } as const satisfies Setting;

type ValueIn<A> = A extends readonly (infer Value)[]
  ? Value
  : A extends { from: number }
    ? number | (A extends { or: infer Other } ? Other : never)
    : string;

export type ValueOf<S extends Setting> = ValueIn<S['allowed']>;

export type Values<C extends Catalogue> = { readonly [K in keyof C]: ValueOf<C[K]> };

/** The environment variable of a setting: SESSION_DAYS for `sessionDays`. */
export function variableOf(name: string): string {
  return name.replace(/[A-Z]/g, '_$&').toUpperCase();
}

/** The value that a text means. @returns undefined for a text that is not allowed */
export function parseSetting(setting: Setting, text: string): string | number | undefined {
  const { allowed } = setting;
  if ('rule' in allowed) {
    return text === setting.default || allowed.isAllowed(text) ? text : undefined;
  }
  if (!('from' in allowed)) return allowed.find((value) => String(value) === text);
  const { from, to, or } = allowed;
  if (text === String(or)) return or;
  const number = /^\d{1,9}$/.test(text) ? Number(text) : Number.NaN;
  return number >= from && number <= to ? number : undefined;
}

export function ruleOf({ allowed }: Setting): string {
  if ('rule' in allowed) return `must be ${allowed.rule}`;
  if (!('from' in allowed)) return `must be one of ${allowed.join(', ')}`;
  const { from, to, or } = allowed;
  return `must be ${or === undefined ? '' : `${or}, or `}a whole number from ${from} to ${to}`;
}

/** A setting is missing, or its value is not allowed; the message names the variable and never contains the value. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';

  constructor(variable: string, rule: string) {
    super(`Environment variable ${variable} ${rule}`);
  }
}

export type Environment = Readonly<Record<string, string | undefined>>;

/** @throws {ConfigError} unless the environment has a value that is allowed, or there is a default */
export function readSetting(env: Environment, name: string, setting: Setting): string | number {
  const variable = variableOf(name);
  const given = env[variable] || setting.default;
  if (given === undefined) throw new ConfigError(variable, 'is not set');
  const value = parseSetting(setting, given);
  if (value === undefined) throw new ConfigError(variable, ruleOf(setting));
  return value;
}

/**
 * The values of settings in an environment. A setting is read only when it is used, so that a function that never uses
 * a table does not need the name of the table; a setting is read again only if its text changes.
 * @throws {ConfigError} from the getter of a setting that is missing or not allowed
 */
// @__NO_SIDE_EFFECTS__
export function valuesIn<C extends Catalogue>(env: Environment, catalogue: C): Values<C> {
  const getterOf = (name: string, setting: Setting) => {
    const variable = variableOf(name);
    let read: { readonly text: string | undefined; readonly value: string | number } | undefined;
    return () => {
      const text = env[variable];
      if (read?.text !== text || !read) read = { text, value: readSetting(env, name, setting) };
      return read.value;
    };
  };
  const getters = Object.entries(catalogue).map(([name, setting]) => [
    name,
    { get: getterOf(name, setting), enumerable: true, configurable: true },
  ]);
  return Object.defineProperties({}, Object.fromEntries(getters)) as Values<C>;
}
