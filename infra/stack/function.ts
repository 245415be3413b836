import { fileURLToPath } from 'node:url';
import { Duration, Validations } from 'aws-cdk-lib';
import { PolicyStatement, Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import { Architecture, Runtime, Tracing } from 'aws-cdk-lib/aws-lambda';
import { type BundlingOptions, NodejsFunction } from 'aws-cdk-lib/aws-lambda-nodejs';
import { LogGroup, type LogGroupProps } from 'aws-cdk-lib/aws-logs';
import type { Secret } from 'aws-cdk-lib/aws-secretsmanager';
import { Construct } from 'constructs';
import { tables as tableDefinitions } from '../../lib/dynamodb/tables.ts';
import type { ServiceVariable } from '../../lib/settings.ts';
import type { FunctionDefinition } from '../routes.ts';
import { bundling } from './bundling/options.ts';
import type { Tables } from './table.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));

/** Under the 30 s after which the gateway gives up, so that the function's own answer arrives. */
const gatewayTimeout = Duration.seconds(20);

/** What every function of the stack is given. */
export interface SharedFunctionProps {
  readonly tables: Tables;
  readonly signingSecret: Secret;
  readonly variables: Readonly<Record<ServiceVariable, string>>;
  readonly logs: Required<
    Pick<LogGroupProps, 'retention' | 'removalPolicy' | 'deletionProtectionEnabled'>
  >;
}

export interface ServiceFunctionProps extends SharedFunctionProps {
  readonly definition: FunctionDefinition;
  /** How many run at once; absent: as many as come. */
  readonly reservedConcurrency?: number | undefined;
  /** What differs where no route leads to it. */
  readonly background?: {
    readonly description: string;
    readonly timeout: Duration;
    readonly bundling: BundlingOptions;
    readonly environment: Readonly<Record<string, string>>;
  };
}

/** Tables' names, the secret's address and settings: what the definition asks for, no more. */
const environmentOf = (props: ServiceFunctionProps): Record<string, string> => {
  const { definition, tables, signingSecret, variables } = props;
  const used = new Set(definition.permissions.map(({ table }) => table));
  const ofTables = tableDefinitions
    .filter(({ name }) => used.has(name))
    .map(({ name, variable }) => [variable, tables[name].tableName]);
  const ofSettings = definition.variables.map((name) => [name, variables[name]]);
  return {
    ...Object.fromEntries([...ofTables, ...ofSettings]),
    ...(definition.signingSecret ? { JWT_SECRET_ID: signingSecret.secretArn } : {}),
    ...props.background?.environment,
  };
};

/** The permissions of a definition: named actions on the ARNs of tables, indexes, the secret. */
const statementsOf = (props: ServiceFunctionProps): PolicyStatement[] => {
  const { definition, tables, signingSecret } = props;
  const statements = definition.permissions.map(({ table, actions, indexes }) => {
    const { tableArn } = tables[table];
    const resources = indexes?.map((index) => `${tableArn}/index/${index}`) ?? [tableArn];
    return new PolicyStatement({ actions: [...actions], resources });
  });
  if (!definition.signingSecret) return statements;
  const readsSecret = new PolicyStatement({
    actions: ['secretsmanager:GetSecretValue'],
    resources: [signingSecret.secretArn],
  });
  return [...statements, readsSecret];
};

/** A function of the service: every default that functions share is set here. */
export class ServiceFunction extends Construct {
  readonly definition: FunctionDefinition;
  readonly lambda: NodejsFunction;
  readonly logGroup: LogGroup;

  constructor(scope: Construct, id: string, props: ServiceFunctionProps) {
    super(scope, id);
    const { definition, reservedConcurrency, background } = props;
    const routes = definition.routes.map(({ method, path }) => `${method} ${path}`).join(', ');
    this.definition = definition;
    this.logGroup = new LogGroup(this, 'Logs', props.logs);
    const role = new Role(this, 'Role', {
      assumedBy: new ServicePrincipal('lambda.amazonaws.com'),
    });
    this.logGroup.grantWrite(role);
    this.lambda = new NodejsFunction(this, 'Function', {
      description: background?.description ?? routes,
      entry: `${root}${definition.entry}`,
      projectRoot: root,
      depsLockFilePath: `${root}package-lock.json`,
      bundling: background?.bundling ?? bundling,
      runtime: Runtime.NODEJS_24_X,
      architecture: Architecture.ARM_64,
      memorySize: definition.memory,
      timeout: background?.timeout ?? gatewayTimeout,
      tracing: Tracing.ACTIVE,
      role,
      logGroup: this.logGroup,
      environment: environmentOf(props),
      ...(reservedConcurrency ? { reservedConcurrentExecutions: reservedConcurrency } : {}),
    });
    for (const statement of statementsOf(props)) this.lambda.addToRolePolicy(statement);
    Validations.of(role).acknowledge({
      id: 'AwsSolutions-IAM5[Resource::*]',
      reason: 'X-Ray knows no resources: PutTraceSegments and PutTelemetryRecords take only *.',
    });
  }
}
