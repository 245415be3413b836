import { type ServiceSetting, type ServiceVariable, serviceSettings } from '../lib/settings.ts';

type Name = keyof typeof serviceSettings;

/** A setting that the operator's commands read as the functions do. */
interface OperatorSetting {
  readonly name: Name;
  readonly variable: ServiceVariable;
  /** The output of the stack that has its value. */
  readonly output: string;
  /** Whether it may be none, which is ''; then there is no output. */
  readonly isOptional: boolean;
}

const isOperators = (setting: ServiceSetting<unknown>) => setting.operator === true;

const capitalise = (name: string) => name.charAt(0).toUpperCase() + name.slice(1);

/** Those settings: a deployed stack tells them by outputs, a local service by its data folder. */
export const operatorSettings: readonly OperatorSetting[] = (Object.keys(serviceSettings) as Name[])
  .filter((name) => isOperators(serviceSettings[name]))
  .map((name) => ({
    name,
    variable: serviceSettings[name].variable,
    output: capitalise(name),
    isOptional: (serviceSettings[name].otherwise as string) === '',
  }));
