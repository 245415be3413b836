import { CloudFormationClient, DescribeStacksCommand } from '@aws-sdk/client-cloudformation';
import { GetCallerIdentityCommand, STSClient } from '@aws-sdk/client-sts';
import { faultName } from '../../lib/ground/errors.ts';
import { Failure } from './failure.ts';

/** Where a deployed service seals its audit trail. */
export interface SealedBucket {
  readonly bucket: string;
  readonly keyArn: string;
  /** The ARN of the stack that seals, with its region and its account. */
  readonly stack: string;
  /** Whether nothing is sealed at present. */
  readonly isPaused: boolean;
}

/** The names and ARNs of a deployed service. */
export interface DeployedService {
  readonly usersTable: string;
  readonly auditTable: string;
  readonly signingSecret: string;
  /** Absent where the service is not behind CloudFront. */
  readonly edgeSecret?: string;
  /** Environment variables whose values commands must share with the functions. */
  readonly settings: Readonly<Record<string, string>>;
  /** Absent where the audit trail is not sealed. */
  readonly sealedTrail?: SealedBucket;
}

interface Described {
  /** Its ARN without the part that changes when the stack is created again. */
  readonly stack: string;
  readonly outputs: ReadonlyMap<string, string>;
}

const describe = async (name: string): Promise<Described> => {
  const client = new CloudFormationClient({ maxAttempts: 2 });
  try {
    const { Stacks } = await client.send(new DescribeStacksCommand({ StackName: name }));
    const { StackId = name, Outputs = [] } = Stacks?.[0] ?? {};
    const outputs = Outputs.map(
      ({ OutputKey = '', OutputValue = '' }) => [OutputKey, OutputValue] as const,
    );
    return {
      stack: StackId.replace(/\/[^/]*$/, ''),
      outputs: new Map(outputs),
    };
  } catch (error) {
    if (!(error instanceof Error) || error.name !== 'ValidationError') throw error;
    const region = await client.config.region();
    throw new Failure(
      `There is no stack ${name} in region ${region} of this account: check --stack, AWS_REGION and AWS_PROFILE.`,
    );
  } finally {
    client.destroy();
  }
};

/**
 * Finds a deployed service by the outputs of its stack.
 * @throws {Failure} when there is no such stack, or it is another one's; the SDK's errors
 */
export const findStack = async (name: string): Promise<DeployedService> => {
  const { stack, outputs } = await describe(name);
  const output = (key: string): string => {
    const value = outputs.get(key);
    if (!value) {
      throw new Failure(
        `The stack ${name} is not one of this service, or its deployment is not complete: it has no output ${key}.`,
      );
    }
    return value;
  };
  return {
    usersTable: output('UsersTableName'),
    auditTable: output('AuditTableName'),
    signingSecret: output('SigningSecretArn'),
    settings: JSON.parse(output('Settings')),
    ...(outputs.has('EdgeSecretArn') ? { edgeSecret: output('EdgeSecretArn') } : {}),
    ...(outputs.has('AuditArchiveBucketName')
      ? {
          sealedTrail: {
            bucket: output('AuditArchiveBucketName'),
            keyArn: output('AuditSealKeyArn'),
            stack,
            isPaused: outputs.get('AuditSeal') === 'paused',
          },
        }
      : {}),
  };
};

/** Milliseconds. */
const callerTimeout = 5000;

/**
 * The ARN of the AWS identity of the credentials. This request needs no permission.
 * @throws {Failure} when AWS does not tell: commands do nothing without the name of the operator
 */
export const findCaller = async (): Promise<string> => {
  const client = new STSClient({
    maxAttempts: 2,
    requestHandler: { requestTimeout: callerTimeout, throwOnRequestTimeout: true },
  });
  try {
    const { Arn } = await client.send(new GetCallerIdentityCommand());
    if (Arn) return Arn;
    throw new Error('No ARN');
  } catch (cause) {
    throw new Failure(
      `Nothing was done, because AWS STS does not tell your identity (${faultName(cause)}), which the audit trail needs: check the network.`,
      { cause },
    );
  } finally {
    client.destroy();
  }
};
