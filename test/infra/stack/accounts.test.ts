import { Template } from 'aws-cdk-lib/assertions';
import { describe, expect, it } from 'vitest';
import { everything, production, resourcesOf, stackOf, synthesise, target } from './template.ts';

/** Every text in a template, with the path that leads to it. */
const texts = (value: unknown, path = ''): [string, string][] => {
  if (typeof value === 'string') return [[path, value]];
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, inner]) => texts(inner, `${path}/${key}`));
};

interface Tagged {
  readonly Type: string;
  readonly Properties?: { readonly Tags?: unknown };
}

/** What becomes of a resource when the stack is deleted, and when the resource is replaced. */
interface Policies {
  readonly DeletionPolicy?: string;
  readonly UpdateReplacePolicy?: string;
}

describe('the stack', () => {
  it('has outputs for the console and for the queue of unsent mails if these exist', () => {
    const mailing = { mailFrom: 'a@example.com', resetUrl: 'https://app.example.com/' };
    const outputs = (context = {}) => Object.keys(synthesise(context).findOutputs('*'));

    expect(outputs()).toContain('ConsoleUrl');
    expect(outputs({ console: 'off' })).not.toContain('ConsoleUrl');
    expect(outputs()).not.toContain('UnsentMailsQueueUrl');
    expect(outputs(mailing)).toContain('UnsentMailsQueueUrl');
  });

  it('tells its address to the function that mails and to the operator, because links lead to its pages', () => {
    const mailing = { mailFrom: 'a@example.com', console: 'off' };
    const addressIn = (context: object) => {
      const template = synthesise({ ...mailing, ...context });
      const mail = resourcesOf(template, 'AWS::Lambda::Function').get('SendMailFunction');
      const [parameter] = resourcesOf(template, 'AWS::SSM::Parameter').values();
      const [, told] = /"API_URL":"(.*?)"/.exec(String(target(parameter?.Properties.Value))) ?? [];
      return [target(mail?.Properties.Environment.Variables.API_URL), told];
    };
    const routes = [...resourcesOf(synthesise(mailing), 'AWS::ApiGatewayV2::Route').values()];
    const pages = routes.filter(({ Properties: { RouteKey } }) =>
      /account\/|console/.test(RouteKey),
    );

    expect(addressIn({})).toEqual(['Api', 'Api']);
    expect(addressIn({ ...production, edge: 'cloudfront' })).toEqual(
      Array(2).fill('https://Domain'),
    );
    expect(pages.map(({ Properties: { RouteKey } }) => RouteKey).sort()).toEqual([
      'GET /account/invitation',
      'GET /account/reset',
      'GET /account/{page}',
      'GET /console/{file+}',
    ]);
  });

  it('is the same each time it is made from the same settings', () => {
    for (const context of [{}, production]) {
      const first = Template.fromStack(stackOf(context)).toJSON();
      const second = Template.fromStack(stackOf(context)).toJSON();

      expect(second).toEqual(first);
      expect(JSON.stringify(second)).toBe(JSON.stringify(first));
    }
  });

  it('is made for no account and no region in particular', () => {
    const stack = stackOf(production);
    const text = JSON.stringify(Template.fromStack(stack).toJSON());

    expect(stack.environment).toBe('aws://unknown-account/unknown-region');
    expect(text.replaceAll(production.certificateArn, '')).not.toMatch(/\b\d{12}\b/);
  });

  it('contains no text that is as long and as random as a secret', () => {
    const long = texts(synthesise(production).toJSON())
      .filter(([path]) => !/\/(S3Key|AlarmDescription)$/.test(path))
      .filter(([, text]) => /^[\w+/=-]{32,}$/.test(text) && /\d/.test(text) && /[A-Z]/.test(text));

    // Logical ids end in eight characters of a hash; nothing else may look random.
    expect(long.filter(([, text]) => !/^[A-Za-z\d]+[\dA-F]{8}$/.test(text))).toEqual([]);
  });

  it('has the tags of the settings on every resource that CloudFormation can tag', () => {
    const untagged = Object.values<Tagged>(synthesise(everything).toJSON().Resources)
      .filter(({ Properties }) => !JSON.stringify(Properties?.Tags ?? '').includes('identity'))
      .map(({ Type }) => Type);

    expect([...new Set(untagged)].sort()).toEqual([
      'AWS::ApiGatewayV2::ApiMapping',
      'AWS::ApiGatewayV2::Integration',
      'AWS::ApiGatewayV2::Route',
      'AWS::IAM::Policy',
      'AWS::Lambda::EventInvokeConfig',
      'AWS::Lambda::Permission',
      'AWS::Logs::MetricFilter',
      'AWS::S3::BucketPolicy',
      'AWS::SNS::Subscription',
      'AWS::SNS::TopicPolicy',
      'AWS::SQS::QueuePolicy',
    ]);
  });

  it('gives all roles the permissions boundary in cdk.json', () => {
    const context = { '@aws-cdk/core:permissionsBoundary': { name: 'BOUNDARY' } };
    const roles = [...resourcesOf(synthesise(context), 'AWS::IAM::Role').values()];

    for (const { Properties } of roles) {
      expect(target(Properties.PermissionsBoundary)).toMatch(/:policy\/BOUNDARY$/);
    }
    expect(roles).not.toEqual([]);
  });

  it('has no custom resources and no functions of the CDK', () => {
    const resources = Object.values(synthesise(production).toJSON().Resources) as {
      Type: string;
    }[];

    expect(resources.filter(({ Type }) => /^(Custom::|AWS::CloudFormation::)/.test(Type))).toEqual(
      [],
    );
  });

  it('cannot be deleted by accident in production, and can in development', () => {
    expect(stackOf(production).terminationProtection).toBe(true);
    expect(stackOf().terminationProtection).toBe(false);
  });

  it('keeps the lines of every log as long as the setting says', () => {
    const logGroups = resourcesOf(synthesise({ logRetentionDays: 30 }), 'AWS::Logs::LogGroup');

    const days = [...logGroups.values()].map(({ Properties }) => Properties.RetentionInDays);

    expect([...new Set(days)]).toEqual([30]);
  });

  it('cannot change between a given key of second factors and a key of its own', () => {
    const given = { ...production, secondFactorKeyArn: 'arn:aws:kms:eu-west-1:123456789012:key/k' };
    const resource = (context: Readonly<Record<string, string>>, id: string) =>
      synthesise(context).toJSON().Resources[id];
    const keys = Object.keys(synthesise(production).findResources('AWS::KMS::Key'));
    const own = keys.find((id) => id.startsWith('SecondFactorKey')) ?? '';

    // CloudFormation updates no resource to another type.
    expect(resource(production, own).Type).toBe('AWS::KMS::Key');
    expect(resource(given, own)).toEqual({ Type: 'AWS::CloudFormation::WaitConditionHandle' });
  });

  it('leaves nothing behind in development', () => {
    const resources = Object.values<Policies>(synthesise().toJSON().Resources);

    expect(resources.filter(({ DeletionPolicy }) => DeletionPolicy === 'Retain')).toEqual([]);
  });
});

describe('the dashboard', () => {
  const body = JSON.stringify(
    resourcesOf(synthesise(production), 'AWS::CloudWatch::Dashboard').get('Dashboard')?.Properties
      .DashboardBody,
  );

  it('shows the state of every alarm', () => {
    const alarms = Object.keys(synthesise(production).findResources('AWS::CloudWatch::Alarm'));

    for (const id of alarms) expect(body).toContain(`{"Fn::GetAtt":["${id}","Arn"]}`);
    expect(alarms).not.toEqual([]);
  });
});

it('No dynamic reference resolves the signing secret at deployment', () => {
  const text = JSON.stringify(synthesise(production).toJSON());

  expect(text).toContain('SigningSecret');
  expect(text).not.toContain('resolve:secretsmanager');
});
