/** The place of a proving run: an account of AWS, or the emulator that AWS_ENDPOINT_URL names. */
import { Failure } from '../../infra/operator/failure.ts';
import { awsClient, type Call } from '../rehearsal/aws.ts';
import { emulatorAt } from '../rehearsal/emulator.ts';
import type { Place } from '../rehearsal/place.ts';
import { environment } from '../rehearsal/workspace.ts';

/**
 * The least quota of concurrent executions: a load test needs as many, and other functions in the account need some.
 */
const leastConcurrency = 100;

/** @throws {Failure} if commands would call something other than AWS */
export const placeOf = (account: string, region: string, run?: string): Place => {
  const env = variables(region);
  const { AWS_ENDPOINT_URL: endpoint, EMULATOR_PORT: port } = process.env;
  if (port) return { ...emulatorAt(Number(port), env, run), account, region };
  if (endpoint) throw new Failure(`AWS_ENDPOINT_URL is ${endpoint}, which is not AWS: unset it.`);
  return {
    ...{ name: 'AWS', account, region, env, call: awsClient(env), sealInterval: 300 },
    adapt: (template) => template,
    openApi: async (url) => ({ url, stop: () => undefined }),
    ...(run ? { run } : {}),
  };
};

/** The variables that the AWS command line and the SDK read, in place of a rehearsal's variables; and the region. */
const variables = (region: string): Place['env'] => {
  const rehearsed = Object.keys(environment).filter((name) => name.startsWith('AWS_'));
  const given = Object.entries(process.env).filter(([name]) => /^(AWS|NODE_EXTRA_CA)_/.test(name));
  return {
    ...Object.fromEntries(rehearsed.map((name) => [name, undefined])),
    ...Object.fromEntries(given),
    ...{ AWS_REGION: region, AWS_DEFAULT_REGION: region, AWS_PAGER: '' },
  };
};

/**
 * @throws {Failure} unless the credentials belong to the account but not to its root user, its quota is large enough,
 *   and the CDK has been bootstrapped in the region
 */
export const requireReady = async ({ call, account, region }: Place): Promise<void> => {
  const identity = await call('sts', 'get_caller_identity');
  if (identity.Account !== account) {
    throw new Failure(
      `The credentials are of the account ${identity.Account}, not of ${account}: choose others by AWS_PROFILE, or name that account if you mean it.`,
    );
  }
  if (identity.Arn.endsWith(':root')) {
    throw new Failure(
      'These are credentials of the root user: use those of an administrator (aws sso login, or a role).',
    );
  }
  const { AccountLimit } = await call('lambda', 'get_account_settings');
  if (AccountLimit.ConcurrentExecutions < leastConcurrency) {
    throw new Failure(
      `The account may run ${AccountLimit.ConcurrentExecutions} functions at a time in ${region}, and the proof needs ${leastConcurrency}: ask for more under Service Quotas, AWS Lambda, Concurrent executions.`,
    );
  }
  await requireBootstrap(call, { account, region });
};

const requireBootstrap = async (
  call: Call,
  { account, region }: Pick<Place, 'account' | 'region'>,
): Promise<void> => {
  const Name = '/cdk-bootstrap/hnb659fds/version';
  await call('ssm', 'get_parameter', { Name }).catch((error: Error) => {
    if (error.name !== 'ParameterNotFound') throw error;
    throw new Failure(
      `The CDK is not bootstrapped in ${region}: run npx cdk bootstrap aws://${account}/${region} once, which stays.`,
    );
  });
};
