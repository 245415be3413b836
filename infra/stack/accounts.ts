import { cpSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  CfnOutput,
  RemovalPolicy,
  Stack,
  type StackProps,
  Tags,
  Token,
  Validations,
} from 'aws-cdk-lib';
import type { HttpApi, IHttpRouteAuthorizer } from 'aws-cdk-lib/aws-apigatewayv2';
import type { ITable, Table } from 'aws-cdk-lib/aws-dynamodb';
import type { EventBus } from 'aws-cdk-lib/aws-events';
import type { IKey } from 'aws-cdk-lib/aws-kms';
import { Code, type IFunction } from 'aws-cdk-lib/aws-lambda';
import { LogGroup, type LogGroupProps } from 'aws-cdk-lib/aws-logs';
import { Secret } from 'aws-cdk-lib/aws-secretsmanager';
import type { ITopic } from 'aws-cdk-lib/aws-sns';
import { ParameterTier, StringParameter } from 'aws-cdk-lib/aws-ssm';
import { Construct, type IDependable } from 'constructs';
import { auditTable, type TableDefinition, usersTable } from '../../lib/dynamodb/tables.ts';
import { providersFile } from '../../lib/ground/rules.ts';
import {
  type AccountsSettings,
  type DeploymentSettings,
  functionVariables,
  readDeploymentSettings,
  tagsIn,
} from '../deployment-settings.ts';
import { functionsInForce } from '../uses.ts';
import { createAuditEvents } from './audit-events.ts';
import { createAuditSeal } from './audit-seal.ts';
import { createAuthorizer } from './authorizer.ts';
import { bundlesFolder } from './bundling/bundles.ts';
import { temporaryFolder } from './bundling/temporary-folder.ts';
import { annotate } from './consequences.ts';
import { dataKeyOf, factorKeyOf } from './encryption.ts';
import { ServiceFunction, type SharedFunctionProps } from './function.ts';
import { createHttpApi } from './http-api.ts';
import { alarmTopicsOf } from './monitoring/alarm-topic.ts';
import { createAlarms, type Watched } from './monitoring/alarms.ts';
import { createDashboard } from './monitoring/dashboard.ts';
import { createLogMetrics } from './monitoring/metrics.ts';
import { parameterNameOf } from './name.ts';
import { createSigningKey } from './signing-key.ts';
import { createTable, type Tables, takeOverTable } from './table.ts';

/**
 * Creates a secret with a random value.
 * @param reason why nothing rotates it by itself
 * @param keep whether it is kept when the stack is deleted
 */
const createSecret = (
  scope: Construct,
  id: string,
  {
    description,
    reason,
    keep,
    dataKey,
  }: { description: string; reason: string; keep: boolean; dataKey: IKey | undefined },
): Secret => {
  const secret = new Secret(scope, id, {
    description,
    // 64 letters and digits have 381 bits of entropy; HS256 requires 256.
    generateSecretString: { passwordLength: 64, excludePunctuation: true },
    removalPolicy: keep ? RemovalPolicy.RETAIN : RemovalPolicy.DESTROY,
    ...(dataKey ? { encryptionKey: dataKey } : {}),
  });
  Validations.of(secret).acknowledge({ id: 'AwsSolutions-SMG4', reason });
  return secret;
};

/** The secret that signs tokens and cursors. */
const signingSecret = {
  description: 'Signs the tokens of the service; rotated by an operator',
  reason:
    'An operator command rotates it; both versions verify tokens for a day. A rotation function would need the permission to write the secret, which no function has.',
};

/**
 * The secret with the value of the header by which functions know that a request has come through CloudFront
 * (lib/http/edge.ts). It is not the signing secret, because functions that neither sign nor verify read it too.
 */
const edgeSecret = {
  description: 'The value of the header x-origin-verify, which CloudFront adds to requests',
  reason:
    'Whoever replaces the value also replaces it in the distribution, which is not of this stack.',
  keep: false,
};

/** The code of each function; none where the CDK asks for a template alone. */
const bundlesOf = (
  scope: Construct,
  settings: DeploymentSettings,
): SharedFunctionProps['codeOf'] => {
  if (!Stack.of(scope).bundlingRequired) return () => Code.fromInline('// It is not bundled.');
  return ({ name, uses }) => {
    const folder = join(bundlesFolder(), name);
    const { identityProviders } = settings;
    if (identityProviders === '' || !uses.has('identities')) return Code.fromAsset(folder);
    const own = temporaryFolder();
    cpSync(folder, own, { recursive: true });
    writeFileSync(join(own, providersFile), identityProviders);
    return Code.fromAsset(own);
  };
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
    logs: new LogGroup(scope, 'Logs', logsOf(settings, { keep, dataKey })),
    tables: tablesOf(scope, settings, { keep, dataKey }),
    signingSecret: createSecret(scope, 'SigningSecret', { ...signingSecret, keep, dataKey }),
    edgeSecret:
      settings.edge === 'none'
        ? undefined
        : createSecret(scope, 'EdgeSecret', { ...edgeSecret, dataKey }),
    factorKey: factorKeyOf(scope, settings, { keep }),
    variables: functionVariables(settings),
    codeOf: bundlesOf(scope, settings),
  };
};

/** Tells the mail function the address of the API, to whose pages links may lead. */
const tellMail = (functions: readonly ServiceFunction[], url: string) =>
  functions
    .find(({ definition }) => definition.uses.has('mail.send'))
    ?.lambda.addEnvironment('API_URL', url);

/** The queue of messages on which the mail function has failed. */
const unsentMailsOf = (functions: readonly ServiceFunction[]): Readonly<Record<string, string>> => {
  const queue = functions.find(({ unsent }) => unsent)?.unsent;
  return queue ? { UnsentMailsQueueUrl: queue.queueUrl } : {};
};

/** Where operators find what functions share. */
const outputsOf = (shared: SharedFunctionProps): Readonly<Record<string, string>> => {
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
};

/** Creates the parameter by which the operator's commands find the service. */
const createParameter = (scope: Construct, given: string | undefined, known: object): void => {
  const parameter = new StringParameter(scope, 'Parameter', {
    parameterName: parameterNameOf(scope, given),
    description: "Where the operator's commands find the accounts service",
    stringValue: Stack.of(scope).toJsonString(known),
    // More than 4 KB are paid for, and only then.
    tier: ParameterTier.INTELLIGENT_TIERING,
    simpleName: false,
  });
  new CfnOutput(scope, 'ParameterName', { value: parameter.parameterName });
};

const addTags = (scope: Construct, { tags }: DeploymentSettings): void => {
  for (const [key, value] of Object.entries(tagsIn(tags) ?? {})) Tags.of(scope).add(key, value);
};

/** Creates what watches the service: metrics, alarms, and in production a dashboard. */
const watch = (
  scope: Construct,
  settings: DeploymentSettings,
  { dataKey, ...parts }: Omit<Watched, 'logMetrics'> & { readonly dataKey: IKey | undefined },
) => {
  const inProduction = settings.stage === 'production';
  const watched = { ...parts, logMetrics: createLogMetrics(scope, parts) };
  const topics = alarmTopicsOf(scope, settings, dataKey);
  const alarms = createAlarms(scope, watched, { topics, inProduction });
  return { topics, dashboard: inProduction ? createDashboard(scope, watched, alarms) : undefined };
};

const byName = (functions: readonly ServiceFunction[]): Readonly<Record<string, IFunction>> =>
  Object.fromEntries(functions.map(({ definition, lambda }) => [definition.name, lambda]));

/** The props of {@link Accounts}. */
export interface AccountsProps extends AccountsSettings {
  /**
   * The name of the parameter in AWS Systems Manager by which the operator's commands find the service.
   *
   * @default /accounts/STACK/PATH, with the path of the construct in its stack
   */
  readonly parameterName?: string | undefined;
}

/**
 * The accounts service: user accounts, authentication and audit logging. Several fit into one
 * application, and beside other resources into one stack, which may have 500. In stage production, all data is kept when it
 * is removed; whether the stack can be deleted is a property of the stack (`terminationProtection`).
 */
export class Accounts extends Construct {
  readonly api: HttpApi;
  /** The address of the API, without a slash at the end. */
  readonly url: string;
  readonly users: Table | ITable;
  readonly audit: Table | ITable;
  /** Those that the settings turn on, by the names that the readme of the package lists, such as `auth-login`. */
  readonly functions: Readonly<Record<string, IFunction>>;
  /** Where all functions log. */
  readonly logs: LogGroup;
  /** The topic that is told when an alarm is raised; absent without `alarmEmail` and `alarmTopicArn`. */
  readonly alarmTopic: ITopic | undefined;
  /** The bus of audit entries; absent unless `events` is `on`. */
  readonly bus: EventBus | undefined;
  /** The names and addresses that operators and their commands need, such as `UsersTableName`. */
  readonly outputs: Readonly<Record<string, string>>;
  readonly #settings: DeploymentSettings;
  readonly #publishing: readonly IDependable[];

  /** @throws {SettingError} on the first setting that is unknown or not allowed */
  constructor(scope: Construct, id: string, props: AccountsProps = {}) {
    super(scope, id);
    const { parameterName, ...given } = props;
    const settings = readDeploymentSettings(given);
    const keep = settings.stage === 'production';
    annotate(this, settings, given);
    addTags(this, settings);
    const shared = sharedBy(this, settings, { keep });
    const { tables, logs, dataKey } = shared;
    const functions = createFunctions(this, settings, shared);
    const seal = createAuditSeal(this, settings, { shared, functions, keep });
    const events = createAuditEvents(this, settings, shared);

    const accessLogs = new LogGroup(this, 'AccessLogs', logsOf(settings, { keep, dataKey }));
    const { api, outputs, publishing } = createHttpApi(this, settings, { functions, accessLogs });
    const keys = createSigningKey(this, settings, { functions, keep, url: outputs.ApiUrl });
    tellMail(functions, outputs.ApiUrl);

    const logged = { functions, sealer: seal?.sealer, events, logs, accessLogs };
    const { topics, dashboard } = watch(this, settings, { api, dataKey, tables, ...logged });

    this.#settings = settings;
    this.#publishing = publishing;
    this.api = api;
    this.url = outputs.ApiUrl;
    this.users = tables.users;
    this.audit = tables.audit;
    this.functions = byName([functions, seal?.sealer ?? [], events?.publisher ?? []].flat());
    this.logs = logs;
    this.alarmTopic = topics.raised[0];
    this.bus = events?.bus;
    this.outputs = {
      ...outputs,
      ...outputsOf(shared),
      AccessLogGroupName: accessLogs.logGroupName,
      ...(dashboard ? { DashboardName: dashboard.dashboardName } : {}),
      ...seal?.outputs,
      ...events?.outputs,
      ...unsentMailsOf(functions),
    };
    const known = { ...shared.variables, ...keys, API_URL: outputs.ApiUrl };
    createParameter(this, parameterName, { ...this.outputs, Settings: known });
  }

  /**
   * An authorizer for routes of other HTTP APIs, which lets tokens of this service through; it requires
   * `tokenSigning` RS256. API Gateway verifies signature, issuer, audience and times of a token, and asks
   * nobody: **it does not see that a session ended**, or that a user was suspended or deleted, so that a
   * token is good for `tokenMinutes` after it was made.
   *
   * API Gateway reads the keys when it makes an authorizer, so this one is made after the routes that
   * publish them.
   * @param after what must be there before, too: the DNS record of `domainName`; with `edge` cloudfront
   *   the distribution, which is then required
   * @throws {SettingError}
   */
  authorizer(id: string, ...after: readonly IDependable[]): IHttpRouteAuthorizer {
    return createAuthorizer(id, this.#settings, {
      url: this.url,
      after: [...this.#publishing, ...after],
      isBehindDistribution: after.length > 0,
    });
  }
}

/** The props of {@link AccountsStack}. */
export interface AccountsStackProps extends StackProps, Pick<AccountsProps, 'parameterName'> {
  readonly settings?: AccountsSettings;
}

/**
 * The service in a stack of its own, which has its name. In stage production the stack has termination protection, in
 * stage development none.
 */
export class AccountsStack extends Stack {
  readonly accounts: Accounts;

  /** @throws {SettingError} on the first setting that is unknown or not allowed */
  constructor(
    scope: Construct,
    id: string,
    { settings = {}, parameterName, ...props }: AccountsStackProps = {},
  ) {
    const { stage, tags } = readDeploymentSettings(settings);
    const known = Object.entries(tagsIn(tags) ?? {}).filter(
      ([, value]) => !Token.isUnresolved(value),
    );
    super(scope, id, {
      description: 'User accounts, authentication and audit logging',
      terminationProtection: stage === 'production',
      ...props,
      tags: { ...Object.fromEntries(known), ...props.tags },
    });
    // The CDK leaves this id out of the ids of resources.
    this.accounts = new Accounts(this, 'Default', { ...settings, parameterName });
    for (const [name, value] of Object.entries(this.accounts.outputs)) {
      new CfnOutput(this, name, { value });
    }
  }
}
