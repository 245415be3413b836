import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

export interface ServiceProcess {
  readonly url: string;
  readonly process: ChildProcess;
  /** Everything that it wrote to its standard output and error. */
  readonly output: () => string;
  /** @returns its exit code */
  stop(): Promise<number | null>;
}

/** Milliseconds for it to be ready: an engine of its own may be a Java machine. */
const startTimeout = 60_000;

const root = fileURLToPath(new URL('../..', import.meta.url));

const waitForUrl = async (child: ChildProcess, output: () => string): Promise<string> => {
  const deadline = Date.now() + startTimeout;
  while (Date.now() < deadline && child.exitCode === null) {
    const url = /Listening at (\S+)/.exec(output())?.[1];
    if (url) return url.replace('localhost', '127.0.0.1');
    await sleep(10);
  }
  // Its last words may come after its end.
  await sleep(100);
  const end = child.exitCode ?? child.signalCode ?? 'still starting';
  child.kill('SIGKILL');
  throw new Error(`The service did not start (${end}):\n${output()}`);
};

/**
 * Runs the local service, by the command that `npm start` runs, on a port of its own.
 * @param environment its settings; what it would otherwise inherit of a DynamoDB is left out
 * @param folder where its code is; absent: here
 * @param ownGroup whether signals to this process's group pass it by
 */
export const startServiceProcess = async (
  environment: Readonly<Record<string, string>>,
  { folder = root, ownGroup = false }: { folder?: string; ownGroup?: boolean } = {},
): Promise<ServiceProcess> => {
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
  const output = () => written;
  const url = await waitForUrl(child, output);
  const stop = async () => {
    if (child.exitCode === null && child.signalCode === null) {
      child.kill('SIGTERM');
      await once(child, 'exit');
    }
    return child.exitCode;
  };
  return { url, process: child, output, stop };
};
