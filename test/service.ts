import { type ChildProcess, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { inject } from 'vitest';
import { type ApiClient, apiClient } from './client.ts';

export interface TestService {
  readonly url: string;
  readonly api: ApiClient;
  readonly admin: { readonly email: string; readonly password: string };
  readonly jwtSecret: string;
  /** Everything that the service wrote to its standard output and error. */
  readonly output: () => string;
  /** Absent when the service is deployed elsewhere. */
  readonly process?: ChildProcess;
  readonly environment: Readonly<Record<string, string>>;
  stop(): Promise<void>;
}

/** Milliseconds for the service to be ready. */
const startTimeout = 20_000;

const deployed = (url: string): TestService => {
  const { ADMIN_EMAIL: email = '', ADMIN_PASSWORD: password = '', JWT_SECRET = '' } = process.env;
  return {
    url,
    api: apiClient(url),
    admin: { email, password },
    jwtSecret: JWT_SECRET,
    output: () => '',
    environment: {},
    stop: async () => undefined,
  };
};

const waitForUrl = async (child: ChildProcess, output: () => string): Promise<string> => {
  const deadline = Date.now() + startTimeout;
  while (Date.now() < deadline && child.exitCode === null) {
    const url = /Listening at (\S+)/.exec(output())?.[1];
    if (url) return url.replace('localhost', '127.0.0.1');
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  throw new Error(`The service did not start:\n${output()}`);
};

/**
 * Runs the local service, by the command that `npm start` runs, on tables of its own; or, where
 * SERVICE_URL names a deployed one, uses that.
 * @param environment settings besides those that every test needs
 */
export const startTestService = async (
  environment: Readonly<Record<string, string>> = {},
): Promise<TestService> => {
  if (process.env.SERVICE_URL) return deployed(process.env.SERVICE_URL);
  const settings = {
    PORT: '0',
    DATA_DIR: 'memory',
    JWT_SECRET: randomUUID() + randomUUID(),
    ADMIN_EMAIL: 'root@example.org',
    ADMIN_PASSWORD: `root-${randomUUID()}`,
    AWS_ENDPOINT_URL_DYNAMODB: inject('engine'),
    USERS_TABLE: `users-${randomUUID()}`,
    AUDIT_TABLE: `audit-${randomUUID()}`,
    ...environment,
  };
  const child = spawn('node', ['infra/local/start.ts'], {
    env: { ...process.env, ...settings },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let written = '';
  child.stdout.on('data', (chunk) => (written += chunk));
  child.stderr.on('data', (chunk) => (written += chunk));
  const output = () => written;
  const url = await waitForUrl(child, output);
  const stop = async () => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    child.kill('SIGTERM');
    await once(child, 'exit');
  };
  const api = apiClient(url);
  const { ADMIN_EMAIL: email, ADMIN_PASSWORD: password, JWT_SECRET: jwtSecret } = settings;
  const admin = { email, password };
  return { url, api, admin, jwtSecret, output, process: child, environment: settings, stop };
};
