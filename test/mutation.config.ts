import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

const all = [
  'test/{functions,lib}/**/*.test.ts',
  'test/settings/**/*.settings.test.ts',
  'test/properties/audit-{query,retention,seal,tampering,verifiers}.test.ts',
];

/** The fastest tests, which are nearest to the code, come first: the first failure ends the trial of a mutant. */
const folders = ['test/lib/', 'test/settings/', 'test/functions/', 'test/properties/'];
const rank = ({ moduleId }: TestSpecification) =>
  folders.findIndex((folder) => moduleId.includes(folder));

class NearestFirst extends BaseSequencer {
  override sort = async (files: TestSpecification[]) =>
    files.toSorted((a, b) => rank(a) - rank(b) || a.moduleId.localeCompare(b.moduleId));
}

/**
 * For Stryker, which sees only code that runs in its own process: the tests of lib, and the tests over HTTP.
 * The variable TESTS, patterns with spaces between them, selects fewer.
 */
export default defineConfig({
  root: fileURLToPath(new URL('..', import.meta.url)),
  test: {
    // They watch who reads the environment, and how files are written: Stryker's instruments change both.
    exclude: ['**/{declarations,imports}.test.ts'],
    include: process.env.TESTS?.split(' ') ?? all,
    globalSetup: ['test/support/engine.ts'],
    sequence: { sequencer: NearestFirst },
    setupFiles: ['test/support/fresh-modules.ts'],
    env: { BCRYPT_COST: '4' },
    // Stryker itself ends a test that a mutant makes hang.
    testTimeout: 180_000,
    hookTimeout: 180_000,
    // The default of a second is too short for a run of the sealer, with or without a mutant.
    expect: { poll: { timeout: 150_000 } },
  },
});
