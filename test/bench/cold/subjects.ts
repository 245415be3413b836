import { fileURLToPath } from 'node:url';
import { LogLevel } from 'aws-cdk-lib/aws-lambda-nodejs';
import type { APIGatewayProxyEventV2 } from 'aws-lambda';
import { readDeploymentSettings } from '../../../infra/deployment-settings.ts';
import { functionsInForce } from '../../../infra/routes.ts';
import { bundlingOf } from '../../../infra/stack/bundling/options.ts';
import type { Bundle, Source } from './bundle.ts';
import type { Environment } from './cold-start.ts';
import type { Deployment } from './deployment.ts';
import { firstCall } from './first-calls.ts';

const nodeModules = fileURLToPath(new URL('../../../node_modules', import.meta.url));
const profileEntry = 'functions/profile/get.ts';

const functions = functionsInForce(readDeploymentSettings({}));

/** What is measured beside the functions, by the names under which it is reported. */
export const comparison = {
  empty: 'empty handler',
  bareClient: 'bare document client, defaults',
  express: 'Express and document client, defaults',
  profile: 'profile, defaults',
  profileExternal: "profile, defaults, the runtime's SDK",
  profileCached: 'profile, warm compile cache',
} as const;

// NodejsFunction leaves @aws-sdk/* out of a nodejs24.x bundle unless it is told otherwise. A
// bundled client is what the comparisons are about: the runtime's own is slower to load.
const quiet = { logLevel: LogLevel.WARNING };
const defaults = { ...quiet, bundleAwsSDK: true };
const comparisons = 'test/bench/cold/comparisons';

export const sources: readonly Source[] = [
  { name: comparison.empty, entry: `${comparisons}/empty.ts`, bundling: defaults },
  { name: comparison.bareClient, entry: `${comparisons}/bare-client.ts`, bundling: defaults },
  { name: comparison.express, entry: `${comparisons}/express.ts`, bundling: defaults },
  { name: comparison.profile, entry: profileEntry, bundling: defaults },
  { name: comparison.profileExternal, entry: profileEntry, bundling: quiet },
  ...functions.map((definition) => ({ ...definition, bundling: bundlingOf(definition) })),
];

/** A bundle with what it is measured on. */
export interface Subject extends Bundle {
  readonly event: APIGatewayProxyEventV2;
  readonly environment: Environment;
}

/** Everything to measure. @param cache a folder for Node's compile cache */
export const candidates = (
  bundles: readonly Bundle[],
  { token, environmentOf }: Deployment,
  { cache }: { cache: string },
): Subject[] => {
  const subjects = bundles.map((bundled) => {
    const definition =
      functions.find(({ name }) => name === bundled.name) ??
      functions.find(({ entry }) => entry === profileEntry);
    if (!definition) throw new Error(`No function is ${bundled.name}`);
    const { event } = firstCall(definition.name, token);
    const environment = { ...environmentOf(definition), NODE_PATH: nodeModules };
    return { ...bundled, event, environment };
  });
  const cached = subjects
    .filter(({ name }) => name === 'profile')
    .map((subject) => ({
      ...subject,
      name: comparison.profileCached,
      environment: { ...subject.environment, NODE_COMPILE_CACHE: cache },
    }));
  return [...subjects, ...cached];
};
