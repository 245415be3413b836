import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { variableOf } from '../../lib/ground/setting.ts';
import {
  localAccount,
  lockFolder,
  type RunningService,
  readRunning,
  wasLocked,
} from '../local/data-folder.ts';
import { damageIn, engineOf, startEngine } from '../local/engine.ts';
import { awaitResponse } from '../local/engine-process.ts';
import type { KeptStart } from '../local/kept-start.ts';
import { secretFile, tokenKeysIn } from '../local/secrets.ts';
import { environmentDefaults } from '../local-settings.ts';
import type { SealedBucket } from './deployed-service.ts';
import { Failure } from './failure.ts';
import { useKeptSettings } from './kept-settings.ts';

/** Tables that no service uses yet, and the place where their trail is sealed. */
type RestoredTables = Readonly<Record<'usersTable' | 'auditTable' | 'bucket' | 'keyArn', string>>;

/** The service for which a command is, as the command line names it. */
export type TargetName =
  | { readonly parameter: string }
  | { readonly folder: string }
  | RestoredTables
  /** No service: the command reads files only. */
  | { readonly offline: true };

export type SealedTrail =
  | {
      readonly folder: string;
      readonly isRunning: boolean;
      /** Seconds from one run of the sealer to the next, if the setting is known. */
      readonly interval?: number;
    }
  | SealedBucket;

export interface Target {
  /** The operator: the ARN of an AWS identity, or the account on this machine. */
  readonly identity: string;
  /** The hash of the attributes that a deployed service declares; absent if it declares none. */
  readonly attributesHash?: string;
  /** The sealed trail; absent if the service does not seal its audit trail. */
  readonly sealedTrail?: SealedTrail;
  /** Stops the engine that was started for the command; absent if none was. */
  readonly close?: () => Promise<void>;
}

/**
 * Finds a service and makes lib use it by setting the variables that a deployment sets for a function. This process must
 * not have used lib before.
 * @throws {Failure} if the service is not found; and the SDK's errors
 */
export async function openTarget(name: TargetName): Promise<Target> {
  if ('offline' in name) return { identity: localAccount() };
  if ('usersTable' in name) return openRestored(name);
  return 'parameter' in name ? openDeployed(name.parameter) : openFolder(resolve(name.folder));
}

async function openRestored(restored: RestoredTables): Promise<Target> {
  const { usersTable, auditTable, bucket, keyArn } = restored;
  refuseLocalEngine();
  const { findCaller } = await import('./deployed-service.ts');
  const identity = await findCaller();
  setEnvironment({ USERS_TABLE: usersTable, AUDIT_TABLE: auditTable });
  const sealedTrail = { bucket, keyArn, service: auditTable, isPaused: false };
  return { identity, sealedTrail };
}

/** Refuses AWS_ENDPOINT_URL_DYNAMODB: a command would use the stack's secret with the tables of `npm start`. */
function refuseLocalEngine(): void {
  const endpoint = process.env.AWS_ENDPOINT_URL_DYNAMODB;
  if (!endpoint || isElsewhere(endpoint)) return;
  throw new Failure(
    `AWS_ENDPOINT_URL_DYNAMODB is ${endpoint}, where a stack's tables cannot be: unset it.`,
  );
}

function isElsewhere(endpoint: string): boolean {
  const { hostname } = URL.parse(endpoint) ?? { hostname: '' };
  return !['', 'localhost', '[::1]'].includes(hostname) && !hostname.startsWith('127.');
}

const secretVariables = ['JWT_SECRET', 'JWT_SECRET_FILE', 'JWT_SECRET_ID', 'EDGE_SECRET_ID'];

function setEnvironment(environment: Readonly<Record<string, string>>): void {
  for (const name of secretVariables) delete process.env[name];
  Object.assign(process.env, environment);
}

async function openDeployed(parameter: string): Promise<Target> {
  refuseLocalEngine();
  // It is loaded only here, because loading it takes long.
  const { findCaller, findService } = await import('./deployed-service.ts');
  const { variables, ...known } = await findService(parameter);
  const identity = await findCaller();
  setEnvironment(variables);
  return { identity, ...known };
}

async function openFolder(folder: string): Promise<Target> {
  // Nothing is written to a folder that is not the folder of a service.
  const isService = wasLocked(folder) || engineOf(folder) !== undefined;
  const unlock = isService ? lockFolder(folder) : () => undefined;
  if (!unlock) return joinService(folder);
  try {
    const target = await startOnFolder(folder);
    return { ...target, close: () => target.close().finally(unlock) };
  } catch (error) {
    unlock();
    throw error;
  }
}

async function joinService(folder: string): Promise<Target> {
  const running = readRunning(folder);
  if (!running) {
    throw new Failure(
      `Another command, or a service that is starting or stopping, is using the data in ${folder}: try again later.`,
    );
  }
  const { endpoint, sealInterval } = running;
  // A second engine must not open the data of the first.
  await requireAnswer(
    endpoint,
    `A service is running on ${folder}, but its engine at ${endpoint} does not respond: try again, or stop that service.`,
  );
  const interval = sealInterval === undefined ? {} : { interval: sealInterval };
  const sealedTrail = { folder, isRunning: true, ...interval };
  useLocal(running);
  return { identity: localAccount(), sealedTrail };
}

/** Milliseconds within which a running engine must respond. */
const silenceTimeout = 10_000;

/** @throws {Failure} with the given sentence if a running engine does not respond */
async function requireAnswer(endpoint: string, sentence: string): Promise<void> {
  try {
    await awaitResponse(endpoint, silenceTimeout);
  } catch {
    throw new Failure(sentence);
  }
}

type Reachable = Omit<RunningService, 'url'>;

function useLocal(service: Reachable): void {
  const { endpoint, usersTable, auditTable, secretFile: file, settings } = service;
  // A profile would take precedence over the credentials. An engine on this machine accepts any credentials.
  delete process.env.AWS_PROFILE;
  setEnvironment({
    ...environmentDefaults,
    AWS_ENDPOINT_URL_DYNAMODB: endpoint,
    USERS_TABLE: usersTable,
    AUDIT_TABLE: auditTable,
    ...settings,
    ...(file ? { JWT_SECRET_FILE: file } : {}),
  });
}

async function startOnFolder(folder: string) {
  const kept = useKeptSettings(folder);
  const elsewhere = process.env.AWS_ENDPOINT_URL_DYNAMODB;
  const only = elsewhere ? undefined : engineOf(folder, kept?.engine && [kept.engine]);
  if (elsewhere) {
    await requireAnswer(
      elsewhere,
      `No DynamoDB engine responds at ${elsewhere}, where the service has its data: start that engine first.`,
    );
  } else if (!only) {
    throw new Failure(
      `There is no data in ${folder}: run npm start once, or name the service's DATA_DIR by --local=FOLDER.`,
    );
  }
  const engine = await startEngine({ folder, only }).catch((error: Error) => {
    throw new Failure(damageIn(folder) ?? error.message);
  });
  const { USERS_TABLE, AUDIT_TABLE } = { ...environmentDefaults, ...process.env };
  const file = secretFile(folder);
  const tables = { usersTable: USERS_TABLE, auditTable: AUDIT_TABLE };
  const secret = (kept?.hasSecretFile ?? existsSync(file)) ? { secretFile: file } : {};
  const settings = kept ? keptKeys(kept, folder) : likelySettings(folder);
  const service = { endpoint: engine.endpoint, ...tables, ...secret, settings };
  const interval = kept && Number(kept.variables.AUDIT_SEAL_INTERVAL);
  const sealedTrail = { folder, isRunning: false, ...(interval ? { interval } : {}) };
  useLocal(service);
  return { identity: localAccount(), sealedTrail, close: engine.stop };
}

/** The files of the keys of tokens, if tokens are signed with keys. The folder may have been moved since the start. */
function keptKeys({ variables }: KeptStart, folder: string): Readonly<Record<string, string>> {
  return variables.TOKEN_SIGNING === 'RS256' ? tokenKeysIn(folder) : {};
}

/**
 * The settings that commands assume for a service that is not running and whose folder has no settings, unless their
 * environment sets them. To end sessions does no harm if there are no sessions.
 */
function likelySettings(folder: string): Readonly<Record<string, string>> {
  const variable = variableOf('sessionDays');
  const keys = tokenKeysIn(folder);
  return {
    ...(process.env[variable] ? {} : { [variable]: '1' }),
    ...(existsSync(keys.TOKEN_SIGNING_KEY) ? { TOKEN_SIGNING: 'RS256', ...keys } : {}),
  };
}
