import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { serviceSettings } from '../../lib/settings.ts';
import { engineOf, startEngine } from '../local/engine.ts';
import {
  localAccount,
  lockFolder,
  type RunningService,
  readRunning,
  wasLocked,
} from '../local/folder.ts';
import { environmentDefaults, secretFile } from '../local/settings.ts';
import { Failure } from './failure.ts';

/** Which service a command is for. */
export type TargetName =
  | { readonly stack: string }
  | { readonly folder: string }
  /** None: the command reads files only. */
  | { readonly offline: true };

/** Where a service seals its audit trail. */
export type SealedTrail =
  | {
      readonly folder: string;
      readonly isRunning: boolean;
      /** Seconds from one window to the next, as far as it is known. */
      readonly interval?: number;
    }
  | {
      readonly bucket: string;
      readonly keyArn: string;
      /** The stack that seals, with its region and its account. */
      readonly stack: string;
    };

/** The service that a command works on. */
export interface Target {
  /** Who works on it: the ARN of the AWS identity, or the account on this machine. */
  readonly identity: string;
  /** Absent when the secret is a value of the service's environment, which nothing can rotate. */
  readonly signingSecret?: { readonly arn: string } | { readonly file: string };
  /** Absent when it does not. */
  readonly sealedTrail?: SealedTrail;
  close(): Promise<void>;
}

const secretVariables = ['JWT_SECRET', 'JWT_SECRET_FILE', 'JWT_SECRET_ID'];

/** Has lib work on a service, by the variables that a deployment sets for a function. */
const setEnvironment = (environment: Readonly<Record<string, string>>): void => {
  for (const name of secretVariables) delete process.env[name];
  Object.assign(process.env, environment);
};

const isElsewhere = (endpoint: string): boolean => {
  const { hostname } = URL.parse(endpoint) ?? { hostname: '' };
  return !['', 'localhost', '127.0.0.1', '[::1]'].includes(hostname);
};

/** Else half of a command's work would be done on what `npm start` was told to use. */
const refuseLocalEngine = (): void => {
  const endpoint = process.env.AWS_ENDPOINT_URL_DYNAMODB;
  if (!endpoint || isElsewhere(endpoint)) return;
  throw new Failure(
    `AWS_ENDPOINT_URL_DYNAMODB is ${endpoint}, which is no address of a stack's tables: unset it.`,
  );
};

const openStack = async (name: string): Promise<Target> => {
  refuseLocalEngine();
  // Only here, as it takes a while to load.
  const { findCaller, findStack } = await import('./stack.ts');
  const { usersTable, auditTable, signingSecret: arn, settings, ...rest } = await findStack(name);
  const identity = await findCaller();
  const tables = { USERS_TABLE: usersTable, AUDIT_TABLE: auditTable };
  setEnvironment({ ...tables, ...settings, JWT_SECRET_ID: arn });
  return { identity, signingSecret: { arn }, ...rest, close: async () => undefined };
};

/** Milliseconds within which a running service's engine answers. */
const silenceTimeout = 10_000;

/** @throws {Failure} when a running service's engine is silent or gone: a second may not open the data */
const requireAnswer = async (folder: string, { endpoint }: RunningService): Promise<void> => {
  try {
    await fetch(endpoint, { signal: AbortSignal.timeout(silenceTimeout) });
  } catch {
    throw new Failure(
      `A service runs on ${folder}, but its engine at ${endpoint} does not answer: try again, or stop that service.`,
    );
  }
};

type Reachable = Omit<RunningService, 'url'>;

const useLocal = (service: Reachable, close: () => Promise<void>): Target => {
  const { endpoint, usersTable, auditTable, secretFile: file, settings } = service;
  // A profile would outrank the credentials, and an engine on this machine takes any.
  delete process.env.AWS_PROFILE;
  setEnvironment({
    ...environmentDefaults,
    AWS_ENDPOINT_URL_DYNAMODB: endpoint,
    USERS_TABLE: usersTable,
    AUDIT_TABLE: auditTable,
    ...settings,
    ...(file ? { JWT_SECRET_FILE: file } : {}),
  });
  return { identity: localAccount(), ...(file ? { signingSecret: { file } } : {}), close };
};

/**
 * What commands take the settings of a service to be that does not run, beside what their own
 * environment says. To end sessions does no harm where they are stateless; not to, where they are not.
 */
const likelySettings = (): Readonly<Record<string, string>> => {
  const { variable } = serviceSettings.sessions;
  return process.env[variable] ? {} : { [variable]: 'revocable' };
};

/** Starts the engine on the folder of a service that does not run, for as long as the command. */
const startOnFolder = async (folder: string): Promise<Target> => {
  const elsewhere = process.env.AWS_ENDPOINT_URL_DYNAMODB;
  const only = elsewhere ? undefined : engineOf(folder);
  if (!elsewhere && !only) {
    throw new Failure(
      `There is no data in ${folder}: run npm start once, or name the folder of its DATA_DIR by --local=FOLDER.`,
    );
  }
  const engine = await startEngine({ folder, only }).catch((error: Error) => {
    throw new Failure(error.message);
  });
  const { USERS_TABLE, AUDIT_TABLE } = { ...environmentDefaults, ...process.env };
  const file = secretFile(folder);
  const tables = { usersTable: USERS_TABLE, auditTable: AUDIT_TABLE };
  const secret = existsSync(file) ? { secretFile: file } : {};
  const service = { endpoint: engine.endpoint, ...tables, ...secret, settings: likelySettings() };
  return useLocal(service, engine.stop);
};

/** Uses the engine of the service that has a folder. */
const joinService = async (folder: string): Promise<Target> => {
  const running = readRunning(folder);
  if (!running) {
    throw new Failure(
      `Another command, or a service that is starting or stopping, uses the data in ${folder}: try again when it has ended.`,
    );
  }
  await requireAnswer(folder, running);
  const { sealInterval } = running;
  const interval = sealInterval === undefined ? {} : { interval: sealInterval };
  const sealedTrail = { folder, isRunning: true, ...interval };
  return { ...useLocal(running, async () => undefined), sealedTrail };
};

const openFolder = async (folder: string): Promise<Target> => {
  // A folder that is no service's stays as it is.
  const isService = wasLocked(folder) || engineOf(folder) !== undefined;
  const unlock = isService ? lockFolder(folder) : () => undefined;
  if (!unlock) return joinService(folder);
  try {
    const target = await startOnFolder(folder);
    const sealedTrail = { folder, isRunning: false };
    return { ...target, sealedTrail, close: () => target.close().finally(unlock) };
  } catch (error) {
    unlock();
    throw error;
  }
};

/**
 * Finds a service and has lib work on it, which must not have been used before.
 * @throws {Failure} when it is not there; the SDK's errors
 */
export const openTarget = async (name: TargetName): Promise<Target> => {
  if ('offline' in name) return { identity: localAccount(), close: async () => undefined };
  return 'stack' in name ? openStack(name.stack) : openFolder(resolve(name.folder));
};
