/** The outputs and the parameter by which operators and their commands find a service and its resources. */
import { CfnOutput, Stack } from 'aws-cdk-lib';
import { ParameterTier, StringParameter } from 'aws-cdk-lib/aws-ssm';
import type { Construct } from 'constructs';
import type { ServiceFunction, SharedFunctionProps } from './function.ts';
import { parameterNameOf } from './name.ts';

export function outputsOf(shared: SharedFunctionProps): Readonly<Record<string, string>> {
  const { tables, logs, signingSecret, edgeSecret, factorKey, dataKey } = shared;
  return {
    UsersTableName: tables.users.tableName,
    AuditTableName: tables.audit.tableName,
    SigningSecretArn: signingSecret.secretArn,
    ...(edgeSecret ? { EdgeSecretArn: edgeSecret.secretArn } : {}),
    ...(factorKey ? { SecondFactorKeyArn: factorKey.keyArn } : {}),
    ...(dataKey ? { EncryptionKeyArn: dataKey.keyArn } : {}),
    FunctionLogGroupName: logs.logGroupName,
  };
}

/** The output for the queue of messages on which the mail function has failed. */
export function unsentMailsOf(
  functions: readonly ServiceFunction[],
): Readonly<Record<string, string>> {
  const queue = functions.find(({ unsent }) => unsent)?.unsent;
  return queue ? { UnsentMailsQueueUrl: queue.queueUrl } : {};
}

/** Creates the parameter by which the operator's commands find the service. */
export function createParameter(scope: Construct, given: string | undefined, known: object): void {
  const parameter = new StringParameter(scope, 'Parameter', {
    parameterName: parameterNameOf(scope, given),
    description: "Where the operator's commands find the accounts service",
    stringValue: Stack.of(scope).toJsonString(known),
    // Only a parameter of more than 4 KB costs money.
    tier: ParameterTier.INTELLIGENT_TIERING,
    simpleName: false,
  });
  new CfnOutput(scope, 'ParameterName', { value: parameter.parameterName });
}
