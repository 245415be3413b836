/**
 * How long functions take to load and to answer their first request, in a fresh process:
 * `npm run bench -- cold`, or `npm run bench -- cold 40` for 40 runs of each.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { arch, cpus, tmpdir } from 'node:os';
import { join } from 'node:path';
import { startEngine } from '../../infra/local/engine.ts';
import { bundle } from './cold/bundle.ts';
import { coldStart } from './cold/cold-start.ts';
import { deploy } from './cold/deployment.ts';
import { createPeople } from './cold/first-calls.ts';
import { measure } from './cold/measure.ts';
import { printRatios, printTable } from './cold/report.ts';
import { candidates, sources } from './cold/subjects.ts';

const runs = Number(process.argv[2] ?? 20);

const folder = mkdtempSync(join(tmpdir(), 'bench-cold-'));
const engine = await startEngine({});
const deployment = await deploy(engine.endpoint);
try {
  const bundles = bundle(sources, folder);
  const subjects = candidates(bundles, deployment, { cache: join(folder, 'compile-cache') });
  const creator = subjects.find(({ name }) => name === 'users-create');
  for (const event of creator ? createPeople(deployment.token) : []) {
    if (creator) await coldStart(creator.file, event, creator.environment);
  }

  console.log(`Node ${process.version}, ${arch()}, ${cpus().length} processors, ${engine.name}`);
  console.log(`Medians of ${runs} runs each, one after the other in turn; times in milliseconds\n`);
  const results = await measure(subjects, runs);
  printTable(results);
  printRatios(results);
} finally {
  await deployment.stop();
  await engine.stop();
  rmSync(folder, { recursive: true });
}
