import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { CfnOutput, RemovalPolicy, Stack, type StackProps, Tags, Validations } from 'aws-cdk-lib';
import type { HttpApi } from 'aws-cdk-lib/aws-apigatewayv2';
import type { ITable, Table } from 'aws-cdk-lib/aws-dynamodb';
import type { EventBus } from 'aws-cdk-lib/aws-events';
import type { IKey } from 'aws-cdk-lib/aws-kms';
import { Code, type IFunction } from 'aws-cdk-lib/aws-lambda';
import { LogGroup, type LogGroupProps } from 'aws-cdk-lib/aws-logs';
import { Secret } from 'aws-cdk-lib/aws-secretsmanager';
import type { ITopic } from 'aws-cdk-lib/aws-sns';
import { Construct } from 'constructs';
import { auditTable, type TableDefinition, usersTable } from '../../lib/dynamodb/tables.ts';
import { providersFile } from '../../lib/ground/settings.ts';
import {
  type AccountsProps,
  type DeploymentSettings,
  functionVariables,
  readDeploymentSettings,
  tagsIn,
} from '../deployment-settings.ts';
import { auditPublisher, auditSealer, type FunctionDefinition, functionsInForce } from '../uses.ts';
import { createAuditEvents } from './audit-events.ts';
import { createAuditSeal } from './audit-seal.ts';
import { bundleFunctions } from './bundling/bundle.ts';
import { createEdgeSecret } from './edge.ts';
import { dataKeyOf, factorKeyOf } from './encryption.ts';
import { ServiceFunction, type SharedFunctionProps } from './function.ts';
import { createHttpApi } from './http-api.ts';
import { alarmTopicsOf } from './monitoring/alarm-topic.ts';
import { createAlarms } from './monitoring/alarms.ts';
import { createDashboard } from './monitoring/dashboard.ts';
import { createLogMetrics } from './monitoring/metrics.ts';
import { createSigningKey } from './signing-key.ts';
import { createTable, type Tables, takeOverTable } from './table.ts';

/**
 * Creates the secret that signs tokens and cursors, with a random value.
 * @param keep whether it is kept when the stack is deleted
 */
const createSigningSecret = (
  scope: Construct,
  { keep, dataKey }: { keep: boolean; dataKey: IKey | undefined },
): Secret => {
  const secret = new Secret(scope, 'SigningSecret', {
    description: 'Signs the tokens of the service; rotated by an operator',
    // 64 letters and digits have 381 bits of entropy; HS256 requires 256.
    generateSecretString: { passwordLength: 64, excludePunctuation: true },
    removalPolicy: keep ? RemovalPolicy.RETAIN : RemovalPolicy.DESTROY,
    ...(dataKey ? { encryptionKey: dataKey } : {}),
  });
  Validations.of(secret).acknowledge({
    id: 'AwsSolutions-SMG4',
    reason:
      'An operator command rotates it; both versions verify tokens for a day. A rotation function would need the permission to write the secret, which no function has.',
  });
  return secret;
};

/** The code of all functions, bundled at once; none where the CDK asks for a template alone. */
const bundlesOf = (
  scope: Construct,
  settings: DeploymentSettings,
): SharedFunctionProps['codeOf'] => {
  if (!Stack.of(scope).bundlingRequired) return () => Code.fromInline('// It is not bundled.');
  const folder = mkdtempSync(join(tmpdir(), 'bundles-'));
  process.once('exit', () => rmSync(folder, { recursive: true }));
  const definitions: readonly FunctionDefinition[] = [
    ...functionsInForce(settings),
    ...(settings.auditSeal === 'off' ? [] : [auditSealer]),
    ...(settings.events === 'off' ? [] : [auditPublisher]),
  ];
  bundleFunctions(definitions, folder, settings.edge === 'none' ? 'lean' : 'behindEdge');
  for (const { name } of definitions.filter(({ uses }) => uses.has('identities'))) {
    writeFileSync(join(folder, name, providersFile), settings.identityProviders);
  }
  return ({ name }) => Code.fromAsset(join(folder, name));
};

const pascalCase = (name: string) =>
  name.replace(/(?:^|-)(\w)/g, (_, letter: string) => letter.toUpperCase());

const createFunctions = (
  scope: Construct,
  settings: DeploymentSettings,
  shared: SharedFunctionProps,
) => {
  let mail: ServiceFunction | undefined;
  return functionsInForce(settings).map((definition) => {
    const { v1ReservedConcurrency: reserved } = settings;
    const isReserved = definition.uses.has('memory') && reserved !== 'none';
    const reservedConcurrency = isReserved ? reserved : undefined;
    const props = { ...shared, definition, reservedConcurrency, mail };
    const made = new ServiceFunction(scope, pascalCase(definition.name), props);
    if (definition.uses.has('mail.send')) mail = made;
    return made;
  });
};

const tablesOf = (
  scope: Construct,
  settings: DeploymentSettings,
  { keep, dataKey }: { keep: boolean; dataKey: IKey | undefined },
): Tables => {
  const { usersTableName, auditTableName, auditStreamArn, events } = settings;
  const table = (
    id: string,
    definition: TableDefinition,
    existing: { tableName: string | undefined; tableStreamArn?: string | undefined },
  ) => {
    const { tableName, tableStreamArn } = existing;
    if (tableName) return takeOverTable(scope, id, { tableName, tableStreamArn });
    const hasStream = events === 'on' && definition.name === 'audit';
    return createTable(scope, id, definition, { keep, hasStream, dataKey });
  };
  return {
    users: table('UsersTable', usersTable, { tableName: usersTableName }),
    audit: table('AuditTable', auditTable, {
      tableName: auditTableName,
      tableStreamArn: auditStreamArn,
    }),
  };
};

/** How logs are kept. */
const logsOf = (
  { logRetentionDays: retention }: DeploymentSettings,
  { keep, dataKey }: { keep: boolean; dataKey: IKey | undefined },
): LogGroupProps => ({
  retention,
  removalPolicy: keep ? RemovalPolicy.RETAIN : RemovalPolicy.DESTROY,
  deletionProtectionEnabled: keep,
  ...(dataKey ? { encryptionKey: dataKey } : {}),
});

/** The properties that functions share: tables, secrets, keys, logs and settings. */
const sharedBy = (
  scope: Construct,
  settings: DeploymentSettings,
  { keep }: { keep: boolean },
): SharedFunctionProps => {
  const dataKey = dataKeyOf(scope, settings, { keep });
  return {
    dataKey,
    logs: logsOf(settings, { keep, dataKey }),
    tables: tablesOf(scope, settings, { keep, dataKey }),
    signingSecret: createSigningSecret(scope, { keep, dataKey }),
    edgeSecret: createEdgeSecret(scope, settings, dataKey),
    factorKey: factorKeyOf(scope, settings, { keep }),
    variables: functionVariables(settings),
    codeOf: bundlesOf(scope, settings),
  };
};

/** The queue of messages on which the mail function has failed. */
const unsentMailsOf = (functions: readonly ServiceFunction[]): Readonly<Record<string, string>> => {
  const queue = functions.find(({ unsent }) => unsent)?.unsent;
  return queue ? { UnsentMailsQueueUrl: queue.queueUrl } : {};
};

/** Where operators find what functions share. */
const outputsOf = (shared: SharedFunctionProps): Readonly<Record<string, string>> => {
  const { tables, signingSecret, edgeSecret, factorKey, dataKey } = shared;
  return {
    UsersTableName: tables.users.tableName,
    AuditTableName: tables.audit.tableName,
    SigningSecretArn: signingSecret.secretArn,
    ...(edgeSecret ? { EdgeSecretArn: edgeSecret.secretArn } : {}),
    ...(factorKey ? { SecondFactorKeyArn: factorKey.keyArn } : {}),
    ...(dataKey ? { EncryptionKeyArn: dataKey.keyArn } : {}),
  };
};

const byName = (functions: readonly ServiceFunction[]): Readonly<Record<string, IFunction>> =>
  Object.fromEntries(functions.map(({ definition, lambda }) => [definition.name, lambda]));

/**
 * The accounts service: user accounts, authentication and audit logging. Several fit into one
 * application, and into one stack beside other resources. In stage production, all data is kept when it
 * is removed.
 */
export class Accounts extends Construct {
  readonly api: HttpApi;
  /** The address of the API, without a slash at the end. */
  readonly url: string;
  readonly users: Table | ITable;
  readonly audit: Table | ITable;
  /** By the names of infra/uses.ts, such as `auth-login`. */
  readonly functions: Readonly<Record<string, IFunction>>;
  /** Told when an alarm is raised; absent without `alarmEmail` and `alarmTopicArn`. */
  readonly alarmTopic: ITopic | undefined;
  /** The bus of audit entries; absent unless `events` is `on`. */
  readonly bus: EventBus | undefined;
  /** What operators and their commands need to know, by name. */
  readonly outputs: Readonly<Record<string, string>>;

  /** @throws {SettingError} on the first setting that is unknown or not allowed */
  constructor(scope: Construct, id: string, props: AccountsProps = {}) {
    super(scope, id);
    const settings = readDeploymentSettings(props);
    const keep = settings.stage === 'production';
    const tags = Object.entries(tagsIn(settings.tags) ?? {});
    for (const [key, value] of tags) Tags.of(this).add(key, value);
    const shared = sharedBy(this, settings, { keep });
    const { tables, logs, dataKey } = shared;
    const functions = createFunctions(this, settings, shared);
    const seal = createAuditSeal(this, settings, { shared, functions, keep });
    const events = createAuditEvents(this, settings, shared);

    const accessLogs = new LogGroup(this, 'AccessLogs', logs);
    const { api, outputs } = createHttpApi(this, settings, { functions, accessLogs });
    const keys = createSigningKey(this, settings, { functions, keep, url: outputs.ApiUrl });

    const logged = { functions, sealer: seal?.sealer, events, accessLogs };
    const watched = { api, tables, ...logged, logMetrics: createLogMetrics(this, logged) };
    const topics = alarmTopicsOf(this, settings, dataKey);
    const alarms = createAlarms(this, watched, topics);
    const dashboard = createDashboard(this, watched, alarms);

    this.api = api;
    this.url = outputs.ApiUrl;
    this.users = tables.users;
    this.audit = tables.audit;
    this.functions = byName([functions, seal?.sealer ?? [], events?.publisher ?? []].flat());
    this.alarmTopic = topics.raised[0];
    this.bus = events?.bus;
    this.outputs = {
      ...outputs,
      ...outputsOf(shared),
      AccessLogGroupName: accessLogs.logGroupName,
      DashboardName: dashboard.dashboardName,
      ...seal?.outputs,
      ...events?.outputs,
      ...unsentMailsOf(functions),
      Settings: Stack.of(this).toJsonString({ ...shared.variables, ...keys }),
    };
  }
}

/** What is given to {@link AccountsStack}. */
export interface AccountsStackProps extends StackProps {
  readonly settings?: AccountsProps;
}

/** The service in a stack of its own, which has its name and is protected in stage production. */
export class AccountsStack extends Stack {
  readonly accounts: Accounts;

  /** @throws {SettingError} on the first setting that is unknown or not allowed */
  constructor(scope: Construct, id: string, { settings = {}, ...props }: AccountsStackProps = {}) {
    const { stage, tags } = readDeploymentSettings(settings);
    super(scope, id, {
      description: 'User accounts, authentication and audit logging',
      terminationProtection: stage === 'production',
      ...props,
      tags: { ...tagsIn(tags), ...props.tags },
    });
    // The CDK leaves this id out of the ids of resources.
    this.accounts = new Accounts(this, 'Default', settings);
    for (const [name, value] of Object.entries(this.accounts.outputs)) {
      new CfnOutput(this, name, { value });
    }
  }
}
