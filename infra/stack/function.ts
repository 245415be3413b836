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
import { usingKey } from './encryption.ts';
import { allowing } from './policy.ts';
import type { Tables } from './table.ts';
import { createUnsent, destinationOf, sendingTo } from './unsent-queue.ts';

export interface SharedFunctionProps {
  readonly codeOf: (definition: FunctionDefinition) => Code;
  readonly tables: Tables;
  readonly signingSecret: Secret;
  /** The secret of the header that CloudFront adds, if the service is behind CloudFront. */
  readonly edgeSecret: Secret | undefined;
  /** The key of second factors, if users can have one. */
  readonly factorKey: IKey | undefined;
  readonly variables: Readonly<Record<string, string>>;
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
    const needs = needsOf(props);
    const environments = [
      props.variables,
      ...needs.map((need) => need.variables),
      scheduled?.environment,
    ];
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
      environment: Object.assign({}, ...environments),
      ...(props.dataKey ? { environmentEncryption: props.dataKey } : {}),
      ...(reservedConcurrency ? { reservedConcurrentExecutions: reservedConcurrency } : {}),
      ...(this.unsent ? retrying(this.unsent) : {}),
    });
    if (definition.uses.has('mail') && props.mail) {
      this.lambda.addEnvironment('MAIL_FUNCTION_URL', invocationUrl(props.mail));
    }
    const statements = needs.flatMap((need) => need.statements ?? []);
    const all = [...statements, ...(this.unsent ? [sendingTo(this.unsent)] : [])];
    for (const statement of all) this.lambda.addToRolePolicy(statement);
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

function needsOf(props: ServiceFunctionProps): readonly Need[] {
  const { definition, signingSecret, edgeSecret, dataKey } = props;
  const { uses, routes, permissions } = definition;
  const ofUses = Object.entries(needs).filter(([use]) => uses.has(use as Use));
  // Clients call a function with routes through CloudFront.
  const isBehindEdge = edgeSecret !== undefined && routes.length > 0;
  const signs = uses.has('signing-secret');
  const readsSecrets = signs || isBehindEdge;
  const services = {
    dynamodb: permissions.length > 0,
    secretsmanager: readsSecrets,
    sqs: uses.has('mail.send') || uses.has('audit.publish'),
  };
  return [
    ofTables(props),
    signs ? ofSecret('JWT_SECRET_ID', signingSecret, 'AWSPREVIOUS') : {},
    readsSecrets
      ? { variables: { SECRETS_URL: urlOf('secretsmanager', signingSecret.stack) } }
      : {},
    ...ofUses.map(([, need]) => need(props)),
    isBehindEdge ? ofSecret('EDGE_SECRET_ID', edgeSecret) : {},
    dataKey ? { statements: usingKey(dataKey, services) } : {},
  ];
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

function retrying(unsent: Queue) {
  return {
    retryAttempts: 2,
    // After an hour, the user has already requested another mail.
    maxEventAge: Duration.hours(1),
    onFailure: destinationOf(unsent),
  };
}

function invocationUrl({ lambda }: ServiceFunction): string {
  const { region, urlSuffix } = Stack.of(lambda);
  return `https://lambda.${region}.${urlSuffix}/2015-03-31/functions/${lambda.functionName}/invocations`;
}

/** The variables that a use requires, with the locations of resources, and its permissions for named actions on ARNs. */
interface Need {
  readonly variables?: Readonly<Record<string, string>>;
  readonly statements?: readonly PolicyStatement[];
}

/** The requirements of each use, besides the permissions on tables and secrets. */
const needs: Partial<Record<Use, (props: ServiceFunctionProps) => Need>> = {
  // Lambda runs a function in the folder of its code.
  files: () => ({ variables: { STATIC_FILES: 'static' } }),
  mail: ({ mail }) =>
    mail ? { statements: [allowing('lambda:InvokeFunction', mail.lambda.functionArn)] } : {},
  'factor.encrypt': ({ factorKey }) => ofFactorKey('kms:Encrypt', factorKey),
  'factor.decrypt': ({ factorKey }) => ofFactorKey('kms:Decrypt', factorKey),
  'mail.send': ({ logs, variables }) => ({
    statements: [sendingMail(logs.stack, variables.MAIL_FROM ?? '')],
  }),
};

function ofTables({ definition, tables }: ServiceFunctionProps): Need {
  const used = new Set(definition.permissions.map(({ table }) => table));
  const tableNames = tableDefinitions
    .filter(({ name }) => used.has(name))
    .map(({ name, variable }) => [variable, tables[name].tableName]);
  const statements = definition.permissions.map(({ table, action, indexes, keys }) => {
    const { tableArn } = tables[table];
    const resources = indexes?.map((index) => `${tableArn}/index/${index}`) ?? [tableArn];
    // The condition does not refuse a request without its keys, because it is not known whether AWS supplies them in
    // transactions.
    const leading = keys && { 'ForAllValues:StringLike': { 'dynamodb:LeadingKeys': [...keys] } };
    return allowing(action, resources, leading);
  });
  return { variables: Object.fromEntries(tableNames), statements };
}

/** Lets a function read the current version of a secret, and further versions, by their stages. */
function ofSecret(variable: string, { secretArn }: Secret, ...stages: string[]): Need {
  const conditions = {
    'ForAnyValue:StringEquals': { 'secretsmanager:VersionStage': ['AWSCURRENT', ...stages] },
  };
  return {
    variables: { [variable]: secretArn },
    statements: [allowing('secretsmanager:GetSecretValue', secretArn, conditions)],
  };
}

/**
 * Allows an action with the key of second factors, if there is one. Every request must have the context that binds a
 * secret to its user, and nothing else (lib/keys/factor-key.ts).
 */
function ofFactorKey(action: string, key: IKey | undefined): Need {
  if (!key) return {};
  const conditions = {
    'ForAllValues:StringEquals': { 'kms:EncryptionContextKeys': 'user' },
    // ForAllValues is also true for a request without any keys.
    Null: { 'kms:EncryptionContextKeys': 'false' },
  };
  return {
    variables: { SECOND_FACTOR_KEY: key.keyArn, KMS_URL: kmsUrl(key.stack) },
    statements: [allowing(action, key.keyArn, conditions)],
  };
}

/** Allows mails from only one address. Either the address or its domain is verified in SES. */
function sendingMail(stack: Stack, mailFrom: string) {
  const { address: from } = senderIn(mailFrom);
  const senders = [from, from.slice(from.indexOf('@') + 1)].map((identity) =>
    stack.formatArn({ service: 'ses', resource: 'identity', resourceName: identity }),
  );
  return allowing('ses:SendEmail', senders, { StringEquals: { 'ses:FromAddress': from } });
}
