/** The permissions of each function, tried by a temporary function that has its role. */
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { readDeploymentSettings } from '../../infra/read-deployment-settings.ts';
import { auditSealer, type FunctionDefinition, functionsInForce } from '../../infra/uses.ts';
import { tagOf } from '../prove/names.ts';
import { until } from '../support/until.ts';
import type { Deployment } from './deployment.ts';
import type { Place } from './place.ts';
import type { ProbeCall } from './probe.ts';
import { allowedCalls, refusedCalls } from './probe-calls.ts';
import { resourceOf } from './seal.ts';
import { stackNameOf } from './stack.ts';
import { requireThat } from './step.ts';

/**
 * Makes each call of each function once, in a transaction too, and ten that must be refused.
 * @param settings of the stack
 */
export const tryPermissions = async (
  deployment: Deployment,
  settings: Readonly<Record<string, string>>,
): Promise<string> => {
  const { place, outputs } = deployment;
  const functions = [...functionsInForce(readDeploymentSettings(settings)), auditSealer];
  const call = await startProbe(deployment);
  try {
    let allowed = 0;
    for (const definition of functions) {
      const calls = allowedCalls(definition, outputs);
      if (calls.length > 0) requireAllowed(definition, calls, await call(definition, calls));
      allowed += calls.length;
    }
    const refused = await tryRefused(deployment, call);
    return `${allowed} calls of ${functions.length} functions were allowed, ${refused}`;
  } finally {
    await place.call('lambda', 'delete_function', { FunctionName: nameOf(place) });
  }
};

const nameOf = (place: Place): string => stackNameOf(place, 'probe');

type MakeCalls = (
  definition: Pick<FunctionDefinition, 'name'>,
  calls: readonly ProbeCall[],
) => Promise<readonly string[]>;

const bundle = async (): Promise<string> => {
  const entryPoints = [fileURLToPath(new URL('probe.ts', import.meta.url))];
  const options = { bundle: true, minify: true, platform: 'node', format: 'cjs' } as const;
  const { outputFiles } = await build({ entryPoints, ...options, target: 'node24', write: false });
  return outputFiles[0]?.text ?? '';
};

/** Creates the function. @returns what makes calls with the role of another function */
const startProbe = async (deployment: Deployment): Promise<MakeCalls> => {
  const { place } = deployment;
  const { call } = place;
  const FunctionName = nameOf(place);
  const isReady = async () => {
    const found = await call('lambda', 'get_function_configuration', { FunctionName });
    return found.State !== 'Pending' && found.LastUpdateStatus !== 'InProgress';
  };
  await call('lambda', 'create_function', {
    ...{ FunctionName, Role: await roleOf(deployment, 'profile-get'), Handler: 'index.handler' },
    ...{ Runtime: 'nodejs24.x', Timeout: 120, MemorySize: 512 },
    Code: { ZipFile: { $zip: { 'index.js': await bundle() } } },
    ...(place.run ? { Tags: tagOf(place.run) } : {}),
  });
  return async ({ name }, calls) => {
    await until(isReady, `${FunctionName} is never ready`);
    const Role = await roleOf(deployment, name);
    // A changed variable ends what runs with the role before.
    const Environment = { Variables: { ROLE_OF: name } };
    await call('lambda', 'update_function_configuration', { FunctionName, Role, Environment });
    await until(isReady, `${FunctionName} is never ready`);
    const Payload = JSON.stringify(calls);
    const invoked = await call('lambda', 'invoke', { FunctionName, Payload });
    requireThat(!invoked.FunctionError, `${FunctionName} failed: ${invoked.Payload}`);
    return JSON.parse(invoked.Payload);
  };
};

/** The ARN of the role of a function, by the name in infra/uses.ts. */
const roleOf = async (deployment: Deployment, name: string): Promise<string> => {
  const id = name.replace(/(?:^|-)(\w)/g, (_, letter: string) => letter.toUpperCase());
  const RoleName = await resourceOf(deployment, 'AWS::IAM::Role', `${id}Role`);
  return (await deployment.place.call('iam', 'get_role', { RoleName })).Role.Arn;
};

/** What fails by the condition that no item fulfils was allowed. */
const isAllowed = (outcome = ''): boolean =>
  /^(done|ConditionalCheckFailedException|TransactionCanceledException)$/.test(outcome);

const textOf = ({ command, input }: ProbeCall): string => `${command} ${JSON.stringify(input)}`;

const requireAllowed = (
  { name }: FunctionDefinition,
  calls: readonly ProbeCall[],
  outcomes: readonly string[],
): void => {
  const wrong = calls.findIndex((_, at) => !isAllowed(outcomes[at]));
  const [one] = calls.slice(wrong);
  requireThat(wrong < 0 || !one, `${name} may not ${one && textOf(one)}: ${outcomes[wrong]}`);
};

const tryRefused = async ({ place, outputs }: Deployment, call: MakeCalls): Promise<string> => {
  const calls = refusedCalls(outputs);
  const outcomes = await call({ name: 'profile-get' }, calls);
  const isRefused = (outcome = '') => /AccessDenied/.test(outcome);
  const passed = calls.filter((_, at) => !isRefused(outcomes[at]));
  // The emulator does not know which keys a request is for.
  const wrong = passed.filter(({ isByKeys }) => place.name === 'AWS' || !isByKeys);
  requireThat(
    wrong.length === 0,
    `GET /api/profile may ${wrong.map(textOf).join('; ')}: ${outcomes.join(', ')}`,
  );
  return `${calls.length - passed.length} of ${calls.length} others refused`;
};
