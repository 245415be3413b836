/**
 * Measures how long functions take to load and to respond to their first request, in a new process: `npm run bench --
 * cold`, or `npm run bench -- cold 40` for 40 runs of each function.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { arch, cpus, tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { APIGatewayProxyEventV2 } from 'aws-lambda';
import { startEngine } from '../../infra/local/engine.ts';
import { readDeploymentSettings } from '../../infra/read-deployment-settings.ts';
import { bundle, bundleFunctions } from '../../infra/stack/bundling/bundle.ts';
import { functionsInForce } from '../../infra/uses.ts';
import { type Bundle, bundlesIn } from './cold/bundle.ts';
import { type ColdStart, coldStart, type Environment } from './cold/cold-start.ts';
import { deploy } from './cold/deployment.ts';
import { createPeople, firstCall } from './cold/first-calls.ts';
import { median, row } from './statistics.ts';

const runs = Number(process.argv[2] ?? 20);
const nodeModules = fileURLToPath(new URL('../../node_modules', import.meta.url));

const functions = functionsInForce(readDeploymentSettings({}));
const profile = functions.find(({ name }) => name === 'profile-get');
if (!profile) throw new Error('There is no function profile');

/** The bundles that are measured besides the functions, made with esbuild's defaults. */
const empty = 'empty handler';
const bareClient = 'bare document client, defaults';
const byDefaults = 'profile, defaults';
const comparisons = 'test/bench/cold/comparisons';
const compared = [
  { name: empty, entry: `${comparisons}/empty.ts` },
  { name: bareClient, entry: `${comparisons}/bare-client.ts` },
  { name: byDefaults, entry: profile.entry },
];

interface Subject extends Bundle {
  readonly event: APIGatewayProxyEventV2;
  readonly environment: Environment;
  readonly starts: ColdStart[];
}

const start = async ({ name, file, event, environment }: Subject): Promise<ColdStart> => {
  const started = await coldStart(file, event, environment);
  const { statusCode = 500 } = started.answer;
  if (statusCode >= 500) throw new Error(`${name} answered ${statusCode}`);
  return started;
};

/** Measures subjects in turn, so that other work of the machine affects all of them equally. */
const measure = async (subjects: readonly Subject[]): Promise<void> => {
  // The first start is not counted: it brings the files into memory.
  for (const subject of subjects) await start(subject);
  for (let run = 0; run < runs; run += 1) {
    for (const subject of subjects) subject.starts.push(await start(subject));
  }
};

/** Medians, in milliseconds; the processor time is the sum for loading and the first call. */
const timesOf = ({ starts }: Subject) => {
  const of = (part: 'import' | 'firstCall' | 'processor') => median(starts.map((one) => one[part]));
  return { load: of('import'), first: of('firstCall'), processor: of('processor') };
};

const print = (subjects: readonly Subject[]): void => {
  console.log(`Medians of ${runs} runs each, one after the other in turn; times in milliseconds\n`);
  console.log(row(['', 'KB', 'import', 'first call', 'together', 'processor']));
  for (const subject of subjects) {
    const { load, first, processor } = timesOf(subject);
    console.log(row([subject.name, subject.bytes / 1000, load, first, load + first, processor]));
  }
  console.log('\nWhere passwords are hashed, the first call includes one hash.\n');
  const find = (wanted: string) => timesOf(subjects.find(({ name }) => name === wanted) as Subject);
  const [own, others] = [find('profile-get'), find(byDefaults)];
  const judge = (name: string, ratio: number, target: number) =>
    console.log(row([name, ratio, `target ${target}`, ratio <= target ? 'met' : 'MISSED']));
  judge('import / bare client', own.load / find(bareClient).load, 0.55);
  judge('together / defaults', (own.load + own.first) / (others.load + others.first), 0.6);
};

const folder = mkdtempSync(join(tmpdir(), 'bench-cold-'));
const engine = await startEngine({});
const deployment = await deploy(engine.endpoint);
try {
  const bundles = [
    ...bundlesIn(folder, compared, bundle(compared, folder, 'common')),
    ...bundlesIn(folder, functions, bundleFunctions(functions, folder)),
  ];
  const subjects = bundles.map((bundled): Subject => {
    const definition = functions.find(({ name }) => name === bundled.name) ?? profile;
    const { event } = firstCall(definition.name, deployment.token);
    const environment = { ...deployment.environmentOf(definition), NODE_PATH: nodeModules };
    return { ...bundled, event, environment, starts: [] };
  });
  const creator = subjects.find(({ name }) => name === 'users-create');
  for (const event of creator ? createPeople(deployment.token) : []) {
    if (creator) await coldStart(creator.file, event, creator.environment);
  }
  console.log(`Node ${process.version}, ${arch()}, ${cpus().length} processors, ${engine.name}`);
  await measure(subjects);
  print(subjects);
} finally {
  await deployment.stop();
  await engine.stop();
  rmSync(folder, { recursive: true });
}
