import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

const all = [
  'test/{functions,lib}/**/*.test.ts',
  'test/settings/**/*.settings.test.ts',
  'test/properties/audit-{query,retention,seal,tampering,verifiers}.test.ts',
];

/** What is fast and near comes first: the first test that fails ends the trial of a mutant. */
const folders = ['test/lib/', 'test/settings/', 'test/functions/', 'test/properties/'];
const rank = ({ moduleId }: TestSpecification) =>
  folders.findIndex((folder) => moduleId.includes(folder));

class NearestFirst extends BaseSequencer {
  override sort = async (files: TestSpecification[]) =>
    files.toSorted((a, b) => rank(a) - rank(b) || a.moduleId.localeCompare(b.moduleId));
}

/**
 * For Stryker, which counts what runs in its own process: the tests of lib, and the tests by HTTP.
 * TESTS, patterns between spaces, has it run fewer.
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
    // What hangs with a mutant, Stryker ends by its own clock.
    testTimeout: 180_000,
    hookTimeout: 180_000,
  },
});
