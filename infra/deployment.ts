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
  console: 'everybody can open its page, which shows nothing before a login',
} as const satisfies Partial<Record<Name, string>>;

const missingFrom = (file: Given, settings: DeploymentSettings): readonly string[] =>
  (Object.keys(consequences) as (keyof typeof consequences)[])
    .filter((name) => settings[name] === readSetting(name, {}) && !Object.hasOwn(file, name))
    .filter((name) => name !== 'alarmEmail' || !settings.alarmTopicArn)
    .map((name) => `${name} is ${settings[name] || 'not set'}: ${consequences[name]}`);

/** Says that the archive is locked, which nobody can undo, and when it is not. */
const locks = (
  file: Given,
  { auditSeal, auditArchiveDays, auditLockDays: days }: DeploymentSettings,
): readonly string[] => {
  if (auditSeal === 'off') return [];
  const isGiven = Object.hasOwn(file, 'auditLockDays') || days === 0;
  const open = 'whoever has the permission can delete entries from the archive';
  const undone = `auditLockDays is ${days}: nobody can undo that what is sealed stays for ${days} days, not even AWS; tables, keys and logs are protected, and outlive the stack; to try it, give auditLockDays=0`;
  return [
    ...(isGiven ? [] : [undone]),
    ...(days === 0 ? [`auditLockDays is 0: ${open}`] : []),
    ...(days > 0 && auditArchiveDays > days
      ? [
          `auditArchiveDays=${auditArchiveDays} is more than auditLockDays=${days}: after ${days} days ${open}`,
        ]
      : []),
  ];
};

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
    ...(settings.stage === 'production' ? locks(file, settings) : []),
    ...(given.length > 0 ? [`for this run only, by -c or cdk.json: ${given.join(', ')}`] : []),
  ];
};

/** Where a stack belongs. A file that does not say it may be deployed anywhere. */
interface Place {
  readonly account?: string;
  readonly region?: string;
}

const places = {
  account: [/^\d{12}$/, 'must be the 12 digits of an AWS account, as text'],
  region: [/^[a-z]{2}(?:-[a-z]+)+-\d$/, 'must be a region of AWS such as eu-west-1'],
} as const satisfies Record<keyof Place, unknown>;

/**
 * Where the file of a deployment says that its stack belongs.
 * @param credentials the account of the credentials, if there are any
 * @throws {SettingError} where it is none, or another one than that of the credentials
 */
export const placeIn = (file: Given, credentials: string | undefined): Place => {
  const given = Object.entries(places).filter(([name]) => Object.hasOwn(file, name));
  for (const [name, [allowed, rule]] of given) {
    if (!allowed.test(String(file[name]))) throw new SettingError(name, rule);
  }
  const place: Place = Object.fromEntries(given.map(([name]) => [name, String(file[name])]));
  if (place.account && credentials && credentials !== place.account) {
    throw new SettingError(
      'account',
      `is ${place.account}, but the credentials are of ${credentials}`,
    );
  }
  return place;
};

/** The names that only the file of a deployment has; the construct takes no such props. */
const ofFile = ['stage', 'account', 'region'];

interface Deployment {
  readonly name: string;
  readonly place: Place;
  readonly settings: AccountsSettings;
  /** A line for each thing that whoever makes the deployment should know. */
  readonly notices: readonly string[];
}

/**
 * Reads a deployment: its file in infra/deployments, which the CDK's context chooses by
 * `-c name=…`, over the defaults of its stage; and single settings of the context over both.
 * @param credentials the account of the credentials, if there are any
 * @throws {SettingError} on the first setting that is unknown or not allowed
 */
export const readDeployment = (
  { name: chosen, ...context }: Given,
  credentials?: string,
): Deployment => {
  const name = String(chosen ?? 'development').trim();
  const whole = readFile(name);
  for (const each of ofFile.filter((setting) => Object.hasOwn(context, setting))) {
    throw new SettingError(each, `stands in ${fileOf(name)}; choose a file by -c name=…`);
  }
  const place = placeIn(whole, credentials);
  const { account, region, ...file } = whole;
  const settings: AccountsSettings = { ...file, ...context };
  const read = readDeploymentSettings(settings);
  return { name, place, settings, notices: notices(read, file, context) };
};
