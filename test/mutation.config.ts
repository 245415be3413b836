import { defineConfig } from 'vitest/config';

const all = [
  'test/{functions,lib}/**/*.test.ts',
  'test/settings/**/*.settings.test.ts',
  'test/races/*.test.ts',
  'test/model/interleavings.test.ts',
  'test/faults/storage-patience.test.ts',
  'test/properties/login-protection.test.ts',
];

/**
 * For Stryker, which counts what runs in its own process: the tests of lib, and those by HTTP.
 * TESTS, patterns between spaces, has it run fewer.
 */
export default defineConfig({
  root: new URL('..', import.meta.url).pathname,
  test: {
    // It watches who reads the environment, and Stryker's instruments do.
    exclude: ['**/imports.test.ts'],
    include: process.env.TESTS?.split(' ') ?? all,
    globalSetup: ['test/support/engine.ts'],
    env: { BCRYPT_COST: '4', WITHIN_THIS_PROCESS: 'yes' },
    // What hangs with a mutant, Stryker ends by its own clock.
    testTimeout: 180_000,
    hookTimeout: 180_000,
  },
});
