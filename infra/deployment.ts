/** A deployment: its name, its file of settings, and the notice that is printed before it is made. */
import { globSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import {
  type AccountsSettings,
  type DeploymentSettings,
  type Given,
  names,
  SettingError,
} from './deployment-settings.ts';
import { faultInJson } from './json.ts';
import { readDeploymentSettings } from './read-deployment-settings.ts';

/** The account and the region of a stack. If its file does not name them, the stack may be deployed anywhere. */
interface Place {
  readonly account?: string;
  readonly region?: string;
}

/** The settings of a deployment that may only be set in its file. */
const ofFile = ['stage', 'account', 'region'];

/**
 * Reads a deployment. The CDK's context names its file in infra/deployments (`-c name=…`). The file overrides the
 * defaults of the stage, and single settings in the context override both.
 * @param credentials the account of the credentials, if there are any
 * @returns also a notice of the settings that are not from the file; undefined: all settings are from it
 * @throws {SettingError} on the first setting that is unknown or not allowed
 */
export function readDeployment({ name: chosen, ...context }: Given, credentials?: string) {
  const name = String(chosen ?? 'development').trim();
  const whole = readFile(name);
  for (const each of ofFile.filter((setting) => Object.hasOwn(context, setting))) {
    throw new SettingError(
      each,
      `may only be set in ${fileOf(name)}; choose another file with -c name=…`,
    );
  }
  const place = placeIn(whole, credentials);
  const { account, region, ...file } = whole;
  const settings: AccountsSettings = { ...file, ...context };
  const notice = noticeOf(readDeploymentSettings(settings), context);
  return { name, place, settings, notice };
}

const places = {
  account: [/^\d{12}$/, 'must be the 12 digits of an AWS account, as text'],
  region: [/^[a-z]{2}(?:-[a-z]+)+-\d$/, 'must be a region of AWS such as eu-west-1'],
} as const satisfies Record<keyof Place, unknown>;

/**
 * The account and the region that the file of a deployment names for its stack.
 * @param credentials the account of the credentials, if there are any
 * @throws {SettingError} if the account or the region is not valid, or if the credentials belong to another account
 */
export function placeIn(file: Given, credentials: string | undefined): Place {
  const given = Object.entries(places).filter(([name]) => Object.hasOwn(file, name));
  for (const [name, [allowed, rule]] of given) {
    if (!allowed.test(String(file[name]))) throw new SettingError(name, rule);
  }
  const place: Place = Object.fromEntries(given.map(([name]) => [name, String(file[name])]));
  if (place.account && credentials && credentials !== place.account) {
    throw new SettingError(
      'account',
      `is ${place.account}, but the credentials belong to ${credentials}`,
    );
  }
  return place;
}

const folder = fileURLToPath(new URL('deployments/', import.meta.url));

function readFile(name: string): Given {
  const known = globSync('*.json', { cwd: folder }).map((file) => file.slice(0, -'.json'.length));
  if (!/^[a-z][a-z\d-]{0,39}$/.test(name)) {
    throw new SettingError(
      'name',
      'must begin with a letter, and be up to 40 lower-case letters, digits and hyphens',
    );
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
}

function fileOf(name: string) {
  return `infra/deployments/${name}.json`;
}

/** Names the settings that come from the command line, for one run only, or from the CDK's own file. */
function noticeOf(settings: DeploymentSettings, context: Given): string | undefined {
  const given = names
    .filter((name) => Object.hasOwn(context, name))
    .map((name) => `${name}=${settings[name]}`);
  return given.length > 0
    ? `by -c (for this run only) or by cdk.json: ${given.join(', ')}`
    : undefined;
}
