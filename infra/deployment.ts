/** A deployment: its name, its file of settings, and what is said before it is made. */
import { globSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import {
  type AccountsSettings,
  type DeploymentSettings,
  type Given,
  type Name,
  names,
  readDeploymentSettings,
  readSetting,
  SettingError,
} from './deployment-settings.ts';
import { faultInJson } from './json.ts';

const folder = fileURLToPath(new URL('deployments/', import.meta.url));
const fileOf = (name: string) => `infra/deployments/${name}.json`;

/** The settings in the file of a deployment. @throws {SettingError} where there is no such file */
const readFile = (name: string): Given => {
  const known = globSync('*.json', { cwd: folder }).map((file) => file.slice(0, -'.json'.length));
  if (!/^[a-z][a-z\d-]{0,39}$/.test(name)) {
    throw new SettingError('name', 'must be up to 40 lower-case letters, digits and hyphens');
  }
  if (!known.includes(name)) {
    const choice = known.sort().join(', ');
    throw new SettingError(
      'name',
      `is ${name}, but ${fileOf(name)} is missing; there are ${choice}`,
    );
  }
  const text = readFileSync(`${folder}${name}.json`, 'utf8');
  const place = faultInJson(text);
  if (place)
    throw new SettingError('name', `is ${name}, but ${fileOf(name)} is not JSON: ${place}`);
  const given: unknown = JSON.parse(text);
  if (typeof given === 'object' && given !== null && !Array.isArray(given)) return given as Given;
  throw new SettingError('name', `is ${name}, but ${fileOf(name)} is not a JSON object`);
};

/** The consequences of settings that a public service has, unless its file says otherwise. */
const consequences = {
  alarmEmail: 'nobody will be notified of alarms',
  corsOrigins: 'every page may call the API',
  domainName: 'the API has no host name of its own',
  mailFrom: 'no mails are sent, and nobody can reset a password',
  emailVerification: 'users do not verify their addresses',
} as const satisfies Partial<Record<Name, string>>;

const missingFrom = (file: Given, settings: DeploymentSettings): readonly string[] =>
  (Object.keys(consequences) as (keyof typeof consequences)[])
    .filter((name) => settings[name] === readSetting(name, {}) && !Object.hasOwn(file, name))
    .filter((name) => name !== 'alarmEmail' || !settings.alarmTopicArn)
    .map((name) => `${name} is ${settings[name] || 'not set'}: ${consequences[name]}`);

/** Says that entries stay in the archive after the days for which nobody can delete them. */
const shortLock = ({ auditSeal, auditArchiveDays, auditLockDays }: DeploymentSettings) =>
  auditSeal !== 'off' && auditArchiveDays > auditLockDays
    ? [
        `auditArchiveDays=${auditArchiveDays} is more than auditLockDays=${auditLockDays}: after ${auditLockDays} days whoever has the permission can delete entries from the archive`,
      ]
    : [];

/**
 * The notices that whoever makes a deployment should read before.
 * @param file its settings in its file
 * @param context those that the command line gives for one run
 */
export const notices = (settings: DeploymentSettings, file: Given, context: Given): string[] => {
  const given = names
    .filter((name) => Object.hasOwn(context, name))
    .map((name) => `${name}=${settings[name]}`);
  return [
    ...(settings.stage === 'production' ? missingFrom(file, settings) : []),
    ...(settings.stage === 'production' ? shortLock(settings) : []),
    ...(given.length > 0 ? [`for this run only, by -c or cdk.json: ${given.join(', ')}`] : []),
  ];
};

interface Deployment {
  readonly name: string;
  readonly settings: AccountsSettings;
  /** A line for each thing that whoever makes the deployment should know. */
  readonly notices: readonly string[];
}

/**
 * Reads a deployment: its file in infra/deployments, which the CDK's context chooses by
 * `-c name=…`, over the defaults of its stage; and single settings of the context over both.
 * @throws {SettingError} on the first setting that is unknown or not allowed
 */
export const readDeployment = ({ name: chosen, ...context }: Given): Deployment => {
  const name = String(chosen ?? 'development').trim();
  const file = readFile(name);
  if (Object.hasOwn(context, 'stage')) {
    throw new SettingError('stage', `stands in ${fileOf(name)}; choose a file by -c name=…`);
  }
  const settings: AccountsSettings = { ...file, ...context };
  const read = readDeploymentSettings(settings);
  return { name, settings, notices: notices(read, file, context) };
};
