/**
 * `npm run check`: the whole gate, whose outcome is the same at each run; on the second engine it
 * runs what an engine decides. `npm run check:long` runs all tests on both engines with seeds of its
 * own, generated clients, the rotation in the rehearsal, and the soak: what time or chance decides too.
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
  'test/lib/reset',
  'test/lib/users',
  'test/functions/audit-logs',
  'test/functions/auth',
  'test/functions/profile',
  'test/functions/users',
];

const engines = ['dynoxide', 'dynamodb-local'] as const;
type EngineName = (typeof engines)[number];

const service = (ENGINE: EngineName): Step => ({
  command: 'test',
  env: { ENGINE },
  report: `tests-${ENGINE}`,
});
/** The tests of what an engine decides: what is stored, and what a request stores and reads. */
const storage = (ENGINE: EngineName): Step => ({
  ...service(ENGINE),
  command: `test -- ${storageTests.join(' ')}`,
});
/** The tests of a folder on an engine. */
const testsOf =
  (name: string) =>
  (ENGINE: EngineName): Step => ({
    command: `run test:${name}`,
    env: { ENGINE },
    report: `${name}-${ENGINE}`,
  });
const settings = testsOf('settings');
const machine = testsOf('machine');
const properties = testsOf('properties');
const long = testsOf('long');
const contract: Step = { command: 'run test:contract', report: 'tests-contract' };

const code: readonly Step[] = [
  { command: 'run lint' },
  { command: 'run types' },
  { command: 'run test:stack', report: 'tests-stack' },
  { command: 'run test:browser', report: 'browser' },
];
/**
 * Begins with what `npm run synth` does. Compares what the deployed service passes with what `npm
 * test` passed.
 */
const rehearsal: Step = {
  command: 'run rehearse',
  env: { LOCAL_REPORT: 'tests-dynoxide' },
  report: 'tests-deployed',
};

const gate: readonly Step[] = [
  service('dynoxide'),
  ...code,
  settings('dynoxide'),
  machine('dynoxide'),
  properties('dynoxide'),
  storage('dynamodb-local'),
  contract,
  rehearsal,
];
const everything: readonly Step[] = [
  ...code,
  ...engines.flatMap((engine) => [
    service(engine),
    settings(engine),
    machine(engine),
    properties(engine),
    long(engine),
  ]),
  { ...contract, env: { EXAMPLES: '100' } },
  { command: 'run test:generated', report: 'generated' },
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
  const options = { stdio: 'inherit', env: { ...process.env, ...env } } as const;
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
