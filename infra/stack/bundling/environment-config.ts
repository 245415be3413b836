/**
 * Replaces @smithy/core/config in the bundles. Each setting of the SDK comes from the environment that Lambda gives to
 * a function, or has its default: there are neither files of profiles nor instance metadata to search. Leaving this
 * search out saves 6 KB.
 */
type Environment = Readonly<Record<string, string | undefined>>;

interface Setting<T> {
  readonly environmentVariableSelector: (environment: Environment) => T | undefined;
  readonly default?: T | (() => T | Promise<T>);
}

export function loadConfig<T>({ environmentVariableSelector, default: byDefault }: Setting<T>) {
  return async (): Promise<T | undefined> =>
    environmentVariableSelector(process.env) ??
    (byDefault instanceof Function ? byDefault() : byDefault);
}

export function booleanSelector(environment: Environment, name: string): boolean | undefined {
  return environment[name] === undefined ? undefined : environment[name] === 'true';
}

export const NODE_USE_DUALSTACK_ENDPOINT_CONFIG_OPTIONS = flag('AWS_USE_DUALSTACK_ENDPOINT');
export const NODE_USE_FIPS_ENDPOINT_CONFIG_OPTIONS = flag('AWS_USE_FIPS_ENDPOINT');
export const NODE_REGION_CONFIG_OPTIONS: Setting<string> = {
  environmentVariableSelector: ({ AWS_REGION }) => AWS_REGION,
  default: () => {
    throw new Error('Environment variable AWS_REGION is not set');
  },
};
export const NODE_REGION_CONFIG_FILE_OPTIONS = {};

export function resolveRegionConfig<T>(config: T): T {
  return config;
}

export function resolveDefaultsModeConfig() {
  return async () => 'legacy';
}

// These exports are used only by code that no bundle contains, or that reads files.
export const REGION_ENV_NAME = 'AWS_REGION';
export const REGION_INI_NAME = 'region';
export const CONFIG_PREFIX_SEPARATOR = '.';
export const SelectorType = {};
export const ProviderError = Error;

function flag(name: string): Setting<boolean> {
  return {
    environmentVariableSelector: (environment) => booleanSelector(environment, name),
    default: false,
  };
}
