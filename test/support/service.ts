import type { ChildProcess } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { expect, inject, vi } from 'vitest';
import { type ApiClient, apiClient } from './client.ts';
import { checkUnder } from './contract.ts';
import { judgeRequests } from './permissions.ts';
import { startServiceProcess } from './service-process.ts';

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

/**
 * Runs a service within the process of its tests, behind the same HTTP server. That takes a fraction of the time of a
 * process of its own, and mutation testing reaches only such services.
 */
const withinThisProcess = async (
  settings: Readonly<Record<'ADMIN_EMAIL' | 'ADMIN_PASSWORD' | 'JWT_SECRET', string>>,
): Promise<TestService> => {
  // As in a process of its own: modules and settings of other services, or of the test, are not reused.
  const before = { ...process.env };
  Object.assign(process.env, settings);
  vi.resetModules();
  const { ADMIN_EMAIL: email, ADMIN_PASSWORD: password, JWT_SECRET: jwtSecret } = settings;
  try {
    const { startService, running } = await import('../../infra/local/service.ts');
    const { readLocalSettings } = await import('../../infra/local-settings.ts');
    const { config } = await import('../../lib/ground/settings.ts');
    const refused = judgeRequests(running, settings);
    const { url, stop } = await startService(readLocalSettings(process.env));
    Object.defineProperties(config, Object.getOwnPropertyDescriptors({ ...config }));
    return {
      url,
      api: apiClient(url.replace('localhost', '127.0.0.1'), checkUnder(settings)),
      admin: { email, password },
      jwtSecret,
      output: () => {
        throw new Error('Only a service in a process of its own has an output');
      },
      environment: settings,
      stop: async () => {
        await stop();
        expect(refused, 'uses in infra/uses.ts').toEqual([]);
      },
    };
  } finally {
    vi.resetModules();
    // The client of SES reads its endpoint when it first sends, and the secret is read again each minute.
    const { AWS_ENDPOINT_URL_SESV2: _, JWT_SECRET: __, ...others } = settings as Environment;
    for (const name of Object.keys(others)) delete process.env[name];
    const { JWT_SECRET: ___, ...restored } = before;
    Object.assign(process.env, restored);
  }
};

type Environment = Readonly<Record<string, string>>;

/** The secret that all services of a test file share: services within its process read it again each minute. */
const signingSecret = randomUUID() + randomUUID();

/**
 * Runs the local service on tables of its own; or uses the deployed service that SERVICE_URL names.
 * @param environment settings besides the settings that every test needs
 * @param options for a process of its own, in which the service runs anyway if SERVICE_PROCESS is `own`
 *   (test/vitest.config.ts)
 */
export const startTestService = async (
  environment: Environment = {},
  options?: Parameters<typeof startServiceProcess>[1],
): Promise<TestService> => {
  if (process.env.SERVICE_URL) return deployed(process.env.SERVICE_URL);
  const settings = {
    PORT: '0',
    DATA_DIR: 'memory',
    JWT_SECRET: signingSecret,
    ADMIN_EMAIL: 'root@example.org',
    ADMIN_PASSWORD: `root-${randomUUID()}`,
    AWS_ENDPOINT_URL_DYNAMODB: inject('engine'),
    USERS_TABLE: `users-${randomUUID()}`,
    AUDIT_TABLE: `audit-${randomUUID()}`,
    ...environment,
  };
  if (!options && process.env.SERVICE_PROCESS !== 'own') return withinThisProcess(settings);
  const started = await startServiceProcess(settings, options);
  const { ADMIN_EMAIL: email, ADMIN_PASSWORD: password, JWT_SECRET: jwtSecret } = settings;
  const admin = { email, password };
  const stop = async () => void (await started.stop());
  const api = apiClient(started.url, checkUnder(settings));
  return { ...started, api, admin, jwtSecret, environment: settings, stop };
};
