/** Updates a stack of the previous release to the code of this repository. */
import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { tagOf } from '../prove/names.ts';
import { register } from '../support/client.ts';
import { run } from './command.ts';
import { createAdmin, openDeployment, requireData } from './deployment.ts';
import type { Place } from './place.ts';
import type { Proof } from './proof.ts';
import { type Assembly, destroy, stackNameOf, synthesise } from './stack.ts';
import { requireThat } from './step.ts';
import { changeTemplate } from './template.ts';
import { root, temporaryFolder } from './workspace.ts';

/** Deploys the previous release with a user, updates it, and finds the user and the trail. */
export const updateRelease = async ({ place: given }: Proof): Promise<string> => {
  const place = { ...given, run: given.run ?? 'rehearsed' };
  const version = releases().at(-1) ?? '';
  const deployment = await openDeployment(place, await synthesiseRelease(place, version));
  const user = await register(deployment.api);
  deployment.edge.stop();
  const updated = await synthesise(place, 'updated', { name: 'update' });
  const after = await openDeployment(place, updated);
  await requireData(after, await createAdmin(after), user);
  after.edge.stop();
  await destroy(updated, place);
  return `from ${version}`;
};

/** The releases whose data are kept for a test, in their order. */
const releases = (): readonly string[] =>
  readdirSync(join(root, 'test/settings/released'), { withFileTypes: true })
    .filter((entry) => entry.isDirectory() && /^\d+\.\d+\.\d+$/.test(entry.name))
    .map(({ name }) => name)
    .toSorted((a, b) => a.localeCompare(b, 'en', { numeric: true }));

/** Synthesises a stack with the code and the packages of a release. */
const synthesiseRelease = async (place: Place, version: string): Promise<Assembly> => {
  const kept = `test/settings/released/${version}`;
  const commit = (await run('git', ['log', '-1', '--format=%H', '--', kept])).trim();
  requireThat(commit !== '', 'The history of the repository is missing: run git fetch --unshallow');
  const folder = join(temporaryFolder, 'release');
  mkdirSync(folder);
  await run('sh', ['-c', `git archive ${commit} | tar -x -C "$0"`, folder]);
  const stackName = stackNameOf(place, 'update');
  const name = stackName.replace(/^accounts-/, '');
  const settings = { stage: 'development', tags: tagOf(place.run ?? '') };
  writeFileSync(join(folder, `infra/deployments/${name}.json`), JSON.stringify(settings));
  const synth = `./node_modules/.bin/cdk synth --quiet --output out -c name=${name} -c v1ReservedConcurrency=none`;
  const install = 'npm ci --silent --no-audit --no-fund';
  // The certificate of the emulator is not valid for the registry.
  const { NODE_EXTRA_CA_CERTS } = process.env;
  await run('sh', ['-c', `cd "$0" && ${install}`, folder], { env: { NODE_EXTRA_CA_CERTS } });
  await run('sh', ['-c', `cd "$0" && ${synth}`, folder], { env: place.env });
  changeTemplate(join(folder, 'out'), stackName, place.adapt);
  return { folder: join(folder, 'out'), stackName };
};
