import { GetParameterCommand, SSMClient } from '@aws-sdk/client-ssm';
import { GetCallerIdentityCommand, STSClient } from '@aws-sdk/client-sts';
import { faultName } from '../../lib/ground/errors.ts';
import { Failure } from './failure.ts';

type Variables = Readonly<Record<string, string>>;

/** Where a deployed service seals its audit trail. */
export interface SealedBucket {
  readonly bucket: string;
  readonly keyArn: string;
  /** The ARN of the parameter of the service that seals, with its region and its account. */
  readonly service: string;
  readonly isPaused: boolean;
}

/**
 * Finds a deployed service by its parameter in AWS Systems Manager (infra/stack/outputs.ts).
 * @returns the environment variables whose values commands must share with the functions, and what only commands need
 * @throws {Failure} if there is no such parameter, or if it belongs to something else; and the SDK's errors
 */
export async function findService(name: string) {
  const { service, known } = await readParameter(name);
  const text = (key: string): string => {
    const value = known[key];
    if (typeof value === 'string') return value;
    throw new Failure(
      `The parameter ${name} does not describe an accounts service: it has no ${key}.`,
    );
  };
  const { USER_ATTRIBUTES: attributesHash, ...settings } = (known.Settings ?? {}) as Variables;
  return {
    variables: {
      USERS_TABLE: text('UsersTableName'),
      AUDIT_TABLE: text('AuditTableName'),
      JWT_SECRET_ID: text('SigningSecretArn'),
      ...settings,
      // Commands that need the list of attributes get it from a file.
      USER_ATTRIBUTES: '',
      ...('EdgeSecretArn' in known ? { EDGE_SECRET_ID: text('EdgeSecretArn') } : {}),
    },
    ...(attributesHash ? { attributesHash } : {}),
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

/** @returns the ARN of the parameter, and what it describes */
async function readParameter(name: string) {
  const client = new SSMClient({ maxAttempts: 2 });
  try {
    const { Parameter } = await client.send(new GetParameterCommand({ Name: name }));
    const known: Readonly<Record<string, unknown>> = JSON.parse(Parameter?.Value ?? '');
    return { service: Parameter?.ARN ?? name, known };
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
