/** The rules of settings that `npm start` and a deployment share, beside the settings of the service. */
import {
  ConfigError,
  type Environment,
  readSetting,
  type Setting,
  variableOf,
} from '../lib/ground/settings.ts';
import { faultInJson } from './json.ts';

/** The origins that a value of {@link corsOrigins} lists. */
export const originsIn = (text: string): string[] => text.split(',').map((each) => each.trim());

/** Whether a text is an origin of http or https, as browsers write it. */
export const isOrigin = (text: string): boolean =>
  /^https?:[^*]+$/.test(text) && URL.parse(text)?.origin === text;

/** The origins whose pages may call the API from a browser. Only the gateway reads them. */
export const corsOrigins = {
  allowed: {
    rule: '* or a comma-separated list of origins without a final slash, such as https://app.example.com',
    isAllowed: (text) => originsIn(text).every(isOrigin),
  },
  default: '*',
} as const satisfies Setting;

/** The headers that pages of other origins may send and read. The origins are a setting. */
export const cors = {
  methods: ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'],
  requestHeaders: [
    'authorization',
    'content-type',
    // Tracing libraries in browsers add these to every request.
    'traceparent',
    'tracestate',
    'baggage',
    'sentry-trace',
    'x-amzn-trace-id',
  ],
  responseHeaders: ['apigw-requestid', 'error-code', 'link', 'retry-after', 'x-request-id'],
  /** Seconds for which a browser may cache the response to a preflight request. */
  maxAge: 3600,
} as const;

/** The settings whose text is JSON. */
export const jsonSettings = ['identityProviders', 'passkeys', 'tags'] as const;
export type JsonName = (typeof jsonSettings)[number];
export const isJson = (name: string): boolean => (jsonSettings as readonly string[]).includes(name);

/** The place where a text stops being JSON, which the rule of a setting leaves open. */
export const placeOfFault = (name: string, text = ''): string => {
  const place = isJson(name) ? faultInJson(text) : undefined;
  return place ? `; it is not JSON: ${place}` : '';
};

type Catalogue = Readonly<Record<string, Setting>>;

/** A setting, and those that it requires, directly or through others. */
const chainOf = (
  requiredBy: (name: string) => readonly string[],
  name: string,
  known: readonly string[] = [],
): readonly string[] => {
  const join = (chain: readonly string[], next: string) => chainOf(requiredBy, next, chain);
  return known.includes(name) ? known : requiredBy(name).reduce(join, [...known, name]);
};

/**
 * The settings that a setting with a value lacks: those that it requires, directly or through others,
 * and that are at their defaults.
 * @param settingOf the value of a setting, undefined or '' for its default
 * @param nameOf the name under which users know a setting
 * @returns it completes a sentence that begins with the name of the setting; undefined: nothing, or
 *   the same as a setting that it requires
 */
export const lackOf = (
  name: string,
  all: Catalogue,
  settingOf: (name: string) => unknown,
  nameOf = (each: string) => each,
): string | undefined => {
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
};

/**
 * Everything that is wrong with the settings in an environment, a sentence each: first the values that
 * are not allowed, then what those that are set lack.
 */
export const faultsIn = (env: Environment, all: Catalogue): readonly string[] => {
  const values = Object.entries(all).flatMap(([name, setting]) => {
    try {
      readSetting(env, name, setting);
      return [];
    } catch (error) {
      return [(error as Error).message + placeOfFault(name, env[variableOf(name)])];
    }
  });
  const lacking = Object.keys(all).flatMap((name) => {
    const lack = lackOf(name, all, (each) => env[variableOf(each)], variableOf);
    return lack ? [new ConfigError(variableOf(name), lack).message] : [];
  });
  return [...values, ...lacking];
};
