import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { until } from './until.ts';

export type ServiceProcess = Awaited<ReturnType<typeof startServiceProcess>>;

const root = fileURLToPath(new URL('../..', import.meta.url));

const waitForUrl = async (child: ChildProcess, output: () => string): Promise<string> => {
  const closed = once(child, 'close');
  const end = () => child.exitCode ?? child.signalCode;
  try {
    const url = await until(() => {
      if (end() !== null) throw new Error('It has ended');
      return /^Service: +(\S+)/m.exec(output())?.[1];
    });
    return url.replace('localhost', '127.0.0.1');
  } catch {
    const ended = end() ?? 'still starting';
    child.kill('SIGKILL');
    // The last output of a process may arrive after the process has ended.
    await closed;
    throw new Error(`The service did not start (${ended}):\n${output()}`);
  }
};

/**
 * Runs the local service, by the command that `npm start` runs, on a port of its own.
 * @param environment its settings; it inherits all variables of this process but AWS_ENDPOINT_URL_DYNAMODB
 * @param folder the folder of its code; absent: this repository
 * @param ownGroup whether it gets a process group of its own, so that signals to ours do not reach it
 */
export const startServiceProcess = async (
  environment: Readonly<Record<string, string>>,
  { folder = root, ownGroup = false }: { folder?: string; ownGroup?: boolean } = {},
) => {
  const { AWS_ENDPOINT_URL_DYNAMODB: _, ...inherited } = process.env;
  const child = spawn(process.execPath, ['infra/local/start.js'], {
    env: { ...inherited, PORT: '0', ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
    cwd: folder,
    detached: ownGroup,
  });
  let written = '';
  child.stdout.on('data', (chunk) => (written += chunk));
  child.stderr.on('data', (chunk) => (written += chunk));
  /** Everything that the service wrote to its standard output and error. */
  const output = () => written;
  const url = await waitForUrl(child, output);
  /** @returns its exit code */
  const stop = async () => {
    if (child.exitCode === null && child.signalCode === null) {
      child.kill('SIGTERM');
      await once(child, 'exit');
    }
    return child.exitCode;
  };
  return { url, process: child as ChildProcess, output, stop };
};
