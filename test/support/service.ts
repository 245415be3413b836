import { type ChildProcess, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { inject, vi } from 'vitest';
import { type ApiClient, apiClient } from './client.ts';
import { checkUnder } from './contract.ts';

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

/** Milliseconds for the service to be ready: an engine of its own may be a Java machine. */
const startTimeout = 60_000;

const deployed = (url: string): TestService => {
  const { ADMIN_EMAIL: email = '', ADMIN_PASSWORD: password = '', JWT_SECRET = '' } = process.env;
  return {
    url,
    api: apiClient(url, checkUnder({})),
    admin: { email, password },
    jwtSecret: JWT_SECRET,
    output: () => '',
    environment: {},
    stop: async () => undefined,
  };
};

/** Mutation testing sees only what runs in its own process. */
const withinThisProcess = async (
  settings: Readonly<Record<'ADMIN_EMAIL' | 'ADMIN_PASSWORD' | 'JWT_SECRET', string>>,
): Promise<TestService> => {
  // As in a process of its own: modules and settings are no other service's, nor the test's.
  const before = { ...process.env };
  Object.assign(process.env, settings);
  vi.resetModules();
  const { startService } = await import('../../infra/local/service.ts');
  const { readLocalSettings } = await import('../../infra/local/settings.ts');
  const { config } = await import('../../lib/config.ts');
  const { url, stop } = await startService(readLocalSettings(process.env));
  Object.defineProperties(config, Object.getOwnPropertyDescriptors({ ...config }));
  vi.resetModules();
  for (const name of Object.keys(settings)) delete process.env[name];
  Object.assign(process.env, before);
  const { ADMIN_EMAIL: email, ADMIN_PASSWORD: password, JWT_SECRET: jwtSecret } = settings;
  return {
    url,
    api: apiClient(url.replace('localhost', '127.0.0.1'), checkUnder(settings)),
    admin: { email, password },
    jwtSecret,
    output: () => '',
    environment: settings,
    stop,
  };
};

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
 * Runs the local service, by the command that `npm start` runs, on tables of its own; or, where
 * SERVICE_URL names a deployed one, uses that.
 * @param environment settings besides those that every test needs
 * @param folder where its code is; absent: here
 * @param ownGroup whether signals to this process's group pass it by
 */
export const startTestService = async (
  environment: Readonly<Record<string, string>> = {},
  { folder, ownGroup = false }: { folder?: string; ownGroup?: boolean } = {},
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
  if (process.env.WITHIN_THIS_PROCESS) return withinThisProcess(settings);
  const child = spawn(process.execPath, ['infra/local/start.ts'], {
    env: { ...process.env, ...settings },
    stdio: ['ignore', 'pipe', 'pipe'],
    ...(folder ? { cwd: folder } : {}),
    detached: ownGroup,
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
  const api = apiClient(url, checkUnder(settings));
  const { ADMIN_EMAIL: email, ADMIN_PASSWORD: password, JWT_SECRET: jwtSecret } = settings;
  const admin = { email, password };
  return { url, api, admin, jwtSecret, output, process: child, environment: settings, stop };
};
