/**
 * Keeps facts about the newest start in the data folder, for the operator's commands while the service is not running.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { variableOf } from '../../lib/ground/setting.ts';
import { type Config, config, serviceNames } from '../../lib/ground/settings.ts';
import type { LocalSettings } from '../local-settings.ts';
import { announceRunning, writePrivately } from './data-folder.ts';
import type { Engine, EngineName } from './engine.ts';
import { secretFile } from './secrets.ts';

export interface KeptStart {
  /** ISO 8601, UTC. */
  readonly startedAt: string;
  /**
   * The engine that the service started on the folder; absent if the service used the engine at
   * AWS_ENDPOINT_URL_DYNAMODB.
   */
  readonly engine?: EngineName;
  readonly hasSecretFile: boolean;
  /** Environment variables with the settings and the tables of the service; no variable is a secret. */
  readonly variables: Readonly<Record<string, string>>;
}

export const placeVariables = {
  AWS_ENDPOINT_URL_DYNAMODB: 'engine',
  USERS_TABLE: 'table',
  AUDIT_TABLE: 'table',
} as const;

/**
 * Tells the operator's commands where they find the running service and, after it has stopped, which settings it had.
 * Both are written to the data folder, which the service has locked.
 */
export function announce(
  folder: string,
  { jwtSecret, auditSealInterval }: LocalSettings,
  { engine, url }: { engine: Engine; url: string },
): void {
  const { USERS_TABLE = '', AUDIT_TABLE = '' } = process.env;
  const start: KeptStart = {
    startedAt: new Date().toISOString(),
    ...(engine.process ? { engine: engine.name as EngineName } : {}),
    hasSecretFile: jwtSecret === undefined,
    variables: {
      ...variablesOf(serviceNames),
      AUDIT_SEAL_INTERVAL: String(auditSealInterval),
      AWS_ENDPOINT_URL_DYNAMODB: engine.process ? '' : engine.endpoint,
      USERS_TABLE,
      AUDIT_TABLE,
    },
  };
  writePrivately(keptFile(folder), JSON.stringify(start));
  announceRunning(folder, {
    url,
    endpoint: engine.endpoint,
    usersTable: USERS_TABLE,
    auditTable: AUDIT_TABLE,
    sealInterval: auditSealInterval,
    ...(jwtSecret ? {} : { secretFile: secretFile(folder) }),
    settings: variablesOf([...serviceNames, 'tokenKeys', 'tokenSigningKey', 'apiUrl']),
  });
}

/**
 * Reads what {@link keepStart} has written.
 * @returns undefined if nothing was written, as in folders of version 1.0.0
 * @throws {Error} if the file cannot be read
 */
export function readKeptStart(folder: string): KeptStart | undefined {
  const file = keptFile(folder);
  try {
    return JSON.parse(readFileSync(file, 'utf8'));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw new Error(`${file} cannot be read: start the service, which writes it anew.`);
  }
}

function variablesOf(names: readonly (keyof Config)[]): Readonly<Record<string, string>> {
  return Object.fromEntries(names.map((name) => [variableOf(name), String(config[name])]));
}

function keptFile(folder: string): string {
  return join(folder, 'settings.json');
}
