import { GetParameterCommand, SSMClient } from '@aws-sdk/client-ssm';
import { GetCallerIdentityCommand, STSClient } from '@aws-sdk/client-sts';
import { faultName } from '../../lib/ground/errors.ts';
import { Failure } from './failure.ts';

/** Where a deployed service seals its audit trail. */
export interface SealedBucket {
  readonly bucket: string;
  readonly keyArn: string;
  /** The ARN of the parameter of the service that seals, with its region and its account. */
  readonly service: string;
  /** Whether sealing is paused. */
  readonly isPaused: boolean;
}

/** The names and ARNs of a deployed service. */
export interface DeployedService {
  readonly usersTable: string;
  readonly auditTable: string;
  readonly signingSecret: string;
  /** The ARN of the secret of CloudFront's header; absent if the service is not behind CloudFront. */
  readonly edgeSecret?: string;
  /** Environment variables whose values commands must share with the functions. */
  readonly settings: Readonly<Record<string, string>>;
  /** Absent if the audit trail is not sealed. */
  readonly sealedTrail?: SealedBucket;
}

/**
 * Finds a deployed service by its parameter in AWS Systems Manager (infra/stack/outputs.ts).
 * @throws {Failure} if there is no such parameter, or if it belongs to something else; and the SDK's errors
 */
export async function findService(name: string): Promise<DeployedService> {
  const { service, known } = await readParameter(name);
  const text = (key: string): string => {
    const value = known[key];
    if (typeof value === 'string') return value;
    throw new Failure(
      `The parameter ${name} does not describe an accounts service: it has no ${key}.`,
    );
  };
  return {
    usersTable: text('UsersTableName'),
    auditTable: text('AuditTableName'),
    signingSecret: text('SigningSecretArn'),
    settings: known.Settings as DeployedService['settings'],
    ...('EdgeSecretArn' in known ? { edgeSecret: text('EdgeSecretArn') } : {}),
    ...('AuditArchiveBucketName' in known
      ? {
          sealedTrail: {
            bucket: text('AuditArchiveBucketName'),
            keyArn: text('AuditSealKeyArn'),
            service,
            isPaused: known.AuditSeal === 'paused',
          },
        }
      : {}),
  };
}

/** Milliseconds for the request for the identity. */
const callerTimeout = 5000;

/**
 * The ARN of the AWS identity of the credentials. This request needs no permission.
 * @throws {Failure} if AWS does not return it, because a command does nothing if it cannot record who runs it
 */
export async function findCaller(): Promise<string> {
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
      `Nothing was done, because AWS STS did not return your identity (${faultName(cause)}), which the audit trail records: check the network.`,
      { cause },
    );
  } finally {
    client.destroy();
  }
}

interface Found {
  /** The ARN of the parameter. */
  readonly service: string;
  readonly known: Readonly<Record<string, unknown>>;
}

async function readParameter(name: string): Promise<Found> {
  const client = new SSMClient({ maxAttempts: 2 });
  try {
    const { Parameter } = await client.send(new GetParameterCommand({ Name: name }));
    return { service: Parameter?.ARN ?? name, known: JSON.parse(Parameter?.Value ?? '') };
  } catch (error) {
    if (error instanceof SyntaxError)
      throw new Failure(`The parameter ${name} does not describe an accounts service.`);
    if (!(error instanceof Error) || error.name !== 'ParameterNotFound') throw error;
    const region = await client.config.region();
    throw new Failure(
      `A service is found by its parameter, and there is no parameter ${name} in region ${region} of this account: check --stack or --service, AWS_REGION and AWS_PROFILE.`,
    );
  } finally {
    client.destroy();
  }
}
