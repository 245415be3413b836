import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

export interface ServiceProcess {
  readonly url: string;
  readonly process: ChildProcess;
  /** Everything that it wrote to its standard output and error. */
  readonly output: () => string;
  /** @returns its exit code */
  stop(): Promise<number | null>;
}

/** Milliseconds for it to be ready. */
const startTimeout = 30_000;

const entry = fileURLToPath(new URL('../../infra/local/start.ts', import.meta.url));

/**
 * Runs the local service on a port of its own, for programs that are no tests.
 * @param environment its settings; what it would otherwise inherit of a DynamoDB is left out
 */
export const startServiceProcess = async (
  environment: Readonly<Record<string, string>>,
): Promise<ServiceProcess> => {
  const { AWS_ENDPOINT_URL_DYNAMODB: _, ...inherited } = process.env;
  const child = spawn(process.execPath, [entry], {
    env: { ...inherited, PORT: '0', ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let written = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (chunk) => {
      written += chunk;
    });
  }
  const deadline = Date.now() + startTimeout;
  const urlIn = () => /Listening at (\S+)/.exec(written)?.[1];
  while (!urlIn() && Date.now() < deadline && child.exitCode === null) {
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  const url = urlIn()?.replace('localhost', '127.0.0.1');
  if (!url) {
    child.kill();
    throw new Error(`The service did not start:\n${written}`);
  }
  const stop = async () => {
    if (child.exitCode === null && child.signalCode === null) {
      child.kill('SIGTERM');
      await once(child, 'exit');
    }
    return child.exitCode;
  };
  return { url, process: child, output: () => written, stop };
};
