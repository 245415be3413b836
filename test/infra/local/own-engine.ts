import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, inject } from 'vitest';
import type { RunningService } from '../../../infra/local/data-folder.ts';
import { apiClient } from '../../support/client.ts';
import { startTestService, type TestService } from '../../support/service.ts';
import { until } from '../../support/until.ts';
import { commandLine, installWithout, processesWith, startInVain } from './installation.ts';

export const tables = { USERS_TABLE: 'users', AUDIT_TABLE: 'audit' };

/** Settings with which a service starts an engine of its own and keeps its data in a folder. */
const settingsFor = (data: string) => ({
  ...tables,
  AWS_ENDPOINT_URL_DYNAMODB: '',
  DATA_DIR: data,
  JWT_SECRET: '',
  ADMIN_EMAIL: 'root@example.org',
  ADMIN_PASSWORD: 'same-at-each-start',
});

/** Whatever a service, or a start in vain, is given besides. */
type Environment = Readonly<Record<string, string>>;

/**
 * A folder for the services of one test file, which keep engine, data and secret there.
 * @param engineName which engine they start
 */
export const ownEngineForThisFile = (engineName = inject('engineName')) => {
  const data = mkdtempSync(join(tmpdir(), 'data-'));
  // The second choice of engine is taken where the first is not installed; Node has not compiled a copy.
  const { folder: installation, remove } =
    engineName === 'dynoxide'
      ? { folder: process.cwd(), remove: () => undefined }
      : installWithout('@dynoxide');
  const started: (ChildProcess | undefined)[] = [];
  afterEach(() => {
    for (const child of started.splice(0)) child?.kill('SIGKILL');
  });
  afterAll(() => {
    rmSync(data, { recursive: true });
    remove();
  });

  // By the program that they run: a shell in front of an engine and the sealer name the folder as well.
  const engines = () =>
    processesWith(data).filter((pid) => /^[^\0]*\/(dynoxide|java)\0/.test(commandLine(pid)));
  return {
    data,
    start: async (environment: Environment = {}): Promise<TestService> => {
      const settings = { ...settingsFor(data), ...environment };
      const service = await startTestService(settings, { folder: installation, ownGroup: true });
      started.push(service.process);
      return service;
    },
    startInVain: (environment: Environment = {}) => {
      const PATH = process.env.PATH ?? '';
      return startInVain(installation, { PATH, PORT: '0', ...settingsFor(data), ...environment });
    },
    /** Starts the service as an engineer types it, and waits until it is ready. */
    npmStart: async () => {
      const settings = { PORT: '0', ...settingsFor(data) };
      const npm = spawn('npm', ['start'], {
        cwd: installation,
        env: { ...process.env, ...settings },
        stdio: ['ignore', 'pipe', 'inherit'],
        detached: true,
      });
      started.push(npm);
      let [output, url] = ['', ''];
      for await (const text of npm.stdout.iterator({ destroyOnReturn: false })) {
        output += text;
        url = /^Service: +(\S+)/m.exec(output)?.[1] ?? '';
        if (url) break;
      }
      return { npm, api: apiClient(url.replace('localhost', '127.0.0.1')) };
    },
    /** The file in which the running service says where it is. */
    running: (): RunningService => JSON.parse(readFileSync(join(data, 'service.json'), 'utf8')),
    /** Sends a signal to the engines whose data are in the folder. */
    signalEngine: (signal: NodeJS.Signals) => {
      for (const pid of engines()) process.kill(Number(pid), signal);
    },
    /** Waits until no process works on the folder, and says whether that came to be. */
    isVacated: () => until(() => processesWith(data).length === 0),
  };
};

/** Sends a signal to a service and its group, as a terminal does. @returns its exit code */
export const endGroup = async (child: ChildProcess | undefined, signal: NodeJS.Signals) => {
  const ended = child && once(child, 'exit');
  process.kill(-Number(child?.pid), signal);
  return (await ended)?.[0];
};
