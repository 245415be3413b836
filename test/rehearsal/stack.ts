import { cpSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { run } from './command.ts';
import { adaptToEmulator, changeTemplate, type Template } from './template.ts';
import { account, region, runFolder } from './workspace.ts';

/** A stack in a folder that `cdk synth` wrote. */
export interface Assembly {
  readonly folder: string;
  readonly stackName: string;
}

/** Settings of a stack for development. */
export const development = { auditSeal: 'on' };

type Env = Readonly<Record<string, string>>;

/** What the stack prints, by name. */
export type Outputs = Readonly<Record<string, string>>;

const cdk = (args: readonly string[], env: Env = {}) =>
  run('cdk', [...args, '--no-notices'], { env });

/**
 * Synthesises the stack and bundles its functions, all for themselves in a folder of their own.
 * @param settings the stack's, by name, and `name`, which chooses the file of a deployment
 */
export const synthesise = async (
  name: string,
  settings: Readonly<Record<string, string | number>> = {},
): Promise<Assembly> => {
  const folder = join(runFolder, name);
  const stackName = `accounts-${settings.name ?? 'development'}`;
  const given = Object.entries(settings).flatMap(([key, value]) => ['-c', `${key}=${value}`]);
  await cdk(['synth', '--quiet', '--output', folder, ...given]);
  changeTemplate(folder, stackName, adaptToEmulator);
  return { folder, stackName };
};

/** A copy of what was synthesised, with another template. */
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

/** Prepares the account for deployments with the CDK. */
export const bootstrap = ({ folder }: Assembly, env: Env): Promise<string> =>
  cdk(['bootstrap', `aws://${account}/${region}`, '--app', folder], env);

/** Deploys, and returns the stack's outputs and what the command printed. */
export const deploy = async (
  { folder, stackName }: Assembly,
  env: Env,
): Promise<{ outputs: Outputs; printed: string }> => {
  const file = join(runFolder, 'outputs.json');
  const quietly = ['--require-approval', 'never', '--progress', 'events', '--ci'];
  const args = ['deploy', '--app', folder, '--outputs-file', file, ...quietly];
  const printed = await cdk(args, env);
  return { outputs: JSON.parse(readFileSync(file, 'utf8'))[stackName], printed };
};

/** @throws {Error} with the difference, when what is deployed is not what was synthesised */
export const requireNoDifference = ({ folder }: Assembly, env: Env): Promise<string> =>
  cdk(['diff', '--app', folder, '--fail'], env);

export const destroy = ({ folder }: Assembly, env: Env): Promise<string> =>
  cdk(['destroy', '--app', folder, '--force'], env);
