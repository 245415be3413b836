/** CDK applications of others, which install the package and have nothing else of this repository. */
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The folder of the repository's packages. */
export const modules = fileURLToPath(new URL('../../node_modules', import.meta.url));

/**
 * Packages that an application has beside this package. They come from the repository, so that npm needs no network.
 */
export const others = ['aws-cdk-lib', 'constructs', 'cdk-nag', '@types/node'];

/** An application in CommonJS, with two services in one stack. */
const commonJs = `
const { App, Stack, Validations } = require('aws-cdk-lib');
const { AwsSolutionsChecks } = require('cdk-nag');
const { Accounts } = require('accounts-service');

const app = new App();
const stack = new Stack(app, 'Shop');
new Accounts(stack, 'Customers', { auditSeal: 'on' });
new Accounts(stack, 'Staff', { v1Users: 'off', parameterName: '/shop/staff' });
Validations.of(app).addPlugins(new AwsSolutionsChecks(app));
`;

/** An application in TypeScript, as an ES module; the compiler must refuse what is not allowed. */
const esm = `
import { App, CfnParameter, Fn, Stack, Validations } from 'aws-cdk-lib';
import { HttpApi, HttpMethod } from 'aws-cdk-lib/aws-apigatewayv2';
import { HttpUrlIntegration } from 'aws-cdk-lib/aws-apigatewayv2-integrations';
import { Certificate } from 'aws-cdk-lib/aws-certificatemanager';
import { Rule } from 'aws-cdk-lib/aws-events';
import { Key } from 'aws-cdk-lib/aws-kms';
import type { Function } from 'aws-cdk-lib/aws-lambda';
import type { ISecret } from 'aws-cdk-lib/aws-secretsmanager';
import { Topic } from 'aws-cdk-lib/aws-sns';
import { AwsSolutionsChecks } from 'cdk-nag';
import { Accounts, type AccountsProps, AccountsStack } from 'accounts-service';

// The oldest CDK does not know the option that turns off its check of templates, which takes most of the time.
const app = new App({ analyticsReporting: false, ...{ builtinCloudFormationValidation: false } });
const env = { account: '123456789012', region: 'eu-west-1' };
const stack = new Stack(app, 'Shop', { env });
const common: AccountsProps = { tags: { team: 'shop' } };
const pages = new HttpApi(stack, 'Pages', { createDefaultStage: false });
const masterKey = new Key(stack, 'Key', { enableKeyRotation: true });
const customers = new Accounts(stack, 'Customers', {
  ...common,
  events: 'on',
  corsOrigins: \`https://shop.example.com, \${pages.apiEndpoint}\`,
  encryption: 'customer',
  encryptionKeyArn: masterKey.keyArn,
  alarmTopicArn: new Topic(stack, 'OnCall', { masterKey, enforceSSL: true }).topicArn,
  productName: new CfnParameter(stack, 'ProductName').valueAsString,
});
const domainName = 'staff.example.com';
const staff = new Accounts(stack, 'Staff', {
  ...common,
  tokenSigning: 'RS256',
  tokenAudience: Fn.importValue('Audience'),
  domainName,
  certificateArn: new Certificate(stack, 'Certificate', { domainName }).certificateArn,
});
const orders = new HttpApi(stack, 'Orders', {
  createDefaultStage: false,
  defaultAuthorizer: staff.authorizer('StaffOnly'),
});
orders.addRoutes({
  path: '/orders',
  methods: [HttpMethod.GET],
  integration: new HttpUrlIntegration('Backend', \`\${customers.url}/orders\`),
});
if (customers.bus) new Rule(stack, 'Deleted', { eventBus: customers.bus, eventPattern: { source: ['shop'] } });
customers.users.tableArn satisfies string;
staff.functions['auth-login']?.functionName satisfies string | undefined;
new AccountsStack(app, 'Own', {
  env,
  settings: {
    stage: 'production',
    auditLockDays: 30,
    tokenSigning: 'RS256',
    identityProviders: [{ issuer: 'https://accounts.google.com', audiences: ['shop'] }],
    mailFrom: 'Shop <no-reply@example.com>',
    resetUrl: 'https://shop.example.com/reset',
  },
});
Validations.of(app).addPlugins(new AwsSolutionsChecks(app));

export const allowed = (writer: Function, secret: ISecret) => customers.grantTrail(writer, secret);

export const refused = () => {
  // @ts-expect-error It is a number.
  new Accounts(stack, 'A', { sessionDays: '90' });
  // @ts-expect-error There is no such setting.
  new Accounts(stack, 'B', { sesionDays: 90 });
  // @ts-expect-error There is no such algorithm.
  new Accounts(stack, 'C', { tokenSigning: 'RS512' });
  // @ts-expect-error There is no such member.
  staff.tables;
  // @ts-expect-error It is a key, and no secret.
  staff.grantTrail({} as Function, masterKey);
};
`;

/** Node 22 prints warnings about features that are stable in Node 24, such as the stripping of types. */
export const quiet = { NODE_OPTIONS: '--disable-warning=ExperimentalWarning' };

export interface Application {
  readonly file: string;
  readonly source: string;
  /** The type of its modules. */
  readonly type: 'commonjs' | 'module';
}

export const applications = {
  commonJs: { file: 'app.js', source: commonJs, type: 'commonjs' },
  esm: { file: 'app.ts', source: esm, type: 'module' },
} as const satisfies Readonly<Record<string, Application>>;

/**
 * Makes an application in an empty folder, in which npm installs packages from their files.
 * @param packed the files of the packages
 * @param from the folder of the other packages; the packages of the repository need no network
 */
export function makeApplication(
  folder: string,
  { file, source, type }: Application,
  packed: readonly string[],
  from = modules,
): void {
  writeFileSync(join(folder, file), source);
  writeFileSync(
    join(folder, 'package.json'),
    JSON.stringify({ name: 'shop', private: true, type }),
  );
  // npm would fetch the peers, which are linked below.
  const quickly = ['--offline', '--legacy-peer-deps', '--no-audit', '--no-fund', '--silent'];
  execFileSync('npm', ['install', ...quickly, ...packed], { cwd: folder });
  for (const name of others) {
    const path = join(folder, 'node_modules', name);
    mkdirSync(dirname(path), { recursive: true });
    symlinkSync(join(from, name), path);
  }
}

/** Runs an application as the command line of the CDK does. @param flags of the CDK */
export function synthesiseApplication(
  folder: string,
  file: string,
  { node = process.execPath, flags = {} }: { node?: string; flags?: object } = {},
) {
  const output = join(folder, 'cdk.out');
  const ended = spawnSync(node, [file], {
    cwd: folder,
    encoding: 'utf8',
    env: {
      PATH: process.env.PATH,
      CDK_OUTDIR: output,
      CDK_CONTEXT_JSON: JSON.stringify(flags),
      ...quiet,
    },
  });
  const read = (name: string) => JSON.parse(readFileSync(join(output, name), 'utf8'));
  return { ...ended, output, read };
}
