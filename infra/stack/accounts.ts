import { CfnOutput, Stack, type StackProps, Tags, Token } from 'aws-cdk-lib';
import type { HttpApi, IHttpRouteAuthorizer } from 'aws-cdk-lib/aws-apigatewayv2';
import type { ITable, Table } from 'aws-cdk-lib/aws-dynamodb';
import type { EventBus } from 'aws-cdk-lib/aws-events';
import type { IFunction, Function as LambdaFunction } from 'aws-cdk-lib/aws-lambda';
import { LogGroup } from 'aws-cdk-lib/aws-logs';
import type { ISecret, Secret } from 'aws-cdk-lib/aws-secretsmanager';
import type { ITopic } from 'aws-cdk-lib/aws-sns';
import { Construct, type IDependable } from 'constructs';
import {
  type AccountsSettings,
  type DeploymentSettings,
  operatorVariables,
  SettingError,
  tagsIn,
} from '../deployment-settings.ts';
import { readDeploymentSettings } from '../read-deployment-settings.ts';
import { functionsInForce } from '../uses.ts';
import { createAuditEvents } from './audit-events.ts';
import { createAuditSeal } from './audit-seal.ts';
import { createAuthorizer } from './authorizer.ts';
import { annotate } from './consequences.ts';
import { ServiceFunction, type SharedFunctionProps } from './function.ts';
import { createHttpApi } from './http-api.ts';
import { areKept } from './kept.ts';
import { createMonitoring } from './monitoring/monitoring.ts';
import { createParameter, outputsOf, unsentMailsOf } from './outputs.ts';
import { createShared, logsOf } from './shared.ts';
import { createSigningKey } from './signing-key.ts';

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
 * The accounts service: user accounts, authentication and audit logging. An application, and even one stack, may have
 * several services; a stack may have 500 resources in all. In stage production, all data are kept when the service is
 * removed. The property `terminationProtection` of the stack decides whether the stack can be deleted.
 */
export class Accounts extends Construct {
  readonly api: HttpApi;
  /** The address of the API, without a slash at the end. */
  readonly url: string;
  readonly users: Table | ITable;
  readonly audit: Table | ITable;
  /** The functions that the settings turn on, by names such as `auth-login` (see the readme of the package). */
  readonly functions: Readonly<Record<string, IFunction>>;
  /** The log group of all functions. */
  readonly logs: LogGroup;
  /** The topic that is notified when an alarm is raised; absent without `alarmEmail` and `alarmTopicArn`. */
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
    annotate(this, settings, given);
    for (const [key, value] of tagsOf(settings)) Tags.of(this).add(key, value);
    const shared = createShared(this, settings);
    const { tables, logs, dataKey } = shared;
    const functions = createFunctions(this, settings, shared);
    const seal = createAuditSeal(this, settings, { shared, functions });
    const events = createAuditEvents(this, settings, shared);

    const accessLogs = new LogGroup(this, 'AccessLogs', logsOf(settings, dataKey));
    const { api, outputs, publishing } = createHttpApi(this, settings, { functions, accessLogs });
    const keys = createSigningKey(this, settings, { functions, url: outputs.ApiUrl });
    tellMail(functions, outputs.ApiUrl);
    const logged = { functions, sealer: seal?.sealer, events, logs, accessLogs };
    const parts = { api, dataKey, tables, ...logged };
    const { topics, dashboard } = createMonitoring(this, settings, parts);

    this.#settings = settings;
    this.#publishing = publishing;
    this.api = api;
    this.url = outputs.ApiUrl;
    this.users = tables.users;
    this.audit = tables.audit;
    const all = [functions, seal?.sealer ?? [], events?.publisher ?? []].flat();
    this.functions = Object.fromEntries(all.map((each) => [each.definition.name, each.lambda]));
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
    const known = { ...operatorVariables(settings), ...keys, API_URL: outputs.ApiUrl };
    createParameter(this, parameterName, { ...this.outputs, Settings: known });
  }

  /**
   * An authorizer for routes of other HTTP APIs, which accepts tokens of this service; it requires `tokenSigning`
   * RS256. API Gateway verifies signature, issuer, audience and times of a token, and does not ask the service: **it
   * does not notice that a session has ended**, or that a user was suspended or deleted. So a token is valid until
   * `tokenMinutes` after it was made.
   *
   * API Gateway reads the keys of tokens when it makes an authorizer, so this authorizer is made after the routes that
   * publish the keys.
   * @param after further resources that must exist first: the DNS record of `domainName`; if `edge` is cloudfront, the
   *   distribution, which is then required
   * @throws {SettingError}
   */
  authorizer(id: string, ...after: readonly IDependable[]): IHttpRouteAuthorizer {
    const publishing = this.#publishing;
    return createAuthorizer(id, this.#settings, this.url, { publishing, own: after });
  }

  /**
   * Lets a function write entries into the audit trail; it requires `machines` on. The function gets the address of the
   * service (`ACCOUNTS_URL`) and the ARN of a secret (`ACCOUNTS_TRAIL_KEY_ARN`), which it may read.
   *
   * The secret is yours. Once all is deployed, put the key of a machine with the scope `audit:write` into it: no key is
   * made here.
   * @throws {SettingError}
   */
  grantTrail(writer: LambdaFunction, secret: Secret | ISecret): void {
    if (this.#settings.machines === 'off') {
      throw new SettingError(
        'machines',
        'is off, so that the service takes no entries of others: grantTrail requires on',
      );
    }
    writer.addEnvironment('ACCOUNTS_URL', this.url);
    writer.addEnvironment('ACCOUNTS_TRAIL_KEY_ARN', secret.secretArn);
    secret.grantRead(writer);
  }
}

/** The props of {@link AccountsStack}. */
export interface AccountsStackProps extends StackProps, Pick<AccountsProps, 'parameterName'> {
  readonly settings?: AccountsSettings;
}

/**
 * The service in a stack of its own; the service is named after the stack. The stack has termination protection in
 * stage production, but not in stage development.
 */
export class AccountsStack extends Stack {
  readonly accounts: Accounts;

  /** @throws {SettingError} on the first setting that is unknown or not allowed */
  constructor(
    scope: Construct,
    id: string,
    { settings = {}, parameterName, ...props }: AccountsStackProps = {},
  ) {
    const read = readDeploymentSettings(settings);
    const known = tagsOf(read).filter(([, value]) => !Token.isUnresolved(value));
    super(scope, id, {
      description: 'User accounts, authentication and audit logging',
      terminationProtection: areKept(read),
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

function tagsOf({ tags }: DeploymentSettings) {
  return Object.entries(tagsIn(tags) ?? {});
}

function createFunctions(
  scope: Construct,
  settings: DeploymentSettings,
  shared: SharedFunctionProps,
) {
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
}

function pascalCase(name: string) {
  return name.replace(/(?:^|-)(\w)/g, (_, letter: string) => letter.toUpperCase());
}

/** Passes the address of the API to the mail function, because links may lead to pages of the API. */
function tellMail(functions: readonly ServiceFunction[], url: string) {
  return functions
    .find(({ definition }) => definition.uses.has('mail.send'))
    ?.lambda.addEnvironment('API_URL', url);
}
