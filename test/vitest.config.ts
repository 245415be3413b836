import { defineConfig } from 'vitest/config';
import { chosenEngine } from './engine.ts';

export default defineConfig({
  root: new URL('..', import.meta.url).pathname,
  test: {
    include: ['test/**/*.test.ts'],
    globalSetup: ['test/engine.ts'],
    testTimeout: 30_000,
    hookTimeout: 60_000,
    // The least that bcrypt allows: the tests are about the service, not about its hash's price.
    env: { BCRYPT_COST: '4' },
    reporters: ['default', ['json', { outputFile: `.reports/tests-${chosenEngine()}.json` }]],
  },
});
