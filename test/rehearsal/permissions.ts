/** The permissions of each function, tried by a temporary function that has its role. */
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { readDeploymentSettings } from '../../infra/read-deployment-settings.ts';
import {
  auditPublisher,
  auditSealer,
  type FunctionDefinition,
  functionsInForce,
} from '../../infra/uses.ts';
import { tagOf } from '../prove/names.ts';
import { everyDeployedSetting } from '../support/every-setting.ts';
import { until } from '../support/until.ts';
import type { Deployment } from './deployment.ts';
import { developed } from './development.ts';
import { putEventsAt } from './events.ts';
import { atEmulator } from './password-reset.ts';
import type { Place } from './place.ts';
import type { ProbeCall } from './probe.ts';
import { allowedCalls, foreignTransaction, refusedCalls } from './probe-calls.ts';
import { contextOfFactor, type Variables } from './probe-others.ts';
import type { Proof } from './proof.ts';
import { resourceOf, sealAndVerify } from './seal.ts';
import { deploy, stackNameOf, synthesise, variant } from './stack.ts';
import { requireThat } from './step.ts';

type Settings = Readonly<Record<string, string>>;

/** The settings of a stack that has every function, each with all permissions that it may ever need. */
export const everyFunction: Settings = {
  ...{ auditSeal: 'on', auditDetail: 'full', events: 'on' },
  ...everyDeployedSetting,
};

/** Deploys every function, and tries its permissions. */
export const tryEveryFunction = async (proof: Proof): Promise<string> => {
  const made = developed(proof);
  const { place } = proof;
  const synthesised = await synthesise(place, 'every-synthesised', everyFunction);
  const { AWS_ENDPOINT_URL: endpoint } = place.env;
  made.assembly = endpoint
    ? variant(synthesised, 'every', (template) =>
        putEventsAt(endpoint)(atEmulator(endpoint)(template)),
      )
    : synthesised;
  const { outputs } = await deploy(made.assembly, place);
  return tryPermissions({ ...made.deployment, outputs }, everyFunction);
};

/** The functions of a stack, including the functions in the background. */
export const functionsOf = (settings: Settings): readonly FunctionDefinition[] => {
  const read = readDeploymentSettings(settings);
  return [
    ...functionsInForce(read),
    ...(read.auditSeal === 'on' ? [auditSealer] : []),
    ...(read.events === 'on' ? [auditPublisher] : []),
  ];
};

/**
 * Makes each call of each function once, also in transactions, and ten calls that must be refused.
 * @param settings the settings of the stack
 */
export const tryPermissions = async (
  deployment: Deployment,
  settings: Settings,
): Promise<string> => {
  const { place } = deployment;
  const functions = functionsOf(settings);
  // After this, the probe with the sealer's role is refused when it overwrites a file.
  await sealAndVerify(deployment);
  const call = await startProbe(deployment);
  try {
    let allowed = 0;
    for (const definition of functions) {
      const variables = await variablesOf(deployment, definition);
      const calls = allowedCalls(definition, variables, await encrypt(place, variables));
      if (calls.length > 0) requireAllowed(definition, calls, await call(definition, calls));
      allowed += calls.length;
    }
    const refused = await tryRefused(deployment, call);
    return `${allowed} calls of ${functions.length} functions were allowed, ${refused}`;
  } finally {
    await removeProbe(place);
  }
};

/** Removes the function and its log group, which Lambda makes when the function is first called. */
const removeProbe = async (place: Place): Promise<void> => {
  const { call } = place;
  const FunctionName = nameOf(place);
  await call('lambda', 'delete_function', { FunctionName });
  const logGroupName = `/aws/lambda/${FunctionName}`;
  await call('logs', 'delete_log_group', { logGroupName }).catch((error: Error) => {
    if (error.name !== 'ResourceNotFoundException') throw error;
  });
};

const variablesOf = async (
  deployment: Deployment,
  { name }: Pick<FunctionDefinition, 'name'>,
): Promise<Variables> => {
  const FunctionName = await resourceOf(deployment, 'AWS::Lambda::Function', idOf(name));
  const configured = { FunctionName };
  const { outputs, place } = deployment;
  const { Environment } = await place.call('lambda', 'get_function_configuration', configured);
  return { ...outputs, ...Environment.Variables };
};

/** The beginning of the logical ids of a function's resources. */
const idOf = (name: string): string =>
  name.replace(/(?:^|-)(\w)/g, (_, letter: string) => letter.toUpperCase());

/** Encrypts a text as a secret of a second factor, so that it can be decrypted. */
const encrypt = async (
  { call }: Place,
  { SECOND_FACTOR_KEY: KeyId }: Variables,
): Promise<string> => {
  if (!KeyId) return '';
  const input = { KeyId, Plaintext: 'ok', EncryptionContext: contextOfFactor };
  return (await call('kms', 'encrypt', input)).CiphertextBlob;
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

/** Creates the temporary function. @returns a function that makes calls with the role of another function */
const startProbe = async (deployment: Deployment): Promise<MakeCalls> => {
  const { place } = deployment;
  const { call } = place;
  const FunctionName = nameOf(place);
  const isReady = async () => {
    const found = await call('lambda', 'get_function_configuration', { FunctionName });
    return found.State !== 'Pending' && found.LastUpdateStatus !== 'InProgress';
  };
  await call('lambda', 'create_function', {
    ...{ FunctionName, Role: await roleOf(deployment, 'users-get'), Handler: 'index.handler' },
    ...{ Runtime: 'nodejs24.x', Timeout: 120, MemorySize: 512 },
    Code: { ZipFile: { $zip: { 'index.js': await bundle() } } },
    ...(place.run ? { Tags: tagOf(place.run) } : {}),
  });
  return async ({ name }, calls) => {
    await until(isReady, `${FunctionName} is never ready`);
    const Role = await roleOf(deployment, name);
    // A changed variable ends instances that run with the previous role.
    const Environment = { Variables: { ROLE_OF: name } };
    await call('lambda', 'update_function_configuration', { FunctionName, Role, Environment });
    await until(isReady, `${FunctionName} is never ready`);
    const Payload = JSON.stringify(calls);
    const invoked = await call('lambda', 'invoke', { FunctionName, Payload });
    requireThat(!invoked.FunctionError, `${FunctionName} failed: ${invoked.Payload}`);
    return JSON.parse(invoked.Payload);
  };
};

/** The ARN of the role of a function, which is given by its name in infra/uses.ts. */
const roleOf = async (deployment: Deployment, name: string): Promise<string> => {
  const RoleName = await resourceOf(deployment, 'AWS::IAM::Role', `${idOf(name)}Role`);
  return (await deployment.place.call('iam', 'get_role', { RoleName })).Role.Arn;
};

/** An allowed call succeeds, or fails only because of its condition, its sender of a mail, or a file that exists. */
const isAllowed = (outcome = ''): boolean =>
  /^(done|ConditionalCheckFailed\w*|TransactionCanceled\w*|NoSuchVersion|PreconditionFailed|MessageRejected|Http400)$/.test(
    outcome,
  );

const textOf = ({ operation, input }: ProbeCall): string => `${operation} ${JSON.stringify(input)}`;

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
  const outcomes = await call({ name: 'users-get' }, [...calls, foreignTransaction(outputs)]);
  const isRefused = (outcome = '') => /AccessDenied/.test(outcome);
  const passed = calls.filter((_, at) => !isRefused(outcomes[at]));
  // The emulator does not check for which keys a request is.
  const wrong = passed.filter(({ isByKeys }) => place.name === 'AWS' || !isByKeys);
  requireThat(
    wrong.length === 0,
    `GET /api/users/{id} may ${wrong.map(textOf).join('; ')}: ${outcomes.join(', ')}`,
  );
  const foreign = isRefused(outcomes.at(-1)) ? 'refused' : 'allowed';
  return `${calls.length - passed.length} of ${calls.length} others refused, and a transaction on keys of others ${foreign}`;
};
