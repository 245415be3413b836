import { Duration, Stack, Validations } from 'aws-cdk-lib';
import { type PolicyStatement, Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import type { IKey } from 'aws-cdk-lib/aws-kms';
import {
  Architecture,
  type Code,
  Function as LambdaFunction,
  Runtime,
  Tracing,
} from 'aws-cdk-lib/aws-lambda';
import type { LogGroup } from 'aws-cdk-lib/aws-logs';
import type { Secret } from 'aws-cdk-lib/aws-secretsmanager';
import type { Queue } from 'aws-cdk-lib/aws-sqs';
import { Construct } from 'constructs';
import { tables as tableDefinitions } from '../../lib/dynamodb/tables.ts';
import { senderIn } from '../../lib/ground/rules.ts';
import type { Use } from '../permissions.ts';
import type { FunctionDefinition } from '../uses.ts';
import { type ServiceWithKey, usingKey } from './encryption.ts';
import { allowing } from './policy.ts';
import type { Tables } from './table.ts';
import { createUnsent, destinationOf, sendingTo } from './unsent-queue.ts';

/** The properties that all functions of the stack share. */
export interface SharedFunctionProps {
  readonly codeOf: (definition: FunctionDefinition) => Code;
  readonly tables: Tables;
  readonly signingSecret: Secret;
  /** The secret of the header that CloudFront adds, if the service is behind CloudFront. */
  readonly edgeSecret: Secret | undefined;
  /** The key of second factors, if users can have one. */
  readonly factorKey: IKey | undefined;
  readonly variables: Readonly<Record<string, string>>;
  /** The log group of all functions. */
  readonly logs: LogGroup;
  /** The key that encrypts data, if keys of AWS do not. */
  readonly dataKey: IKey | undefined;
}

export interface ServiceFunctionProps extends SharedFunctionProps {
  readonly definition: FunctionDefinition;
  /** The most instances that run at the same time; absent: as many as there are requests. */
  readonly reservedConcurrency?: number | undefined;
  /** The differences of a function that runs on a schedule. */
  readonly scheduled?: {
    readonly timeout: Duration;
    readonly environment: Readonly<Record<string, string>>;
  };
  /** The mail function, if there is one. */
  readonly mail?: ServiceFunction | undefined;
}

export function kmsUrl(stack: Stack) {
  return urlOf('kms', stack);
}

/** Less than the gateway's timeout of 30 s, so that the function's own response arrives. */
const responseTimeout = Duration.seconds(20);

/** A function of the service. All defaults that functions share are set here. */
export class ServiceFunction extends Construct {
  readonly definition: FunctionDefinition;
  readonly lambda: LambdaFunction;
  /** The queue of failed messages of a function that is invoked asynchronously. */
  readonly unsent: Queue | undefined;

  constructor(scope: Construct, id: string, props: ServiceFunctionProps) {
    super(scope, id);
    const { definition, reservedConcurrency, scheduled } = props;
    this.definition = definition;
    const role = new Role(this, 'Role', {
      assumedBy: new ServicePrincipal('lambda.amazonaws.com'),
    });
    props.logs.grantWrite(role);
    this.unsent = definition.uses.has('mail.send') ? createUnsent(this, props.dataKey) : undefined;
    this.lambda = new LambdaFunction(this, 'Function', {
      description: definition.routes.map(({ key }) => key).join(', ') || definition.name,
      code: props.codeOf(definition),
      handler: 'index.handler',
      runtime: Runtime.NODEJS_24_X,
      architecture: Architecture.ARM_64,
      memorySize: memoryOf(definition),
      timeout: scheduled?.timeout ?? responseTimeout,
      tracing: Tracing.ACTIVE,
      role,
      logGroup: props.logs,
      environment: environmentOf(props),
      ...(props.dataKey ? { environmentEncryption: props.dataKey } : {}),
      ...(reservedConcurrency ? { reservedConcurrentExecutions: reservedConcurrency } : {}),
      ...(this.unsent ? retrying(this.unsent) : {}),
    });
    const statements = statementsOf(Stack.of(this), props);
    if (this.unsent) statements.push(sendingTo(this.unsent));
    for (const statement of statements) this.lambda.addToRolePolicy(statement);
    Validations.of(role).acknowledge({
      id: 'AwsSolutions-IAM5[Resource::*]',
      reason:
        'PutTraceSegments and PutTelemetryRecords of X-Ray, and ListStreams, support no resource but *.',
    });
  }
}

/** The URL of a service of AWS for which functions have no client of the SDK. */
function urlOf(service: 'kms' | 'secretsmanager', { region, urlSuffix }: Stack) {
  return `https://${service}.${region}.${urlSuffix}/`;
}

/**
 * The megabytes of a function. Lambda gives processor time in proportion to memory. Functions that hash passwords have
 * 1,769 MB, which give them one processor. With less, every login would be slower at the same price; more would not be
 * used, because bcrypt runs on one thread. The sealer also needs a processor, but little memory, however large the
 * table is. All other functions wait for DynamoDB, and need the processor only to start, for TLS and for JSON.
 */
function memoryOf({ uses }: FunctionDefinition): number {
  if (uses.has('passwords')) return 1769;
  return uses.has('audit.seal') ? 1024 : 512;
}

/** All settings of the service, and the locations of the resources that the function uses. */
function environmentOf(props: ServiceFunctionProps): Record<string, string> {
  const { definition, tables, signingSecret, variables, mail } = props;
  const used = new Set(definition.permissions.map(({ table }) => table));
  const tableNames = tableDefinitions
    .filter(({ name }) => used.has(name))
    .map(({ name, variable }) => [variable, tables[name].tableName]);
  return {
    ...variables,
    ...Object.fromEntries(tableNames),
    ...(definition.uses.has('signing-secret') ? { JWT_SECRET_ID: signingSecret.secretArn } : {}),
    ...(readsSecrets(props) ? { SECRETS_URL: urlOf('secretsmanager', signingSecret.stack) } : {}),
    // Lambda runs a function in the folder of its code.
    ...(definition.uses.has('files') ? { STATIC_FILES: 'static' } : {}),
    ...factorVariables(props),
    ...(props.edgeSecret && hasRoutes(definition)
      ? { EDGE_SECRET_ID: props.edgeSecret.secretArn }
      : {}),
    ...props.scheduled?.environment,
    ...(definition.uses.has('mail') && mail ? { MAIL_FUNCTION_URL: invocationUrl(mail) } : {}),
  };
}

/** Whether a function reads the signing secret, or the secret of CloudFront. */
function readsSecrets({ definition, edgeSecret }: ServiceFunctionProps) {
  return (
    definition.uses.has('signing-secret') || (edgeSecret !== undefined && hasRoutes(definition))
  );
}

/** Whether clients call a function through the gateway. */
function hasRoutes({ routes }: FunctionDefinition) {
  return routes.length > 0;
}

/** The variables from which a function learns the key of second factors and the URL of KMS. */
function factorVariables({ definition, factorKey }: ServiceFunctionProps) {
  if (factorActionsOf(definition).length === 0 || !factorKey) return {};
  return { SECOND_FACTOR_KEY: factorKey.keyArn, KMS_URL: kmsUrl(factorKey.stack) };
}

const factorActions = { 'factor.encrypt': 'kms:Encrypt', 'factor.decrypt': 'kms:Decrypt' } as const;

/** The IAM actions with which a function uses the key of second factors. */
function factorActionsOf({ uses }: FunctionDefinition) {
  return Object.entries(factorActions).flatMap(([use, action]) =>
    uses.has(use as Use) ? [action] : [],
  );
}

/** The URL that invokes a function (Lambda's API reference, Invoke). */
function invocationUrl({ lambda }: ServiceFunction): string {
  const { region, urlSuffix } = Stack.of(lambda);
  return `https://lambda.${region}.${urlSuffix}/2015-03-31/functions/${lambda.functionName}/invocations`;
}

/** How Lambda repeats asynchronous invocations that have failed. */
function retrying(unsent: Queue) {
  return {
    retryAttempts: 2,
    // After an hour, the user has already requested another mail.
    maxEventAge: Duration.hours(1),
    onFailure: destinationOf(unsent),
  };
}

/** The permissions of a definition: named actions on the ARNs of the resources that it uses. */
function statementsOf(stack: Stack, props: ServiceFunctionProps): PolicyStatement[] {
  const { definition, variables, mail, factorKey, edgeSecret, dataKey } = props;
  return [
    ...ofTables(props),
    ...(definition.uses.has('signing-secret')
      ? [readingSecret(props.signingSecret, 'AWSCURRENT', 'AWSPREVIOUS')]
      : []),
    ...(definition.uses.has('mail') && mail
      ? [allowing('lambda:InvokeFunction', mail.lambda.functionArn)]
      : []),
    ...(factorKey
      ? factorActionsOf(definition).map((action) => usingFactorKey(action, factorKey))
      : []),
    ...(definition.uses.has('mail.send') ? [sendingMail(stack, variables.MAIL_FROM ?? '')] : []),
    ...(edgeSecret && hasRoutes(definition) ? [readingSecret(edgeSecret, 'AWSCURRENT')] : []),
    ...(dataKey ? usingKey(dataKey, servicesWithKey(props)) : []),
  ];
}

function ofTables({ definition, tables }: ServiceFunctionProps): PolicyStatement[] {
  return definition.permissions.map(({ table, action, indexes, keys }) => {
    const { tableArn } = tables[table];
    const resources = indexes?.map((index) => `${tableArn}/index/${index}`) ?? [tableArn];
    // The condition does not refuse a request without its keys, because it is not known whether AWS supplies them in
    // transactions.
    const leading = keys && { 'ForAllValues:StringLike': { 'dynamodb:LeadingKeys': [...keys] } };
    return allowing(action, resources, leading);
  });
}

/** Allows a function to read the versions of a secret that it requests, by their stages. */
function readingSecret({ secretArn }: Secret, ...stages: readonly string[]) {
  return allowing('secretsmanager:GetSecretValue', secretArn, {
    'ForAnyValue:StringEquals': { 'secretsmanager:VersionStage': stages },
  });
}

/**
 * Allows an action with the key of second factors. Every request must have the context that binds a secret to its user,
 * and nothing else (lib/keys/factor-key.ts).
 */
function usingFactorKey(action: string, { keyArn }: IKey) {
  return allowing(action, keyArn, {
    'ForAllValues:StringEquals': { 'kms:EncryptionContextKeys': 'user' },
    // ForAllValues is also true for a request without any keys.
    Null: { 'kms:EncryptionContextKeys': 'false' },
  });
}

/** Allows mails from only one address. Either the address or its domain is verified in SES. */
function sendingMail(stack: Stack, mailFrom: string) {
  const { address: from } = senderIn(mailFrom);
  const identities = [from, from.slice(from.indexOf('@') + 1)].map((identity) =>
    stack.formatArn({ service: 'ses', resource: 'identity', resourceName: identity }),
  );
  return allowing('ses:SendEmail', identities, { StringEquals: { 'ses:FromAddress': from } });
}

/** The services that encrypt, with the key of all data, data that a function uses. */
function servicesWithKey(props: ServiceFunctionProps): readonly ServiceWithKey[] {
  return [
    ...(props.definition.permissions.length > 0 ? (['dynamodb'] as const) : []),
    ...(readsSecrets(props) ? (['secretsmanager'] as const) : []),
    ...(['mail.send', 'audit.publish'].some((use) => props.definition.uses.has(use as Use))
      ? (['sqs'] as const)
      : []),
  ];
}
