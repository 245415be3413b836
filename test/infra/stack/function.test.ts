import { build } from 'esbuild';
import { describe, expect, it } from 'vitest';
import { type FunctionDefinition, functions } from '../../../infra/uses.ts';
import { tables } from '../../../lib/dynamodb/tables.ts';
import { functionsOf, idOf, production, resourcesOf, synthesise, target } from './template.ts';

type Settings = Readonly<Record<string, unknown>>;

const template = synthesise();
const lambdas = resourcesOf(template, 'AWS::Lambda::Function');
interface Statement {
  readonly Effect: string;
  readonly Action: string | string[];
  readonly Resource: unknown;
  readonly Condition?: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
}

/** The partition keys that a statement is for, after a colon; nothing if it is for all. */
const keysOf = ({ Condition }: Statement): string => {
  const keys = Condition?.['ForAllValues:StringLike']?.['dynamodb:LeadingKeys'];
  return keys === undefined ? '' : `: ${keys}`;
};

/** `action on resource`, one for each pair that a role's policy allows. */
const allowedBy = (definition: FunctionDefinition, context: Settings) => {
  const id = idOf(definition, 'Role', 'DefaultPolicy');
  const policy = resourcesOf(synthesise(context), 'AWS::IAM::Policy').get(id)?.Properties
    .PolicyDocument;
  return (policy.Statement as Statement[]).flatMap((statement) =>
    [statement.Action].flat().flatMap((action) =>
      [statement.Resource].flat().map((resource) => {
        const allowed = `${action} on ${target(resource)}${keysOf(statement)}`;
        return statement.Effect === 'Allow' ? allowed : `${statement.Effect}: ${allowed}`;
      }),
    ),
  );
};

/** What every function may do: write its own log, and send traces, which know no resource. */
const common = (definition: FunctionDefinition) => [
  `logs:CreateLogStream on ${idOf(definition, 'Logs')}`,
  `logs:PutLogEvents on ${idOf(definition, 'Logs')}`,
  'xray:PutTraceSegments on *',
  'xray:PutTelemetryRecords on *',
];

const identities = 'arn:AWS::Partition:ses:AWS::Region:AWS::AccountId:identity';
const sendingMail = ['accounts@example.com', 'example.com'].map(
  (identity) => `ses:SendEmail on ${identities}/${identity}`,
);

/** As the CDK allows whatever sends to a queue. */
const keepingUnsent = ['SendMessage', 'GetQueueAttributes', 'GetQueueUrl'].map(
  (action) => `sqs:${action} on SendMailUnsent`,
);

const tableIds = { users: 'UsersTable', audit: 'AuditTable' } as const;

const arnInKms = (resource: string) =>
  `arn:AWS::Partition:kms:AWS::Region:AWS::AccountId:${resource}`;
/** The stack's own key, and the others, which a condition limits (signing-key.test.ts). */
const tokenKeys = [
  'TokenSigningKey',
  arnInKms('key/*'),
  ...['next', 'current', 'previous'].map((one) => arnInKms(`alias/accounts/token-signing-${one}`)),
];
const usesOfKeys = { 'keys.read': 'kms:GetPublicKey', 'keys.sign': 'kms:Sign' } as const;

/** What its definition says that it needs, which the code of the function is compared with below. */
const own = (
  { permissions, uses }: FunctionDefinition,
  { mails, factors, keys }: { mails: boolean; factors: boolean; keys: boolean },
) => [
  ...permissions.flatMap(({ table, actions, indexes, keys }) => {
    const id = `${tableIds[table]}${keys ? `: ${keys}` : ''}`;
    const resources = indexes?.map((index) => `${id}/index/${index}`) ?? [id];
    return actions.flatMap((action) => resources.map((resource) => `${action} on ${resource}`));
  }),
  ...(uses.has('secret') ? ['secretsmanager:GetSecretValue on SigningSecret'] : []),
  ...(uses.has('factor.encrypt') && factors ? ['kms:Encrypt on SecondFactorKey'] : []),
  ...(uses.has('factor.decrypt') && factors ? ['kms:Decrypt on SecondFactorKey'] : []),
  ...(['keys.read', 'keys.sign'] as const)
    .filter((use) => keys && uses.has(use))
    .flatMap((use) => tokenKeys.map((key) => `${usesOfKeys[use]} on ${key}`)),
  ...(uses.has('mail') && mails ? ['lambda:InvokeFunction on SendMailFunction'] : []),
  ...(uses.has('mail.send') ? [...keepingUnsent, ...sendingMail] : []),
];

const lambdaOf = (definition: FunctionDefinition, of = lambdas) =>
  of.get(idOf(definition, 'Function'))?.Properties;

/** The environment of a function: all settings, and what its definition asks for. */
const environmentOf = (
  definition: FunctionDefinition,
  settings: Readonly<Record<string, unknown>>,
) => {
  const { permissions, uses } = definition;
  const names = tables.filter(({ name }) => permissions.some(({ table }) => table === name));
  return {
    ...Object.fromEntries(names.map(({ name, variable }) => [variable, tableIds[name]])),
    ...(uses.has('secret')
      ? {
          JWT_SECRET_ID: 'SigningSecret',
          SECRETS_URL: 'https://secretsmanager.AWS::Region.AWS::URLSuffix/',
        }
      : {}),
    ...(uses.has('files') ? { STATIC_FILES: 'static' } : {}),
    ...settings,
    ...(uses.has('factor.encrypt') || uses.has('factor.decrypt')
      ? {
          SECOND_FACTOR_KEY: 'SecondFactorKey',
          KMS_URL: 'https://kms.AWS::Region.AWS::URLSuffix/',
        }
      : {}),
    ...(uses.has('keys.read')
      ? {
          TOKEN_SIGNING_KEY: 'TokenSigningKey',
          TOKEN_KEYS: 'alias/accounts/token-signing-',
          KMS_URL: 'https://kms.AWS::Region.AWS::URLSuffix/',
          API_URL: 'Api',
        }
      : {}),
    ...(uses.has('mail')
      ? {
          MAIL_FUNCTION_URL:
            'https://lambda.AWS::Region.AWS::URLSuffix/2015-03-31/functions/SendMailFunction/invocations',
        }
      : {}),
  };
};

/** Settings of a deployment, and what functions are told of them. */
const changed = {
  bcryptCost: 12,
  accounts: 'private',
  passwordMinLength: 8,
  loginFailuresPerAccount: 3,
  loginFailuresPerAddress: 0,
  registrationsPerAddress: 20,
  sessionDays: 90,
  sessionIdleDays: 30,
  tokenMinutes: 30,
  tokenSigning: 'RS256',
  tokenIssuer: 'https://login.example.com',
  tokenAudience: 'shop',
  selfDeletion: 'on',
  secondFactor: 'admins',
  auditDetail: 'full',
  mailFrom: 'My App <accounts@example.com>',
  mailLanguage: 'de',
  productName: 'My App',
  resetUrl: 'https://app.example.com/reset',
  emailVerification: 'on',
  verifyUrl: 'https://app.example.com/verify',
};
const told = {
  BCRYPT_COST: '12',
  ACCOUNTS: 'private',
  PASSWORD_MIN_LENGTH: '8',
  LOGIN_FAILURES_PER_ACCOUNT: '3',
  LOGIN_FAILURES_PER_ADDRESS: '0',
  REGISTRATIONS_PER_ADDRESS: '20',
  // What is off has no function.
  V1_USERS: 'on',
  DOCS: 'on',
  CONSOLE: 'on',
  AUDIT_SEAL: 'off',
  // Another one is taken only where entries are sealed.
  AUDIT_RETENTION_DAYS: '0',
  SESSION_DAYS: '90',
  SESSION_IDLE_DAYS: '30',
  TOKEN_MINUTES: '30',
  TOKEN_SIGNING: 'RS256',
  TOKEN_ISSUER: 'https://login.example.com',
  TOKEN_AUDIENCE: 'shop',
  SELF_DELETION: 'on',
  SECOND_FACTOR: 'admins',
  AUDIT_DETAIL: 'full',
  MAIL_FROM: 'My App <accounts@example.com>',
  MAIL_LANGUAGE: 'de',
  PRODUCT_NAME: 'My App',
  RESET_URL: 'https://app.example.com/reset',
  EMAIL_VERIFICATION: 'on',
  VERIFY_URL: 'https://app.example.com/verify',
};

const longUrl = `https://accounts.example.com/${'a'.repeat(100)}`;

/** A reference, by a text as long as the ARN that takes its place. */
const asDeployed = (_: string, value: unknown) =>
  value instanceof Object && 'Ref' in value ? 'a'.repeat(100) : value;

describe.each([
  ['by default', {}],
  ['with other settings', changed],
])('The functions %s', (_, context) => {
  it('are those of the routes, and no others', () => {
    const deployed = resourcesOf(synthesise(context), 'AWS::Lambda::Function');

    expect([...deployed.keys()]).toEqual(
      functionsOf(context).map((each) => idOf(each, 'Function')),
    );
  });

  it.each(functionsOf(context))(
    '$name may do what it must, to what it must, and nothing else',
    (definition) => {
      expect(allowedBy(definition, context).sort()).toEqual(
        [
          ...common(definition),
          ...own(definition, {
            mails: 'mailFrom' in context,
            factors: 'secondFactor' in context,
            keys: 'tokenSigning' in context,
          }),
        ].sort(),
      );
    },
  );
});

describe('The functions', () => {
  it.each(functionsOf(changed))(
    '$name is told all settings of the service, its tables and its secret, and nothing else',
    (definition) => {
      const deployed = resourcesOf(synthesise(changed), 'AWS::Lambda::Function');
      const variables = lambdaOf(definition, deployed).Environment?.Variables ?? {};

      const environment = Object.entries(variables).map(([name, value]) => [name, target(value)]);
      expect(Object.fromEntries(environment)).toEqual(environmentOf(definition, told));
    },
  );

  it('have variables of less than three quarters of the 4,096 bytes that Lambda allows', () => {
    const longest = { ...changed, resetUrl: longUrl, verifyUrl: longUrl };
    const deployed = resourcesOf(synthesise(longest), 'AWS::Lambda::Function');

    const bytes = [...deployed.values()].map(
      ({ Properties }) => JSON.stringify(Properties.Environment.Variables, asDeployed).length,
    );

    expect(Math.max(...bytes)).toBeLessThan(3072);
  });

  describe.each(functionsOf())('$name', (definition) => {
    it('has no permission from anywhere else', () => {
      const role = resourcesOf(template, 'AWS::IAM::Role').get(
        idOf(definition, 'Role'),
      )?.Properties;

      expect(Object.keys(role)).toEqual(['AssumeRolePolicyDocument']);
      expect(role.AssumeRolePolicyDocument.Statement).toEqual([
        {
          Action: 'sts:AssumeRole',
          Effect: 'Allow',
          Principal: { Service: 'lambda.amazonaws.com' },
        },
      ]);
    });

    it('runs on Node 24 and arm64, traced, and answers before the gateway gives up', () => {
      const properties = lambdaOf(definition);

      expect(properties).toMatchObject({
        Runtime: 'nodejs24.x',
        Architectures: ['arm64'],
        TracingConfig: { Mode: 'Active' },
        Handler: 'index.handler',
      });
      expect(properties.Timeout).toBeGreaterThanOrEqual(15);
      expect(properties.Timeout).toBeLessThanOrEqual(25);
    });

    it('has a whole processor where it hashes passwords, and only there', () => {
      const hashes = definition.uses.has('passwords');

      expect(lambdaOf(definition).MemorySize).toBe(hashes ? 1769 : 512);
    });

    it('logs to a group of its own', () => {
      expect(target(lambdaOf(definition).LoggingConfig.LogGroup)).toBe(idOf(definition, 'Logs'));
    });
  });
});

describe('The function that mails', () => {
  const mailing = synthesise(changed);

  it('sends from the address of the setting and from no other', () => {
    const { PolicyDocument } =
      resourcesOf(mailing, 'AWS::IAM::Policy').get('SendMailRoleDefaultPolicy')?.Properties ?? {};
    const sending = PolicyDocument.Statement.filter(
      ({ Action }: Statement) => Action === 'ses:SendEmail',
    );

    expect(sending.map(({ Condition }: { Condition: unknown }) => Condition)).toEqual([
      { StringEquals: { 'ses:FromAddress': 'accounts@example.com' } },
    ]);
  });

  it('is invoked again by Lambda, and what it fails on is kept encrypted for 14 days', () => {
    const queue = resourcesOf(mailing, 'AWS::SQS::Queue').get('SendMailUnsent')?.Properties;
    const [config] = resourcesOf(mailing, 'AWS::Lambda::EventInvokeConfig').values();
    const { DestinationConfig, FunctionName, ...rest } = config?.Properties ?? {};

    expect(target(FunctionName)).toBe('SendMailFunction');
    expect(target(DestinationConfig.OnFailure.Destination)).toBe('SendMailUnsent');
    expect(rest).toEqual({
      MaximumEventAgeInSeconds: 3600,
      MaximumRetryAttempts: 2,
      Qualifier: '$LATEST',
    });
    expect(queue).toEqual({ MessageRetentionPeriod: 14 * 86_400, SqsManagedSseEnabled: true });
  });

  it('is invoked by no route', () => {
    const permitted = [...resourcesOf(mailing, 'AWS::Lambda::Permission').values()].map(
      ({ Properties }) => target(Properties.FunctionName),
    );

    expect(permitted).not.toContain('SendMailFunction');
  });

  it.each([{}, production])('is not deployed without both settings: %j', (context) => {
    const text = JSON.stringify(synthesise(context).toJSON());

    expect(text).not.toMatch(/password-resets|\bMAIL_F|ses:|sqs:|SendMailFunction/);
  });
});

describe('The in-memory variant', () => {
  const concurrency = (context: Settings) =>
    [...resourcesOf(synthesise(context), 'AWS::Lambda::Function')]
      .filter(([, { Properties }]) => 'ReservedConcurrentExecutions' in Properties)
      .map(([id, { Properties }]) => [id, Properties.ReservedConcurrentExecutions]);

  it('has one instance, so that there is one memory', () => {
    expect(concurrency({})).toEqual([['V1UsersFunction', 1]]);
  });

  it('has as many instances as a setting says, or no limit', () => {
    expect(concurrency({ v1ReservedConcurrency: 3 })).toEqual([['V1UsersFunction', 3]]);
    expect(concurrency({ v1ReservedConcurrency: 'none' })).toEqual([]);
  });

  it('is not deployed when it is off, nor are its routes', () => {
    const off = synthesise({ ...production, v1Users: 'off' });

    expect([...resourcesOf(off, 'AWS::Lambda::Function').keys()]).not.toContain('V1UsersFunction');
    expect(JSON.stringify(off.toJSON())).not.toContain('/api/v1');
  });
});

const actionOf: Readonly<Record<string, string>> = {
  BatchGetItemCommand: 'dynamodb:BatchGetItem',
  DeleteCommand: 'dynamodb:DeleteItem',
  GetCommand: 'dynamodb:GetItem',
  GetItemCommand: 'dynamodb:GetItem',
  PutCommand: 'dynamodb:PutItem',
  QueryCommand: 'dynamodb:Query',
  UpdateCommand: 'dynamodb:UpdateItem',
};

/** What is left of a function's code when what it does not use is taken out. */
const codeOf = async (entry: string): Promise<string> => {
  const { outputFiles } = await build({
    entryPoints: [entry],
    bundle: true,
    write: false,
    format: 'esm',
    platform: 'node',
    external: ['@aws-sdk/*'],
  });
  return outputFiles[0]?.text ?? '';
};

/** Commands that are of no table, and one that allows nothing by itself: its items do. */
const othersCommands = [
  'TransactWriteCommand',
  'GetSecretValueCommand',
  'SendEmailCommand',
  // For what the role of the function that shows the seal allows, see audit-seal.test.ts.
  'GetObjectCommand',
  'ListObjectVersionsCommand',
  'PutObjectCommand',
  'GetPublicKeyCommand',
  'SignCommand',
];

/** The IAM actions for what code asks of DynamoDB. */
const actionsOf = (code: string): string[] => {
  // What several files import has a number after its name.
  const commands = [...code.matchAll(/new (\w+?Command)\d*\(/g)]
    .map(([, name = '']) => name)
    .filter((name) => !othersCommands.includes(name))
    .map((name) => actionOf[name] ?? name);
  const items = [...code.matchAll(/\b(Put|Update|Delete|ConditionCheck): /g)].map(
    ([, kind]) => `dynamodb:${kind}Item`,
  );
  return [...new Set([...commands, ...items])].sort();
};

describe('The code of a function', () => {
  it.each(functions)('$name does what its role allows, and nothing else', async (definition) => {
    const allowed = definition.permissions.flatMap(({ actions }) => actions);
    // Whoever may read one item may read several at once.
    const kindsOf = (actions: readonly string[]) =>
      new Set(actions.map((action) => action.replace('BatchGet', 'Get')));

    const asked = actionsOf(await codeOf(definition.entry));

    expect(kindsOf(asked), 'its uses in infra/uses.ts').toEqual(kindsOf(allowed));
  });
});
