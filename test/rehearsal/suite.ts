import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { run } from './command.ts';
import { isLong, root } from './workspace.ts';

/** The result of a run of the acceptance tests. */
export interface SuiteResult {
  readonly passed: number;
  readonly skipped: number;
  /** How many tests have passed, by file. */
  readonly files: ReadonlyMap<string, number>;
}

interface Report {
  readonly testResults: readonly {
    readonly name: string;
    readonly assertionResults: readonly { readonly status: string; readonly title: string }[];
  }[];
}

const acceptanceTests = 'test/functions/';

/** Titles of tests that make a table fail, which they cannot do if the service is deployed. */
const localOnly = / while (?:a|its) table fails/;

/** How many files run at a time: a request to the emulator takes more waiting than work. */
const filesAtOnce = 3;

/**
 * The console's tests that need no setting and no empty service; in the gate, only the tests of opening it and logging
 * in.
 */
const consoleTests = ['sign-in', ...(isLong ? ['audit', 'memory', 'on-demand', 'users'] : [])].map(
  (name) => `test/browser/console/${name}.test.ts`,
);

const vitest = (args: readonly string[], env: Readonly<Record<string, string>>) =>
  run('vitest', ['run', '--config', 'test/vitest.config.ts', ...args], { env });

/**
 * Reads the result of the acceptance tests from a report.
 * @param name the name of the report in .reports
 */
export const readReport = (name: string): SuiteResult => {
  const file = join(root, `.reports/${name}.json`);
  const { testResults }: Report = JSON.parse(readFileSync(file, 'utf8'));
  const acceptance = testResults
    .filter((result) => result.name.includes(acceptanceTests))
    .map(({ name: path, assertionResults }) => ({
      name: path,
      assertionResults: assertionResults.filter(({ title }) => !localOnly.test(title)),
    }));
  const files = acceptance.map(({ name: path, assertionResults }): [string, number] => [
    path.slice(path.indexOf(acceptanceTests)),
    assertionResults.filter(({ status }) => status === 'passed').length,
  ]);
  const passed = files.reduce((sum, [, count]) => sum + count, 0);
  const all = acceptance.flatMap(({ assertionResults }) => assertionResults).length;
  return { passed, skipped: all - passed, files: new Map(files.toSorted()) };
};

/**
 * Runs the acceptance tests, by the configuration of `npm test`.
 * @param name the name of the report in .reports
 * @param env the variables that name a deployed service; empty for the local service
 * @throws {Error} when a test fails
 */
export const runSuite = async (
  name: string,
  env: Readonly<Record<string, string>>,
): Promise<SuiteResult> => {
  const args = ['--project', 'service', `--maxWorkers=${filesAtOnce}`, acceptanceTests];
  await vitest(args, { ...env, REPORT: name });
  return readReport(name);
};

/**
 * Tests the deployed console by tests of the local console.
 * @param env the variables that name the deployed service
 * @returns how many tests the files have; none failed
 * @throws {Error} when a test fails
 */
export const runConsoleTests = async (env: Readonly<Record<string, string>>): Promise<number> => {
  const name = 'browser-deployed';
  // One file at a time, because each tests the newest users and entries.
  await vitest(['--project', 'browser', '--maxWorkers=1', ...consoleTests], {
    ...env,
    REPORT: name,
  });
  const report: Report = JSON.parse(readFileSync(join(root, `.reports/${name}.json`), 'utf8'));
  return report.testResults.flatMap(({ assertionResults }) => assertionResults).length;
};

/** @throws {Error} when a test was skipped, or when a file passed a different number of tests on the two services */
export const requireSameTests = (local: SuiteResult, deployed: SuiteResult): void => {
  const counts = (result: SuiteResult) => JSON.stringify([...result.files]);
  if (local.skipped || deployed.skipped || counts(local) !== counts(deployed)) {
    throw new Error(
      `Passed and skipped locally: ${local.passed}, ${local.skipped}; deployed: ${deployed.passed}, ${deployed.skipped}`,
    );
  }
};
