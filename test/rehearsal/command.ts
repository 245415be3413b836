import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { appendFileSync } from 'node:fs';
import { join } from 'node:path';
import { environment, root, runFolder } from './workspace.ts';

export interface CommandOptions {
  /** Variables besides {@link environment}. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** The text on standard input. */
  readonly input?: string;
}

/** The processes that a rehearsal has started and that have not ended. */
const running = new Set<ChildProcess>();

/**
 * Starts a process that leads a process group of its own, so that the processes that it starts can be ended with it.
 */
export const start = (
  command: string,
  args: readonly string[],
  env: Readonly<Record<string, string | undefined>> = {},
): ChildProcess => {
  const options = { cwd: root, env: { ...environment, ...env }, detached: true };
  const child = spawn(command, args, options);
  running.add(child);
  child.once('close', () => running.delete(child));
  child.once('error', () => running.delete(child));
  return child;
};

const signalGroup = ({ pid }: ChildProcess, signal: NodeJS.Signals): void => {
  if (pid === undefined) return;
  try {
    process.kill(-pid, signal);
  } catch {
    // The process has ended by itself.
  }
};

/** Ends all processes that {@link start} has started and that still run. */
export const endAll = (): void => {
  for (const child of running) signalGroup(child, 'SIGKILL');
};

/** Asks a process to end, and after some seconds kills it with all processes that it started. */
export const end = async (child: ChildProcess): Promise<void> => {
  if (child.exitCode === null && child.signalCode === null) {
    const ended = once(child, 'exit');
    child.kill('SIGTERM');
    const timer = setTimeout(() => signalGroup(child, 'SIGKILL'), 5000);
    await ended;
    clearTimeout(timer);
  }
  signalGroup(child, 'SIGKILL');
};

/** How many lines of a failed command's output its error quotes. */
const quotedLines = 40;

/**
 * Runs a command in the folder of the repository and returns its standard output; all of its output is written to
 * `commands.log` in the folder of the run.
 * @throws {Error} quoting the end of the output, when the command fails
 */
export const run = async (
  command: string,
  args: readonly string[],
  { env, input = '' }: CommandOptions = {},
): Promise<string> => {
  const child = start(command, args, env);
  const written = { output: '', everything: '' };
  child.stdout?.on('data', (chunk) => {
    written.output += chunk;
    written.everything += chunk;
  });
  child.stderr?.on('data', (chunk) => (written.everything += chunk));
  child.stdin?.on('error', () => undefined);
  child.stdin?.end(input);
  const [code, signal] = await once(child, 'close');
  const line = [command, ...args].join(' ');
  appendFileSync(join(runFolder, 'commands.log'), `\n$ ${line}\n${written.everything}`);
  if (code === 0) return written.output;
  const quoted = written.everything.trimEnd().split('\n').slice(-quotedLines).join('\n');
  throw new Error(`${line} ended with ${signal ?? code}:\n${quoted}`);
};
