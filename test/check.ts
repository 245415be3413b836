/**
 * `npm run check`: the whole gate, whose outcome is the same at each run; on the second engine it
 * runs what an engine decides. `npm run check -- long` runs all tests on both engines with seeds of
 * its own, generated clients, the whole rehearsal, and the soak: what time or chance decides too.
 * Mutation testing takes hours and stays a command of its own, `npm run mutate`.
 *
 * The gate has three lanes side by side. The output of each step is in a file in .reports, and here is a
 * line when the step ends. Goes on after a failure, prints the last lines of what failed in the end, and
 * closes with the sum of the test reports.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { closeSync, mkdirSync, openSync, readFileSync, rmSync } from 'node:fs';

interface Step {
  /** Of its files in .reports. */
  readonly name: string;
  /** Arguments of npm. */
  readonly command: string;
  readonly env?: Readonly<Record<string, string>>;
  /** Whether it writes no test report. */
  readonly isWithoutReport?: true;
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
  'test/infra/local/create-tables.test.ts',
  'test/infra/local/missing-index.test.ts',
];

const engines = ['dynoxide', 'dynamodb-local'] as const;
type EngineName = (typeof engines)[number];

/** A part of the tests that no engine changes. */
const part = (name: string): Step => ({ name, command: `test -- ${name}` });
const partOn = (ENGINE: EngineName, name: string): Step => ({
  name: `${name}-${ENGINE}`,
  command: `test -- ${name}`,
  env: { ENGINE },
});

/** The rehearsal compares what the deployed service passes with what this passes. */
const service = partOn('dynoxide', 'service');
/** Several parts in one run, which share an engine, and the processors when one of them waits. */
const others: Step = {
  name: 'settings-machine-properties-dynoxide',
  command: 'test -- settings --project machine --project properties',
  env: { ENGINE: 'dynoxide' },
};
/** The tests of what an engine decides: what is stored, and what a request stores and reads. */
const storage: Step = {
  name: 'storage-dynamodb-local',
  command: `test -- ${storageTests.join(' ')}`,
  env: { ENGINE: 'dynamodb-local' },
};
const code: readonly Step[] = [
  { name: 'lint', command: 'run lint', isWithoutReport: true },
  { name: 'types', command: 'run types', isWithoutReport: true },
];
/** The tests of what is built: the stack, and the pages. */
const built: readonly Step[] = [
  part('stack'),
  { name: 'browser-client', command: 'test -- browser --project client' },
];
/** Begins with what `npm run synth` does, and reports the tests of the deployed service. */
const rehearsal: Step = {
  name: 'rehearsal',
  command: 'run rehearse',
  env: { LOCAL_REPORT: service.name },
};

const everything: readonly Step[] = [
  ...code,
  ...built,
  ...engines.flatMap((engine) =>
    ['service', 'settings', 'machine', 'properties', 'long'].map((name) => partOn(engine, name)),
  ),
  { ...part('contract'), env: { EXAMPLES: '100' } },
  part('generated'),
  {
    name: 'package-oldest',
    command: 'test -- test/infra/package.test.ts test/infra/client-package.test.ts',
    env: { APPLICATION: 'oldest' },
  },
  { ...rehearsal, command: 'run rehearse -- long' },
  { name: 'soak', command: 'run soak', env: { SOAK_SECONDS: '120' }, isWithoutReport: true },
];

const folder = '.reports';
/** Lines of a failed step's output that are printed in the end. */
const lastLines = 80;

interface Count {
  readonly passed: number;
  readonly failed: number;
  /** The text that is printed in the end. */
  readonly failure?: string;
}

/** The counts of a report. A missing report counts as a failure, as does a fault outside the tests. */
const countIn = (name: string): Count => {
  try {
    const report = JSON.parse(readFileSync(`${folder}/${name}.json`, 'utf8'));
    const { numPassedTests: passed, numFailedTests: failed, success } = report;
    return { passed, failed: success ? failed : Math.max(failed, 1) };
  } catch {
    console.log(`FAILED: ${folder}/${name}.json is missing`);
    return { passed: 0, failed: 1 };
  }
};

const secondsSince = (begun: number) => ((performance.now() - begun) / 1000).toFixed(0);

const running = new Set<ChildProcess>();
// Each step leads a group of its own, so that what it starts ends with it when this is told to end.
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.once(signal, () => {
    for (const { pid } of running) if (pid) process.kill(-pid, 'SIGTERM');
    process.exit(1);
  });
}

/** Runs a command of npm with its output in a file. @returns whether it succeeded */
const runInto = async (file: string, { name, command, env }: Step): Promise<boolean> => {
  const output = openSync(file, 'w');
  const child = spawn('npm', command.split(' '), {
    stdio: ['ignore', output, output],
    env: { ...process.env, ...env, REPORT: name },
    detached: true,
  });
  running.add(child);
  closeSync(output);
  const [status] = await once(child, 'close').catch((error: Error) => [error.message]);
  running.delete(child);
  return status === 0;
};

/** Runs one step; a failure that no report counts is one, and so is a step that prints nothing. */
const run = async (step: Step): Promise<Count> => {
  const { name, command, env = {}, isWithoutReport } = step;
  const begun = performance.now();
  const file = `${folder}/${name}.log`;
  rmSync(`${folder}/${name}.json`, { force: true });
  const isDone = await runInto(file, step);
  const count = isWithoutReport ? { passed: 0, failed: 0 } : countIn(name);
  const output = readFileSync(file, 'utf8').trimEnd();
  const failed = isDone && output !== '' ? count.failed : Math.max(count.failed, 1);
  console.log(`${failed === 0 ? 'ok' : 'FAILED'}: ${name}, ${secondsSince(begun)} s`);
  if (failed === 0) return count;
  const title = [...Object.entries(env).map((pair) => pair.join('=')), 'npm', command].join(' ');
  const end = output.split('\n').slice(-lastLines).join('\n');
  return { ...count, failed, failure: `\n== FAILED: ${title}\n${end}\n== All of it: ${file}` };
};

const inTurn = async (steps: readonly Step[]): Promise<readonly Count[]> => {
  const counts: Count[] = [];
  for (const step of steps) counts.push(await run(step));
  return counts;
};

/** The lanes of the gate. The rehearsal waits for its emulator, and so leaves the processors to the others. */
const startGate = (): readonly Promise<readonly Count[]>[] => {
  const first = inTurn([service]);
  const tests = async () => [...(await first), ...(await inTurn([others]))];
  const deployment = async () => {
    await first;
    return inTurn([rehearsal]);
  };
  return [tests(), inTurn([...built, part('contract'), storage, ...code]), deployment()];
};

/** Says what a lane came to; one that dies is a failure. */
const finish = async (lane: Promise<readonly Count[]>, index: number) => {
  const begun = performance.now();
  const counts = await lane.catch((error): readonly Count[] => [
    { passed: 0, failed: 1, failure: `\n== FAILED: lane ${index + 1}\n${error.stack}` },
  ]);
  console.log(`Lane ${index + 1} has ended after ${secondsSince(begun)} s`);
  return counts;
};

mkdirSync(folder, { recursive: true });
const isLong = process.argv[2] === 'long';
if (isLong) {
  // One seed for the whole run, which tries all of it again.
  process.env.SEED ??= String(randomInt(2 ** 31));
  console.log(`SEED=${process.env.SEED}`);
}
console.log(`The output of each step is in ${folder}`);
const lanes = isLong ? [inTurn(everything)] : startGate();
const counts = (await Promise.all(lanes.map(finish))).flat();
for (const { failure } of counts) if (failure) console.log(failure);
const sum = (of: 'passed' | 'failed') => counts.reduce((total, count) => total + count[of], 0);
console.log(`\n${sum('passed')} passed, ${sum('failed')} failed`);
process.exitCode = sum('failed') === 0 && sum('passed') > 0 ? 0 : 1;
