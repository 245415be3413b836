import { availableParallelism } from 'node:os';
import { configDefaults, defineConfig } from 'vitest/config';
import { chosenEngine } from './engine.ts';

/** What seeks the limits, by thousands of cases and at every fault; the rest is every rule once. */
const stress = 'test/{faults,leaks,model,properties,races}/**/*.test.ts';
/** What is about the stack and its bundles, not about an engine: run once, not on each engine. */
const stack = 'test/infra/*.test.ts';

const report = process.env.REPORT ?? `tests-${chosenEngine()}`;

const project = (name: string, include: string, exclude: readonly string[] = []) => ({
  extends: true as const,
  test: { name, include: [include], exclude: [...configDefaults.exclude, ...exclude] },
});

export default defineConfig({
  root: new URL('..', import.meta.url).pathname,
  test: {
    projects: [
      project('service', 'test/**/*.test.ts', [stress, stack]),
      project('stress', stress),
      project('stack', stack),
    ],
    globalSetup: ['test/engine.ts'],
    // Most files wait for a service or an engine more than they compute; DynamoDB Local takes as
    // much of the machine as there is, and with more to do answers too late.
    maxWorkers: chosenEngine() === 'dynamodb-local' ? 1 : 2 * availableParallelism(),
    testTimeout: 30_000,
    hookTimeout: 60_000,
    env: {
      // The least that bcrypt allows: the tests are about the service, not its hash's price.
      BCRYPT_COST: '4',
      // A machine that has other work, or stands still, is no fault of the service's.
      STORAGE_PATIENCE: '5',
      // Tests start services and commands by the hundred: Node compiles their code once.
      NODE_COMPILE_CACHE: new URL('../node_modules/.cache/node', import.meta.url).pathname,
    },
    reporters: ['default', ['json', { outputFile: `.reports/${report}.json` }]],
  },
});
