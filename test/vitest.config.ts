import { availableParallelism } from 'node:os';
import { fileURLToPath } from 'node:url';
import { configDefaults, defineConfig } from 'vitest/config';
import { chosenEngine } from './support/engine.ts';
import { patienceOf } from './support/patience.ts';

/**
 * Which folder means what. The gate (`npm run check`) is for tests whose outcome is the same at
 * each run, even on a machine that freezes for seconds; `npm run check -- long` runs all.
 */
const folders = {
  /** Behaviour that settings change, each tested by a service of its own. */
  settings: 'test/settings/**/*.settings.test.ts',
  /** About the stack, its bundles and the repository, not about an engine: run once. */
  stack: 'test/infra/{*,stack/*}.test.ts',
  /** `npm start` and the operator's commands, each run a process of its own, which takes time. */
  machine: 'test/infra/{local,operator}/**/*.test.ts',
  /** Thousands of cases from a seed, which is fixed unless SEED says otherwise; and leaks. */
  properties: 'test/{leaks,model,properties}/**/*.test.ts',
  /** Pages as a real browser shows them. */
  browser: 'test/browser/**/*.test.ts',
  /** The package that apps install, within their servers and in a browser. */
  client: 'test/client/**/*.test.ts',
  /**
   * The OpenAPI document, tested by other people's tools, and services that verify tokens; these tests need packages of
   * their own, some of them of Python.
   */
  contract: 'test/contract/*.test.ts',
  /** Clients that are generated and compiled, which needs Java, Maven and Go. No gate. */
  generated: 'test/contract/generated/*.test.ts',
  /**
   * Tests whose outcome depends on time or chance (races, faults under time limits, engines that stop), and the
   * steps before a release. No gate.
   */
  long: 'test/{faults,infra/release,races}/**/*.test.ts',
};

const report = process.env.REPORT ?? `tests-${chosenEngine()}`;

/** Projects whose tests run services within their process: they look at responses and tables. */
const withinTests = ['service', 'settings', 'client'];

const project = (name: string, include: string, exclude: readonly string[] = []) => ({
  extends: true as const,
  test: {
    name,
    include: [include],
    exclude: [...configDefaults.exclude, ...exclude],
    env: { SERVICE_PROCESS: withinTests.includes(name) ? 'shared' : 'own' },
  },
});

export default defineConfig({
  root: fileURLToPath(new URL('..', import.meta.url)),
  test: {
    projects: [
      // Every rule of the API once: all other folders.
      project('service', 'test/**/*.test.ts', Object.values(folders)),
      ...Object.entries(folders).map(([name, include]) => project(name, include)),
    ],
    // If each file loaded packages for itself, the loading would take a fifth of the processor's time.
    isolate: false,
    setupFiles: ['test/support/fresh-modules.ts'],
    globalSetup: ['test/support/engine.ts'],
    // Most files wait for a service or an engine more than they compute. DynamoDB Local takes all of the machine that
    // it can get, and answers too late if it has more to do.
    maxWorkers: chosenEngine() === 'dynamodb-local' ? 1 : Math.ceil(1.5 * availableParallelism()),
    // Services within the process of their tests log there.
    onConsoleLog: (text) => !text.startsWith('{"level":'),
    // For what hangs, not for what is slow.
    testTimeout: 600_000,
    hookTimeout: 600_000,
    expect: { poll: { timeout: 150_000 } },
    env: {
      // The least that bcrypt allows: the tests are about the service, not its hash's price.
      BCRYPT_COST: '4',
      // A machine that has other work, or stands still, is no fault of the service's.
      ...patienceOf(10),
      // Tests start services and commands by the hundred: Node compiles their code once.
      NODE_COMPILE_CACHE: fileURLToPath(new URL('../node_modules/.cache/node', import.meta.url)),
    },
    reporters: ['default', ['json', { outputFile: `.reports/${report}.json` }]],
  },
});
