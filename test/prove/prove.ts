/** `npm run prove`: proves the service in an account of AWS, and leaves a report (infra/proving.md). */
import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline/promises';
import { Command, CommanderError } from 'commander';
import { Failure, UsageError } from '../../infra/operator/failure.ts';
import { endAll } from '../rehearsal/command.ts';
import type { Place } from '../rehearsal/place.ts';
import { installPython } from '../rehearsal/python.ts';
import { root, runFolder } from '../rehearsal/workspace.ts';
import { clean } from './clean.ts';
import { dollarsOfHour, greatestDollars, inDollars } from './cost.ts';
import { explainFault } from './fault.ts';
import { placeOf, requireReady } from './place.ts';
import { chosenSteps, proveAll, requireNames } from './proving.ts';
import { writeReport } from './report.ts';
import { beginRun, endRun, fileOf, type Run, readRun, requireNone, writeRun } from './run-file.ts';

interface Options {
  readonly account: string;
  readonly region: string;
  readonly folder: string;
  readonly only?: string;
  readonly yes?: true;
  readonly keep?: true;
  readonly resume?: true;
  readonly clean?: true;
  readonly lock?: true;
}

const parse = (args: readonly string[]): Options => {
  const program = new Command('npm run prove --')
    .description('Proves the service in an account of AWS, and leaves prove.md and prove.json.')
    .requiredOption('--account <id>', 'the account, which must be the account of the credentials')
    .requiredOption('--region <region>', 'the region, such as eu-central-1')
    .option(
      '--only <steps>',
      'steps by their names, with commas; some take hours and are only done so',
    )
    .option(
      '--lock',
      'also prove the lock of the archive, for one day: --clean removes it tomorrow',
    )
    .option('--keep', 'leave the stacks, until --clean')
    .option('--resume', 'go on with a run that was interrupted, as when its credentials expired')
    .option('--clean', 'remove what the run has made, and nothing else')
    .option('--yes', 'do not ask')
    .option('--folder <path>', 'where the files of the run are written', join(root, '.prove'))
    .exitOverride()
    .showHelpAfterError(
      'Write npm run prove -- --account 123456789012 --region eu-central-1, with -- before all options. The others: npm run prove -- --help',
    );
  const options = program.parse(args, { from: 'user' }).opts<Options>();
  const { account, region, resume, clean: isClean } = options;
  if (!/^\d{12}$/.test(account)) throw new UsageError('--account must be 12 digits.');
  if (!/^[a-z]{2}(-[a-z]+)+-\d$/.test(region)) {
    throw new UsageError('--region must be a region such as eu-central-1.');
  }
  if (resume && isClean) throw new UsageError('Choose one of --resume and --clean.');
  return options;
};

const git = (...args: readonly string[]): string =>
  execFileSync('git', args, { cwd: root, encoding: 'utf8' }).trim();

const commitAtHand = (): string =>
  `${git('rev-parse', 'HEAD')}${git('status', '--porcelain') ? ', changed' : ''}`;

const versions = (): Readonly<Record<string, string>> => {
  const { version: service, devDependencies } = JSON.parse(
    readFileSync(join(root, 'package.json'), 'utf8'),
  );
  return { service, node: process.version, 'aws-cdk-lib': devDependencies['aws-cdk-lib'] };
};

/** Says what is made and what it costs, and asks for consent unless it was given. @throws {Failure} without consent */
const requireConsent = async ({ account, region, yes, keep, lock }: Options): Promise<void> => {
  console.log(`In the account ${account}, ${region}, this makes two stacks of the service, one for development and one
for production, restored tables, a function, a queue and a topic, each with the id of the run in its
name or its tag, and removes them in the end${keep ? ' by --clean' : ''}; keys then wait for seven days.${
    lock ? ' With --lock the bucket of the archive can be\nremoved in a day, by --clean.' : ''
  }
It takes some hours, and costs at most ${inDollars(greatestDollars())} by infra/cost.md; an hour of
--keep costs ${inDollars(dollarsOfHour())}.`);
  if (yes) return;
  if (!process.stdin.isTTY)
    throw new UsageError('Nobody can be asked here: add --yes if you agree.');
  const asking = createInterface({ input: process.stdin, output: process.stdout });
  const answer = await asking.question('Go on? (yes/no) ');
  asking.close();
  if (!/^y(es)?$/i.test(answer.trim())) throw new Failure('Nothing was made.');
};

const begin = async (options: Options, only: readonly string[]): Promise<Run> => {
  const { account, region, folder, lock } = options;
  await requireConsent(options);
  const given = { account, region, commit: commitAtHand(), isLocked: lock === true, only };
  return beginRun(folder, given);
};

/** Removes everything that the run has made. @returns the items that are left */
const takeDown = async (place: Place, run: Run, folder: string): Promise<readonly string[]> => {
  const { removed, left } = await clean(place.call, run.id, console.log);
  run.removed = [...run.removed, ...removed];
  if (left.length === 0) endRun(folder, run);
  else writeRun(folder, run);
  for (const each of left) console.log(`Left: ${each}`);
  console.log(left.length === 0 ? 'Nothing is left.' : 'Run --clean again to remove it.');
  return left;
};

/** The run to continue, or a new run, after checking that it may be done. */
const prepare = async (options: Options): Promise<Run> => {
  const { account, region, folder } = options;
  const only = options.only?.split(',').map((name) => name.trim()) ?? [];
  requireNames(only);
  const isNew = !options.resume && !options.clean;
  if (isNew) requireNone(folder);
  const known = isNew ? undefined : readRun(folder, { account, region });
  await installPython();
  const place = placeOf(account, region);
  await requireReady(place);
  const run = known ?? (await begin(options, only));
  console.log(`Run ${run.id}, in ${fileOf(folder)}`);
  return run;
};

const prove = async (options: Options): Promise<void> => {
  const { account, region, folder } = options;
  const run = await prepare(options);
  const place = placeOf(account, region, run.id);
  const report = (left: readonly string[] | undefined): string =>
    writeReport(folder, { run, where: place.name, versions: versions(), left });
  if (!options.clean) {
    await proveAll(chosenSteps(run), place, run, () => {
      writeRun(folder, run);
      report(undefined);
    });
  }
  const left = options.keep && !options.clean ? undefined : await takeDown(place, run, folder);
  console.log(`The report: ${report(left)}`);
  const hasFailed = run.outcomes.some(({ outcome }) => outcome === 'failed');
  const isLeft = (left?.length ?? 0) > 0;
  process.exitCode = isLeft || (hasFailed && !options.clean) ? 1 : 0;
};

const end = (reason: string): void => {
  console.error(`${reason}: go on by --resume, or remove what was made by --clean.`);
  endAll();
  process.exit(1);
};
process.once('SIGINT', () => end('Interrupted'));
process.once('SIGTERM', () => end('Terminated'));
try {
  mkdirSync(runFolder, { recursive: true });
  await prove(parse(process.argv.slice(2)));
} catch (error) {
  if (!(error instanceof CommanderError)) console.error(explainFault(error));
  const isUsage = error instanceof UsageError || error instanceof CommanderError;
  process.exitCode = isUsage ? 2 : 1;
  if (error instanceof CommanderError && error.exitCode === 0) process.exitCode = 0;
}
endAll();
// Open listeners would keep the process from ending.
process.exit();
