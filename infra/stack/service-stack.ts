import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { CfnOutput, RemovalPolicy, Stack, Tags, Validations } from 'aws-cdk-lib';
import type { IKey } from 'aws-cdk-lib/aws-kms';
import { Code } from 'aws-cdk-lib/aws-lambda';
import { LogGroup, type LogGroupProps } from 'aws-cdk-lib/aws-logs';
import { Secret } from 'aws-cdk-lib/aws-secretsmanager';
import type { Construct } from 'constructs';
import { auditTable, type TableDefinition, usersTable } from '../../lib/dynamodb/tables.ts';
import { providersFile } from '../../lib/ground/settings.ts';
import { type DeploymentSettings, functionVariables, tagsIn } from '../deployment-settings.ts';
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
const bundlesOf = (stack: Stack, settings: DeploymentSettings): SharedFunctionProps['codeOf'] => {
  if (!stack.bundlingRequired) return () => Code.fromInline('// It is not bundled.');
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
  stack: Stack,
  settings: DeploymentSettings,
  shared: SharedFunctionProps,
) => {
  let mail: ServiceFunction | undefined;
  return functionsInForce(settings).map((definition) => {
    const { v1ReservedConcurrency: reserved } = settings;
    const isReserved = definition.uses.has('memory') && reserved !== 'none';
    const reservedConcurrency = isReserved ? reserved : undefined;
    const props = { ...shared, definition, reservedConcurrency, mail };
    const made = new ServiceFunction(stack, pascalCase(definition.name), props);
    if (definition.uses.has('mail.send')) mail = made;
    return made;
  });
};

const tablesOf = (
  stack: Stack,
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
    if (tableName) return takeOverTable(stack, id, { tableName, tableStreamArn });
    const hasStream = events === 'on' && definition.name === 'audit';
    return createTable(stack, id, definition, { keep, hasStream, dataKey });
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
  stack: Stack,
  settings: DeploymentSettings,
  { keep }: { keep: boolean },
): SharedFunctionProps => {
  const dataKey = dataKeyOf(stack, settings, { keep });
  return {
    dataKey,
    logs: logsOf(settings, { keep, dataKey }),
    tables: tablesOf(stack, settings, { keep, dataKey }),
    signingSecret: createSigningSecret(stack, { keep, dataKey }),
    edgeSecret: createEdgeSecret(stack, settings, dataKey),
    factorKey: factorKeyOf(stack, settings, { keep }),
    variables: functionVariables(settings),
    codeOf: bundlesOf(stack, settings),
  };
};

/** The queue of messages on which the mail function has failed. */
const unsentMailsOf = (functions: readonly ServiceFunction[]): Readonly<Record<string, string>> => {
  const queue = functions.find(({ unsent }) => unsent)?.unsent;
  return queue ? { UnsentMailsQueueUrl: queue.queueUrl } : {};
};

/** The service on AWS. In production, all data is kept when the stack is deleted. */
export class ServiceStack extends Stack {
  constructor(scope: Construct, id: string, settings: DeploymentSettings) {
    const keep = settings.stage === 'production';
    super(scope, id, {
      description: 'User accounts, authentication and audit logging',
      terminationProtection: keep,
    });
    const tags = Object.entries(tagsIn(settings.tags) ?? {});
    for (const [key, value] of tags) Tags.of(this).add(key, value);
    const shared = sharedBy(this, settings, { keep });
    const { tables, logs, dataKey, edgeSecret, factorKey } = shared;
    const functions = createFunctions(this, settings, shared);
    const seal = createAuditSeal(this, settings, { shared, functions, keep });
    const events = createAuditEvents(this, settings, shared);

    const accessLogs = new LogGroup(this, 'AccessLogs', logs);
    const { api, outputs } = createHttpApi(this, settings, { functions, accessLogs });
    const keys = createSigningKey(this, settings, { functions, keep, url: outputs.ApiUrl });

    const logged = { functions, sealer: seal?.sealer, events, accessLogs };
    const watched = { api, tables, ...logged, logMetrics: createLogMetrics(this, logged) };
    const alarms = createAlarms(this, watched, alarmTopicsOf(this, settings, dataKey));
    const dashboard = createDashboard(this, watched, alarms);

    this.output({
      ...outputs,
      UsersTableName: tables.users.tableName,
      AuditTableName: tables.audit.tableName,
      SigningSecretArn: shared.signingSecret.secretArn,
      ...(edgeSecret ? { EdgeSecretArn: edgeSecret.secretArn } : {}),
      AccessLogGroupName: accessLogs.logGroupName,
      DashboardName: dashboard.dashboardName,
      ...(factorKey ? { SecondFactorKeyArn: factorKey.keyArn } : {}),
      ...(dataKey ? { EncryptionKeyArn: dataKey.keyArn } : {}),
      ...seal?.outputs,
      ...events?.outputs,
      ...unsentMailsOf(functions),
      Settings: this.toJsonString({ ...shared.variables, ...keys }),
    });
  }

  private output(values: Readonly<Record<string, string>>): void {
    for (const [name, value] of Object.entries(values)) new CfnOutput(this, name, { value });
  }
}
