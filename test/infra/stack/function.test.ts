import { build } from 'esbuild';
import { describe, expect, it } from 'vitest';
import { functions } from '../../../infra/routes.ts';
import { production, resourcesOf, synthesise, target } from './template.ts';

type Settings = Readonly<Record<string, unknown>>;

const template = synthesise();
const lambdas = resourcesOf(template, 'AWS::Lambda::Function');
const policies = resourcesOf(template, 'AWS::IAM::Policy');
const ids = [
  'Register',
  'Login',
  'Profile',
  'UsersCreate',
  'UsersList',
  'UsersGet',
  'UsersUpdate',
  'UsersDelete',
  'AuditLogsList',
  'V1Users',
];

interface Statement {
  readonly Effect: string;
  readonly Action: string | string[];
  readonly Resource: unknown;
}

/** `action on resource`, one for each pair that a role's policy allows. */
const permissions = (id: string) => {
  const policy = policies.get(`${id}RoleDefaultPolicy`)?.Properties.PolicyDocument;
  return (policy.Statement as Statement[]).flatMap(({ Effect, Action, Resource }) =>
    [Action].flat().flatMap((action) =>
      [Resource].flat().map((resource) => {
        const allowed = `${action} on ${target(resource)}`;
        return Effect === 'Allow' ? allowed : `${Effect}: ${allowed}`;
      }),
    ),
  );
};

/** What every function may do: write its own log, and send traces, which know no resource. */
const common = (id: string) => [
  `logs:CreateLogStream on ${id}Logs`,
  `logs:PutLogEvents on ${id}Logs`,
  'xray:PutTraceSegments on *',
  'xray:PutTelemetryRecords on *',
];
const readsSecret = 'secretsmanager:GetSecretValue on SigningSecret';
const writesAudit = 'dynamodb:PutItem on AuditTable';
const users = (...actions: string[]) => actions.map((name) => `dynamodb:${name} on UsersTable`);

const own: Readonly<Record<string, string[]>> = {
  Register: [...users('UpdateItem', 'PutItem'), writesAudit, readsSecret],
  Login: [
    ...users('BatchGetItem', 'GetItem', 'UpdateItem', 'DeleteItem'),
    writesAudit,
    readsSecret,
  ],
  Profile: [...users('GetItem'), readsSecret],
  UsersCreate: [...users('UpdateItem', 'PutItem', 'ConditionCheckItem'), writesAudit, readsSecret],
  UsersList: [...users('GetItem'), 'dynamodb:Query on UsersTable/index/by_created_at', readsSecret],
  UsersGet: [...users('GetItem'), readsSecret],
  UsersUpdate: [
    ...users('GetItem', 'UpdateItem', 'PutItem', 'DeleteItem', 'ConditionCheckItem'),
    writesAudit,
    readsSecret,
  ],
  UsersDelete: [...users('GetItem', 'DeleteItem'), writesAudit, readsSecret],
  AuditLogsList: [
    ...['by_created_at', 'by_user_id', 'by_action', 'by_user_id_and_action'].map(
      (index) => `dynamodb:Query on AuditTable/index/${index}`,
    ),
    readsSecret,
  ],
  V1Users: [],
};

const table = { USERS_TABLE: 'UsersTable' };
const tables = { ...table, AUDIT_TABLE: 'AuditTable' };
const secret = { JWT_SECRET_ID: 'SigningSecret' };
const hashing = { PASSWORD_MIN_LENGTH: '1', BCRYPT_COST: '10' };

const environments: Readonly<Record<string, object>> = {
  Register: { ...tables, ...secret, ...hashing, REGISTRATIONS_PER_ADDRESS: '0' },
  Login: {
    ...tables,
    ...secret,
    BCRYPT_COST: '10',
    LOGIN_ANSWERS: 'distinct',
    LOGIN_FAILURES_PER_ACCOUNT: '10',
    LOGIN_FAILURES_PER_ADDRESS: '100',
  },
  Profile: { ...table, ...secret },
  UsersCreate: { ...tables, ...secret, ...hashing },
  UsersList: { ...table, ...secret, USER_DIRECTORY: 'open' },
  UsersGet: { ...table, ...secret, USER_DIRECTORY: 'open' },
  UsersUpdate: { ...tables, ...secret, ...hashing },
  UsersDelete: { ...tables, ...secret },
  AuditLogsList: { AUDIT_TABLE: 'AuditTable', ...secret },
  V1Users: {},
};

const environment = (id: string) => {
  const variables = lambdas.get(`${id}Function`)?.Properties.Environment?.Variables ?? {};
  return Object.fromEntries(
    Object.entries(variables).map(([name, value]) => [name, target(value)]),
  );
};

describe('the functions', () => {
  it('are those of the routes, and no others', () => {
    expect([...lambdas.keys()]).toEqual(ids.map((id) => `${id}Function`));
    expect(functions).toHaveLength(ids.length);
  });

  describe.each(ids)('%s', (id) => {
    it('may do what it must, to what it must, and nothing else', () => {
      expect(permissions(id).sort()).toEqual([...common(id), ...(own[id] ?? [])].sort());
    });

    it('has no permission from anywhere else', () => {
      const role = resourcesOf(template, 'AWS::IAM::Role').get(`${id}Role`)?.Properties;

      expect(Object.keys(role)).toEqual(['AssumeRolePolicyDocument']);
      expect(role.AssumeRolePolicyDocument.Statement).toEqual([
        {
          Action: 'sts:AssumeRole',
          Effect: 'Allow',
          Principal: { Service: 'lambda.amazonaws.com' },
        },
      ]);
    });

    it('has exactly its environment', () => {
      expect(environment(id)).toEqual(environments[id]);
    });

    it('runs on Node 24 and arm64, traced, and answers before the gateway gives up', () => {
      const properties = lambdas.get(`${id}Function`)?.Properties;

      expect(properties).toMatchObject({
        Runtime: 'nodejs24.x',
        Architectures: ['arm64'],
        TracingConfig: { Mode: 'Active' },
        Handler: 'index.handler',
      });
      expect(properties.Timeout).toBeGreaterThanOrEqual(15);
      expect(properties.Timeout).toBeLessThanOrEqual(25);
    });

    it('logs to a group of its own, which keeps lines as long as the settings say', () => {
      const logsOf = (context: Settings) =>
        resourcesOf(synthesise(context), 'AWS::Logs::LogGroup').get(`${id}Logs`);

      const { LoggingConfig } = lambdas.get(`${id}Function`)?.Properties ?? {};

      expect(target(LoggingConfig.LogGroup)).toBe(`${id}Logs`);
      expect(logsOf({ logRetentionDays: 14 })).toMatchObject({
        Properties: { RetentionInDays: 14 },
        DeletionPolicy: 'Delete',
      });
      expect(logsOf({ stage: 'production', v1Users: 'on' })).toMatchObject({
        Properties: { RetentionInDays: 90 },
        DeletionPolicy: 'Retain',
      });
    });
  });

  it('have a whole processor where passwords are hashed, and less elsewhere', () => {
    const memory = ids.map((id) => [id, lambdas.get(`${id}Function`)?.Properties.MemorySize]);

    expect(Object.fromEntries(memory)).toEqual({
      Register: 1769,
      Login: 1769,
      Profile: 512,
      UsersCreate: 1769,
      UsersList: 512,
      UsersGet: 512,
      UsersUpdate: 1769,
      UsersDelete: 512,
      AuditLogsList: 512,
      V1Users: 512,
    });
  });

  it('are told the settings of the deployment', () => {
    const changed = resourcesOf(
      synthesise({
        bcryptCost: 12,
        loginAnswers: 'uniform',
        userDirectory: 'closed',
        passwordMinLength: 8,
        loginFailuresPerAccount: 3,
        loginFailuresPerAddress: 0,
        registrationsPerAddress: 20,
      }),
      'AWS::Lambda::Function',
    );
    const variables = (id: string) =>
      changed.get(`${id}Function`)?.Properties.Environment.Variables;

    expect(variables('Login')).toMatchObject({
      BCRYPT_COST: '12',
      LOGIN_ANSWERS: 'uniform',
      LOGIN_FAILURES_PER_ACCOUNT: '3',
      LOGIN_FAILURES_PER_ADDRESS: '0',
    });
    expect(variables('Register')).toMatchObject({
      BCRYPT_COST: '12',
      PASSWORD_MIN_LENGTH: '8',
      REGISTRATIONS_PER_ADDRESS: '20',
    });
    expect(variables('UsersGet')).toMatchObject({ USER_DIRECTORY: 'closed' });
  });
});

describe('the in-memory variant', () => {
  const concurrency = (context: Settings) =>
    [...resourcesOf(synthesise(context), 'AWS::Lambda::Function')]
      .filter(([, { Properties }]) => 'ReservedConcurrentExecutions' in Properties)
      .map(([id, { Properties }]) => [id, Properties.ReservedConcurrentExecutions]);

  it('alone runs once at a time, so that there is one memory', () => {
    expect(concurrency({})).toEqual([['V1UsersFunction', 1]]);
  });

  it('runs as many times as a setting says, or without limit', () => {
    expect(concurrency({ v1ReservedConcurrency: 3 })).toEqual([['V1UsersFunction', 3]]);
    expect(concurrency({ v1ReservedConcurrency: 'none' })).toEqual([]);
  });

  it('is not deployed when it is off, its routes neither', () => {
    const off = synthesise({ ...production, v1Users: 'off' });

    expect([...resourcesOf(off, 'AWS::Lambda::Function').keys()]).not.toContain('V1UsersFunction');
    expect(JSON.stringify(off.toJSON())).not.toContain('/api/v1');
  });
});

const actionOf: Readonly<Record<string, string>> = {
  BatchGetCommand: 'dynamodb:BatchGetItem',
  DeleteCommand: 'dynamodb:DeleteItem',
  GetCommand: 'dynamodb:GetItem',
  PutCommand: 'dynamodb:PutItem',
  QueryCommand: 'dynamodb:Query',
  UpdateCommand: 'dynamodb:UpdateItem',
};

/** The IAM actions for what is left of a function's code when what it does not use is taken out. */
const actionsOf = async (entry: string): Promise<string[]> => {
  const { outputFiles } = await build({
    entryPoints: [entry],
    bundle: true,
    write: false,
    format: 'esm',
    platform: 'node',
    external: ['@aws-sdk/*'],
  });
  const code = outputFiles[0]?.text ?? '';
  // What several files import has a number after its name.
  const commands = [...code.matchAll(/new (\w+?Command)\d*\(/g)]
    .map(([, name = '']) => name)
    // The one allows no action by itself, each item of its kind needs one; the other is no table's.
    .filter((name) => name !== 'TransactWriteCommand' && name !== 'GetSecretValueCommand')
    .map((name) => actionOf[name] ?? name);
  const items = [...code.matchAll(/\b(Put|Update|Delete|ConditionCheck): /g)].map(
    ([, kind]) => `dynamodb:${kind}Item`,
  );
  return [...new Set([...commands, ...items])].sort();
};

describe('the code of a function', () => {
  it.each(functions)('$name does what its role allows, and nothing else', async (definition) => {
    const allowed = definition.access.flatMap(({ actions }) => actions);

    expect(await actionsOf(definition.entry)).toEqual([...new Set(allowed)].sort());
  });
});
