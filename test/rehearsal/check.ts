/** Requires that check-deployment finds the faults of broken deployments, and no faults in a good deployment. */
import type { Deployment } from './deployment.ts';
import { operate } from './deployment.ts';
import { type Assembly, deploy, variant } from './stack.ts';
import { requireThat } from './step.ts';
import { type Template, withFunction, withVariable } from './template.ts';

/** Runs the command. @returns its output, with its exit code if that is not 0 */
const check = (deployment: Deployment, url = deployment.edge.url) =>
  operate(deployment, ['check-deployment', '--seconds', '20', '--url', url]).catch(
    ({ message }: Error) => message,
  );

const requireFound = (printed: string, ...wanted: readonly (string | RegExp)[]): void => {
  const missing = wanted.filter((each) => !printed.match(each));
  requireThat(missing.length === 0, `Not said: ${missing.join('; ')} in:\n${printed}`);
};

/** Breaks two functions: one fails when it starts, and the other lacks a setting. */
const breakFunctions = (template: Template): Template => {
  withFunction('ProfileGet', (properties) => {
    properties.Handler = 'absent.handler';
  })(template);
  return withFunction('UsersList', ({ Environment }) => {
    delete (Environment as { Variables: Record<string, unknown> }).Variables.JWT_SECRET_ID;
  })(template);
};

/**
 * Breaks a deployment in three ways, one after another, and repairs it.
 * @param good the assembly that is deployed in the end
 * @returns how many requests found nothing wrong then
 */
export const checkDeployments = async (deployment: Deployment, good: Assembly): Promise<string> => {
  const { place } = deployment;
  await deploy(variant(good, 'broken', breakFunctions), place);
  const ofFunctions = await check(deployment);
  const dead = 'GET /api/profile without a token: 5';
  requireFound(ofFunctions, dead, 'GET /api/users with a forged token: 5', ' ended with 1:');

  await deploy(variant(good, 'tableless', withVariable('USERS_TABLE', 'accounts-gone')), place);
  const ofTable = await check(deployment);
  requireFound(ofTable, /POST \/api\/login of an .* has: 500 STORAGE_FAULT/, ' ended with 1:');

  await deploy(good, place);
  requireFound(
    await check(deployment, 'https://accounts.invalid'),
    'CANNOT TELL',
    ' ended with 2:',
  );
  const printed = await check(deployment);
  requireFound(printed, /^It works\.$/m);
  return /\d+ requests/.exec(printed)?.[0] ?? '';
};
