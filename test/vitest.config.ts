import { configDefaults, defineConfig } from 'vitest/config';
import { chosenEngine } from './engine.ts';

/** What is about the stack and its bundles, not about an engine: run once, not on each engine. */
const ofTheStack = 'test/infra/*.test.ts';

const report = process.env.REPORT ?? `tests-${chosenEngine()}`;

const project = (name: string, files: { include: string[]; exclude?: string[] }) => ({
  extends: true as const,
  test: { name, ...files },
});

export default defineConfig({
  root: new URL('..', import.meta.url).pathname,
  test: {
    projects: [
      project('service', {
        include: ['test/**/*.test.ts'],
        exclude: [...configDefaults.exclude, ofTheStack],
      }),
      project('stack', { include: [ofTheStack] }),
    ],
    globalSetup: ['test/engine.ts'],
    testTimeout: 30_000,
    hookTimeout: 60_000,
    // The least that bcrypt allows: the tests are about the service, not about its hash's price.
    env: { BCRYPT_COST: '4' },
    reporters: ['default', ['json', { outputFile: `.reports/${report}.json` }]],
  },
});
