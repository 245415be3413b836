import { CloudFormationClient, DescribeStacksCommand } from '@aws-sdk/client-cloudformation';
import { Failure } from './failure.ts';

/** Where the parts of a deployed service are. */
export interface DeployedService {
  readonly usersTable: string;
  readonly auditTable: string;
  readonly signingSecret: string;
  /** Variables that commands must read as the functions do. */
  readonly settings: Readonly<Record<string, string>>;
}

const describe = async (name: string): Promise<Map<string, string>> => {
  const client = new CloudFormationClient({ maxAttempts: 2 });
  try {
    const { Stacks } = await client.send(new DescribeStacksCommand({ StackName: name }));
    const outputs = Stacks?.[0]?.Outputs ?? [];
    return new Map(outputs.map(({ OutputKey = '', OutputValue = '' }) => [OutputKey, OutputValue]));
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
  const outputs = await describe(name);
  const output = (key: string): string => {
    const value = outputs.get(key);
    if (!value) {
      throw new Failure(
        `The stack ${name} is not one of this service, or not deployed to its end: it has no output ${key}.`,
      );
    }
    return value;
  };
  return {
    usersTable: output('UsersTableName'),
    auditTable: output('AuditTableName'),
    signingSecret: output('SigningSecretArn'),
    settings: {
      PASSWORD_MIN_LENGTH: output('PasswordMinLength'),
      BCRYPT_COST: output('BcryptCost'),
    },
  };
};
