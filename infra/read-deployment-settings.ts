import { Fn, Token } from 'aws-cdk-lib';
import { Construct } from 'constructs';
import { parseSetting, ruleOf, type Setting } from '../lib/ground/setting.ts';
import {
  type DeploymentSetting,
  type DeploymentSettings,
  deploymentSettings,
  type Given,
  type Name,
  names,
  SettingError,
} from './deployment-settings.ts';
import { placeOfFault } from './json.ts';
import production from './production.json' with { type: 'json' };
import { lackOf } from './requirements.ts';

/**
 * Reads the settings of a deployment. The defaults of stage production are in infra/production.json;
 * given settings override them.
 * @throws {SettingError} on the first setting that is unknown or not allowed
 */
export function readDeploymentSettings(chosen: Given): DeploymentSettings {
  const isProduction = textOf('stage', chosen.stage) === 'production';
  const own = Object.entries(chosen).filter(([, value]) => value !== undefined);
  const given = { ...(isProduction ? production : {}), ...Object.fromEntries(own) };
  requireKnown(given);
  const values = names.map((name) => [name, readSetting(name, given)]);
  const read = Object.fromEntries(values);
  // As long as the archive keeps entries, but at most seven years; one year if it keeps them for ever (0).
  const auditLockDays = read.auditLockDays ?? Math.min(read.auditArchiveDays || 365, 2555);
  const settings: DeploymentSettings = { ...read, auditLockDays };
  requireConsistent(settings);
  requireKept(settings);
  requireStream(settings);
  requireSealed(settings);
  return settings;
}

export function readSetting(name: Name, given: Given): string | number | undefined {
  const setting: Setting = deploymentSettings[name];
  requireResolved(name, given[name]);
  const chosen = textOf(name, given[name]) ?? setting.default;
  if (chosen === undefined) return undefined;
  // In tags, only values can be references; the keys and all other values are checked.
  if (Token.isUnresolved(chosen) && name !== 'tags') return chosen;
  const value = parseSetting(setting, chosen);
  if (value === undefined) {
    throw new SettingError(name, ruleOf(setting) + placeOfFault(setting, chosen));
  }
  return value;
}

function textOf(name: Name, value: unknown): string | undefined {
  if (value === undefined) return undefined;
  if (['string', 'number', 'boolean'].includes(typeof value)) return String(value).trim();
  if ('isJson' in deploymentSettings[name].allowed) return jsonOf(value);
  throw new SettingError(name, 'must be text or a number');
}

/**
 * Converts a value to JSON, in which constructs are null, and a reference to a list becomes a list of the texts to
 * which it resolves.
 */
function jsonOf(value: unknown): string {
  return JSON.stringify(value, (_, each) => {
    if (Construct.isConstruct(each)) return null;
    return Array.isArray(each) && Token.isUnresolved(each) ? [Fn.join('","', each)] : each;
  });
}

function requireKnown(given: Given): void {
  for (const name of Object.keys(given)) {
    // The CDK and its command line have names of their own in the context.
    const isToolsOwn = /[:/]|^(?:acknowledged-issue-numbers|cli-telemetry)$/.test(name);
    if (isToolsOwn || Object.hasOwn(deploymentSettings, name)) continue;
    throw new SettingError(name, 'is unknown; infra/settings.md has all settings');
  }
}

function requireConsistent(values: Given): void {
  for (const [name, { atMost }] of Object.entries<DeploymentSetting>(deploymentSettings)) {
    const lack = lackOf(name, deploymentSettings, (each) => values[each]);
    if (lack) throw new SettingError(name, lack);
    if (atMost && Number(values[name]) > Number(values[atMost])) {
      throw new SettingError(name, `must not be above ${atMost}, which is ${values[atMost]}`);
    }
  }
}

function requireKept(settings: DeploymentSettings): void {
  const { auditSeal, auditRetentionDays, auditArchiveDays, auditLockDays } = settings;
  if (auditRetentionDays > 0 && auditSeal !== 'on') {
    const message = `must be 0, for ever, where auditSeal is ${auditSeal}`;
    throw new SettingError('auditRetentionDays', message);
  }
  const orEver = (days: number) => days || Number.POSITIVE_INFINITY;
  const leasts = { auditRetentionDays: orEver(auditRetentionDays), auditLockDays };
  for (const [name, least] of Object.entries(leasts)) {
    if (orEver(auditArchiveDays) >= least) continue;
    const rule = `must not be below ${name}, which is ${Number.isFinite(least) ? least : '0, for ever'}`;
    throw new SettingError('auditArchiveDays', rule);
  }
}

/** Requires the stream of an existing table to be given with the table. A table that the stack makes has a stream. */
function requireStream(settings: DeploymentSettings): void {
  const { events, auditTableName, auditStreamArn } = settings;
  if (events === 'off') return;
  if (auditTableName && !auditStreamArn) {
    throw new SettingError('events', 'requires auditStreamArn where auditTableName is given');
  }
  if (Token.isUnresolved(auditStreamArn) || Token.isUnresolved(auditTableName)) return;
  if (auditStreamArn && auditStreamArn.split('/')[1] !== auditTableName) {
    throw new SettingError('auditStreamArn', 'must be the stream of the table auditTableName');
  }
}

function requireSealed({ stage, auditSeal, abandonAuditSeal }: DeploymentSettings): void {
  if (stage !== 'production' || auditSeal !== 'off' || abandonAuditSeal === 'yes') return;
  throw new SettingError(
    'auditSeal',
    'must not be off in stage production, because the chain cannot be continued afterwards: set auditSeal=paused, or also set abandonAuditSeal=yes',
  );
}

/**
 * @throws {SettingError} for a reference in a setting whose value must be known, or a reference in place of an object
 */
function requireResolved(name: Name, value: unknown): void {
  const isWhole = isObject(value) && Token.isUnresolved(value);
  if (!hasReference(value) || ('isPassedOn' in deploymentSettings[name] && !isWhole)) return;
  throw new SettingError(
    name,
    'must be known when the template is made, and not a reference that AWS resolves later',
  );
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}

/**
 * Whether a value contains a reference. A construct, such as a certificate in place of its ARN, is not searched,
 * because it refers to the whole application, and so to itself.
 */
function hasReference(value: unknown): boolean {
  return (
    Token.isUnresolved(value) ||
    (isObject(value) && !Construct.isConstruct(value) && Object.values(value).some(hasReference))
  );
}
