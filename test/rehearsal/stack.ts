import { cpSync } from 'node:fs';
import { join } from 'node:path';
import { run } from './command.ts';
import type { Place } from './place.ts';
import { requireThat } from './step.ts';
import { changeTemplate, type Template } from './template.ts';
import { runFolder } from './workspace.ts';

/** A stack in a folder that `cdk synth` wrote. */
export interface Assembly {
  readonly folder: string;
  readonly stackName: string;
}

/** Settings of a stack for development. */
export const development = { auditSeal: 'on' };

/** The outputs of the stack, by name. */
export type Outputs = Readonly<Record<string, string>>;

const cdk = (args: readonly string[], { env }: Place) =>
  run('cdk', [...args, '--no-notices'], { env });

/**
 * Synthesises the stack and bundles its functions, everything in a folder of its own.
 * @param settings the settings of the stack, by name, and `name`, which chooses the file of a deployment
 */
export const synthesise = async (
  place: Place,
  name: string,
  settings: Readonly<Record<string, string | number>> = {},
): Promise<Assembly> => {
  const folder = join(runFolder, name);
  const stackName = stackNameOf(place, settings.name);
  const all = { ...settings, ...(place.run && { ...settingsOfProof, run: place.run }) };
  const given = Object.entries(all).flatMap(([key, value]) => ['-c', `${key}=${value}`]);
  const app = place.run ? ['--app', 'node test/prove/app.ts'] : [];
  await cdk(['synth', '--quiet', '--output', folder, ...app, ...given], place);
  changeTemplate(folder, stackName, place.adapt);
  return { folder, stackName };
};

/** A copy of a synthesised stack, with another template. */
export const variant = (
  { folder, stackName }: Assembly,
  name: string,
  change: (template: Template) => Template,
): Assembly => {
  const copy = join(runFolder, name);
  cpSync(folder, copy, { recursive: true });
  changeTemplate(copy, stackName, change);
  return { folder: copy, stackName };
};

/** The name of a stack, which contains the id of a proving run. */
export const stackNameOf = ({ run: id }: Place, name: unknown = 'development'): string =>
  id ? `accounts-proof-${id}-${name}` : `accounts-${name}`;

/** Settings of every stack of a proving run: small throttles, and an archive that can be deleted at once. */
const settingsOfProof = {
  auditLockDays: 0,
  v1ReservedConcurrency: 'none',
  throttleRate: 100,
  throttleBurst: 200,
};

/** Prepares the account for deployments with the CDK. */
export const bootstrap = ({ folder }: Assembly, place: Place): Promise<string> =>
  cdk(['bootstrap', `aws://${place.account}/${place.region}`, '--app', folder], place);

/** Deploys. @returns the outputs of the stack and the text that the command printed */
export const deploy = async (
  { folder, stackName }: Assembly,
  place: Place,
): Promise<{ outputs: Outputs; printed: string }> => {
  const quietly = ['--require-approval', 'never', '--progress', 'events', '--ci'];
  const printed = await cdk(['deploy', '--app', folder, ...quietly], place);
  const input = { StackName: stackName };
  const { Stacks } = await place.call('cloudformation', 'describe_stacks', input);
  const outputs = Stacks[0].Outputs.map(
    ({ OutputKey, OutputValue }: Readonly<Record<string, string>>) => [OutputKey, OutputValue],
  );
  return { outputs: Object.fromEntries(outputs), printed };
};

/** @throws {Error} with the difference, when the deployed stack differs from the synthesised one */
export const requireNoDifference = ({ folder }: Assembly, place: Place): Promise<string> =>
  cdk(['diff', '--app', folder, '--fail'], place);

/** @throws {Error} with the text that the CDK printed, also if the stack still exists */
export const destroy = async ({ folder, stackName }: Assembly, place: Place): Promise<void> => {
  const printed = await cdk(['destroy', '--app', folder, '--force'], place);
  const { StackSummaries } = await place.call('cloudformation', 'list_stacks', {});
  const left = StackSummaries.filter(
    (each: Readonly<Record<string, string>>) =>
      each.StackName === stackName && each.StackStatus !== 'DELETE_COMPLETE',
  );
  requireThat(left.length === 0, `The stack ${stackName} is still there:\n${printed}`);
};
