/**
 * Runs a DynamoDB engine as a process that ends when this process ends, and that never runs at the same time as another
 * engine on the same data folder.
 */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, constants, lstatSync, mkdirSync, openSync, rmSync } from 'node:fs';
import { get as getByHttp } from 'node:http';
import { get as getByHttps } from 'node:https';
import { join } from 'node:path';
import { patiently } from '../../lib/ground/time.ts';

export interface Launch {
  readonly command: string;
  readonly args: readonly string[];
}

/** Removes the named pipe of a folder when its engine has ended. */
export function releaseData(folder: string): void {
  rmSync(pipeIn(folder), { force: true });
}

/** Milliseconds within which an engine must respond if the machine has no other work: Java starts slowly. */
const startTimeout = 30_000;

/** @throws {Error} when the engine ends, or does not respond in time */
export async function waitUntilAnswering(
  endpoint: string,
  child: ChildProcess,
  folder: string | undefined,
): Promise<void> {
  const deadline = Date.now() + patiently(startTimeout);
  while (Date.now() < deadline && !hasEnded(child)) {
    try {
      await awaitResponse(endpoint, 1000);
      return;
    } catch {
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
  }
  const data = folder ? ` with its data in ${folder}` : '';
  throw new Error(`The DynamoDB engine did not start at ${endpoint}${data}`);
}

/**
 * Waits for any response of an engine. The request has an agent of its own, which, like the SDK, ignores proxies in the
 * environment.
 * @throws {Error} when there is no response within `timeout` milliseconds
 */
export async function awaitResponse(endpoint: string, timeout: number): Promise<void> {
  const get = endpoint.startsWith('https:') ? getByHttps : getByHttp;
  const request = get(endpoint, { agent: false, signal: AbortSignal.timeout(timeout) });
  const [response] = await once(request, 'response');
  response.destroy();
}

/** Starts an engine on the data of a folder, as soon as no other engine uses it. */
export async function spawnEngine(
  folder: string | undefined,
  command: Launch,
): Promise<ChildProcess> {
  if (!folder) return spawnTied(command, undefined);
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const hold = await holdData(folder);
  const child = spawnTied(command, hold);
  closeSync(hold);
  return child;
}

/** Milliseconds within which an engine must end before it is killed. */
const stopTimeout = 10_000;

export async function endEngine(child: ChildProcess): Promise<void> {
  if (hasEnded(child)) return;
  const ended = once(child, 'exit');
  child.kill();
  const lastResort = setTimeout(() => child.kill('SIGKILL'), stopTimeout);
  await ended;
  clearTimeout(lastResort);
}

/** The named pipe that an engine on the folder holds open as long as it runs. */
function pipeIn(folder: string) {
  return join(folder, 'engine.pipe');
}

function hasEnded({ exitCode, signalCode }: ChildProcess): boolean {
  return exitCode !== null || signalCode !== null;
}

/**
 * Runs a command that ends when this process ends, however this process ends. The shell that starts the command leaves
 * a watcher that reads from a pipe whose other end only this process holds.
 * @param hold a file descriptor that the command, but not its watcher, keeps open as long as the command runs
 */
function spawnTied({ command, args }: Launch, hold: number | undefined): ChildProcess {
  // The umask ensures that only the account that starts an engine may read its files, whatever the folder is.
  const watch =
    'umask 077; exec 4<&0; (exec 3<&-; read -r _ <&4; kill $$ 2>/dev/null) & exec "$@" 4<&- </dev/null';
  const child = spawn('/bin/sh', ['-c', watch, 'sh', command, ...args], {
    stdio: ['pipe', 'ignore', 'ignore', hold ?? 'ignore'],
    // Ctrl-C does not reach a detached process, so this process can stop the engine last.
    detached: true,
  });
  child.stdin?.on('error', () => undefined);
  // If the engine ends first, this ends the watcher.
  child.once('exit', () => child.stdin?.destroy());
  return child;
}

/**
 * How often it is checked whether the engine of a killed service has ended, and the milliseconds between two checks:
 * ten seconds in all, without any time for which the whole machine is suspended.
 */
const maxLooks = 500;
const lookInterval = 20;

/**
 * Waits until no engine has the data of a folder open, because an engine ends slightly later than a killed service.
 * @returns a file descriptor that the next engine inherits: by this descriptor it holds the folder
 * @throws {Error} when an engine does not end
 */
async function holdData(folder: string): Promise<number> {
  const pipe = pipeIn(folder);
  for (let looks = 0; isHeld(pipe); looks += 1) {
    if (looks === maxLooks) {
      throw new Error(
        `A DynamoDB engine that no service uses still has the data in ${folder} open: end that process first.`,
      );
    }
    await new Promise((resolve) => setTimeout(resolve, lookInterval));
  }
  rmSync(pipe, { force: true });
  execFileSync('/bin/sh', ['-c', 'command -p mkfifo -m 600 "$1"', 'sh', pipe]);
  return openSync(pipe, constants.O_RDONLY | constants.O_NONBLOCK);
}

function isHeld(pipe: string): boolean {
  try {
    if (!lstatSync(pipe).isFIFO()) return false;
    closeSync(openSync(pipe, constants.O_WRONLY | constants.O_NONBLOCK));
    return true;
  } catch (error) {
    const { code = '' } = error as NodeJS.ErrnoException;
    // ENXIO: no process has opened the other end.
    if (code === 'ENOENT' || code === 'ENXIO') return false;
    throw error;
  }
}
