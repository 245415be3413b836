/**
 * `npm run check`: the whole gate, whose outcome is the same at each run; on the second engine it
 * runs what an engine decides. `npm run check -- long` runs all tests on both engines with seeds of
 * its own, generated clients, the rotation in the rehearsal, and the soak: what time or chance decides too.
 * Mutation testing takes hours and stays a command of its own, `npm run mutate`.
 *
 * Goes on after a failure, and closes with the sum of the test reports.
 */
import { spawnSync } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { readFileSync, rmSync } from 'node:fs';

interface Step {
  /** Arguments of npm. */
  readonly command: string;
  readonly env?: Readonly<Record<string, string>>;
  /** The test report that it writes. */
  readonly report?: string;
}

const storageTests = [
  'test/lib/audit',
  'test/lib/seal/table',
  'test/lib/dynamodb',
  'test/lib/options/links',
  'test/lib/users',
  'test/functions/audit-logs',
  'test/functions/auth',
  'test/functions/profile',
  'test/functions/users',
];

const engines = ['dynoxide', 'dynamodb-local'] as const;
type EngineName = (typeof engines)[number];

/** Parts of the tests that no engine changes. */
const parts = (...names: string[]): readonly Step[] =>
  names.map((name) => ({ command: `test -- ${name}`, report: name }));
const partsOn = (ENGINE: EngineName, ...names: string[]): readonly Step[] =>
  names.map((name) => ({
    command: `test -- ${name}`,
    env: { ENGINE },
    report: `${name}-${ENGINE}`,
  }));
/** The tests of what an engine decides: what is stored, and what a request stores and reads. */
const storage: Step = {
  command: `test -- ${storageTests.join(' ')}`,
  env: { ENGINE: 'dynamodb-local' },
  report: 'storage-dynamodb-local',
};

const code: readonly Step[] = [
  { command: 'run lint' },
  { command: 'run types' },
  ...parts('stack', 'browser'),
];
/**
 * Begins with what `npm run synth` does. Compares what the deployed service passes with what `npm
 * test` passed.
 */
const rehearsal: Step = {
  command: 'run rehearse',
  env: { LOCAL_REPORT: 'service-dynoxide' },
  report: 'tests-deployed',
};

const gate: readonly Step[] = [
  ...partsOn('dynoxide', 'service'),
  ...code,
  ...partsOn('dynoxide', 'settings', 'machine', 'properties'),
  storage,
  ...parts('contract'),
  rehearsal,
];
const everything: readonly Step[] = [
  ...code,
  ...engines.flatMap((engine) =>
    partsOn(engine, 'service', 'settings', 'machine', 'properties', 'long'),
  ),
  ...parts('contract').map((step) => ({ ...step, env: { EXAMPLES: '100' } })),
  ...parts('generated'),
  { ...rehearsal, command: 'run rehearse -- long' },
  { command: 'run soak', env: { SOAK_SECONDS: '120' } },
];

const reportFile = (name: string) => `.reports/${name}.json`;

interface Count {
  readonly passed: number;
  readonly failed: number;
}

/** What a report says; one that is missing, or says that something else failed, is a failure. */
const countIn = (name: string): Count => {
  try {
    const report = JSON.parse(readFileSync(reportFile(name), 'utf8'));
    const { numPassedTests: passed, numFailedTests: failed, success } = report;
    return { passed, failed: success ? failed : Math.max(failed, 1) };
  } catch {
    console.log(`FAILED: ${reportFile(name)} is missing`);
    return { passed: 0, failed: 1 };
  }
};

/** Runs one step; a failure that no report counts is one. */
const run = ({ command, env = {}, report }: Step): Count => {
  const title = [...Object.entries(env).map((pair) => pair.join('=')), 'npm', command].join(' ');
  console.log(`\n== ${title}`);
  const begun = performance.now();
  if (report) rmSync(reportFile(report), { force: true });
  const options = {
    stdio: 'inherit',
    env: { ...process.env, ...env, ...(report && { REPORT: report }) },
  } as const;
  const { status } = spawnSync('npm', command.split(' '), options);
  const count = report ? countIn(report) : { passed: 0, failed: 0 };
  const failed = status === 0 ? count.failed : Math.max(count.failed, 1);
  const seconds = ((performance.now() - begun) / 1000).toFixed(0);
  console.log(`${failed === 0 ? 'ok' : 'FAILED'}: ${title}, ${seconds} s`);
  return { ...count, failed };
};

const isLong = process.argv[2] === 'long';
if (isLong) {
  // One seed for the whole run, which tries all of it again.
  process.env.SEED ??= String(randomInt(2 ** 31));
  console.log(`SEED=${process.env.SEED}`);
}
const counts = (isLong ? everything : gate).map(run);
const sum = (of: keyof Count) => counts.reduce((total, count) => total + count[of], 0);
console.log(`\n${sum('passed')} passed, ${sum('failed')} failed`);
process.exitCode = sum('failed') === 0 && sum('passed') > 0 ? 0 : 1;
