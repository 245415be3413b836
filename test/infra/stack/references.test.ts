import { readFileSync } from 'node:fs';
import { App, CfnParameter, Fn, Lazy, Stack } from 'aws-cdk-lib';
import { Template } from 'aws-cdk-lib/assertions';
import { HttpApi } from 'aws-cdk-lib/aws-apigatewayv2';
import { Certificate } from 'aws-cdk-lib/aws-certificatemanager';
import { Key } from 'aws-cdk-lib/aws-kms';
import { Topic } from 'aws-cdk-lib/aws-sns';
import { describe, expect, it } from 'vitest';
import { deploymentSettings, type Name } from '../../../infra/deployment-settings.ts';
import { Accounts, type AccountsProps, AccountsStack } from '../../../infra/stack/accounts.ts';
import { passedOn } from '../../../lib/ground/settings.ts';
import { withoutBundling } from './template.ts';

const newApp = () => new App({ context: withoutBundling, builtinCloudFormationValidation: false });
const newStack = () => new Stack(newApp(), 'Shop');

/** What an application knows only when it is deployed, of each kind: attributes, imports, parameters. */
const referencesIn = (stack: Stack) => {
  const parameter = (id: string) => new CfnParameter(stack, id).valueAsString;
  const pages = new HttpApi(stack, 'Pages').apiEndpoint;
  return {
    tags: { team: Fn.importValue('Team'), owner: 'shop' },
    corsOrigins: `https://shop.example.com, ${pages}`,
    alarmEmail: parameter('AlarmEmail'),
    alarmTopicArn: new Topic(stack, 'OnCall').topicArn,
    encryptionKeyArn: new Key(stack, 'Key').keyArn,
    domainName: parameter('DomainName'),
    certificateArn: new Certificate(stack, 'Certificate', { domainName: 'a.example' })
      .certificateArn,
    usersTableName: Fn.importValue('UsersTable'),
    auditTableName: parameter('AuditTable'),
    auditStreamArn: Fn.importValue('AuditStream'),
    auditArchiveBucketName: parameter('Archive'),
    auditSealKeyArn: Fn.importValue('SealKey'),
    secondFactorKeyArn: Fn.importValue('FactorKey'),
    tokenIssuer: pages,
    tokenAudience: parameter('Audience'),
    resetUrl: `${pages}/reset`,
    verifyUrl: Fn.importValue('VerifyUrl'),
    returnUrl: parameter('ReturnUrl'),
    productName: parameter('ProductName'),
    passkeys: {
      rpId: parameter('RelyingParty'),
      origins: new CfnParameter(stack, 'Origins', { type: 'CommaDelimitedList' }).valueAsList,
    },
  } as const satisfies AccountsProps;
};

/** What those settings require that must be known. */
const known = {
  encryption: 'customer',
  events: 'on',
  auditSeal: 'on',
  sessionDays: 90,
  secondFactor: 'optional',
  tokenSigning: 'RS256',
  mailFrom: 'no-reply@example.com',
} as const satisfies AccountsProps;

describe('A setting that is a reference', () => {
  const stack = newStack();
  const references = referencesIn(stack);
  new Accounts(stack, 'Accounts', { ...known, ...references });
  const { Resources } = Template.fromStack(stack).toJSON();
  const textOf = (type: string) =>
    JSON.stringify(Object.values<{ Type: string }>(Resources).filter(({ Type }) => Type === type));

  const inTemplate: readonly (readonly [Exclude<keyof typeof references, 'passkeys'>, string])[] = [
    ['alarmEmail', 'AWS::SNS::Subscription'],
    ['alarmTopicArn', 'AWS::CloudWatch::Alarm'],
    ['encryptionKeyArn', 'AWS::SecretsManager::Secret'],
    ['domainName', 'AWS::ApiGatewayV2::DomainName'],
    ['certificateArn', 'AWS::ApiGatewayV2::DomainName'],
    ['usersTableName', 'AWS::Lambda::Function'],
    ['auditTableName', 'AWS::Lambda::Function'],
    ['auditStreamArn', 'AWS::Lambda::EventSourceMapping'],
    ['auditArchiveBucketName', 'AWS::Lambda::Function'],
    ['auditSealKeyArn', 'AWS::IAM::Policy'],
    ['secondFactorKeyArn', 'AWS::IAM::Policy'],
    ['tokenIssuer', 'AWS::Lambda::Function'],
    ['tokenAudience', 'AWS::Lambda::Function'],
    ['resetUrl', 'AWS::Lambda::Function'],
    ['verifyUrl', 'AWS::Lambda::Function'],
    ['returnUrl', 'AWS::Lambda::Function'],
    ['productName', 'AWS::Lambda::Function'],
  ];

  it.each(inTemplate)('is passed on: %s', (name, type) => {
    expect(textOf(type)).toContain(JSON.stringify(stack.resolve(references[name])));
  });

  it('may be the value of a tag, beside others', () => {
    expect(textOf('AWS::Lambda::Function')).toContain(
      '[{"Key":"owner","Value":"shop"},{"Key":"team","Value":{"Fn::ImportValue":"Team"}}]',
    );
  });

  it('may be one of several origins, or a whole list of them', () => {
    expect(textOf('AWS::ApiGatewayV2::Api')).toContain(
      `"AllowOrigins":{"Fn::Split":[",",{"Fn::Join":["",["https://shop.example.com,",${JSON.stringify(stack.resolve(references.tokenIssuer))}]]}]}`,
    );
  });

  it('may be the domain of passkeys, and the whole list of their origins', () => {
    const parts = [
      '{"rpId":"',
      { Ref: 'RelyingParty' },
      '","origins":["',
      { 'Fn::Join': ['","', { Ref: 'Origins' }] },
      '"]}',
    ];
    expect(textOf('AWS::Lambda::Function')).toContain(
      `"PASSKEYS":${JSON.stringify({ 'Fn::Join': ['', parts] })}`,
    );
    // There the text is in JSON itself.
    expect(textOf('AWS::SSM::Parameter')).toContain(
      JSON.stringify({ 'Fn::Join': [String.raw`\",\"`, { Ref: 'Origins' }] }),
    );
  });

  it('tags the resources of a stack of its own but not the stack, because the CDK must know stack tags', () => {
    const { tags } = references;
    const own = new AccountsStack(newApp(), 'Own', { settings: { tags } });

    expect(own.tags.tagValues()).toEqual({ owner: 'shop' });
    expect(JSON.stringify(Template.fromStack(own).toJSON())).toContain('"Fn::ImportValue":"Team"');
  });

  it('is one of the references that infra/settings.md lists, and all of them are tried here', () => {
    const page = readFileSync('infra/settings.md', 'utf8');
    const [, list = ''] = /^### References\n(.*?)A reference counts/ms.exec(page) ?? [];
    const named = [...list.matchAll(/`(\w+)`/g)].map(([, name = '']) => name);
    const settings = named.filter((name) => Object.hasOwn(deploymentSettings, name));

    expect(settings.sort()).toEqual(Object.keys(references).sort());
    expect(settings).toEqual(expect.arrayContaining([...passedOn]));
  });
});

describe('A construct in place of its ARN or its name', () => {
  const certificate = new Certificate(newStack(), 'Certificate', { domainName: 'a.example' });

  it.each([
    ['certificateArn', certificate, 'must be text or a number'],
    ['tags', { owner: certificate }, 'must be an object of at most 40 tags as AWS allows them'],
    ['passkeys', { rpId: certificate, origins: [] }, 'must be JSON'],
    ['sessionDays', certificate, 'must be text or a number'],
  ])('is refused, with the name and the rule of the setting: %s', (name, value, rule) => {
    expect(() => new Accounts(newStack(), 'Accounts', { [name]: value })).toThrow(
      `Setting ${name} ${rule}`,
    );
  });
});

describe('A setting that decides the content of the template', () => {
  const text = () => new CfnParameter(newStack(), 'Text').valueAsString;
  const number = () => new CfnParameter(newStack(), 'Number', { type: 'Number' }).valueAsNumber;
  const passed = Object.keys(referencesIn(newStack()));
  const others = (Object.keys(deploymentSettings) as Name[]).filter(
    (name) => !passed.includes(name),
  );

  it.each(others)('is refused as a reference, with the name of the setting: %s', (name) => {
    for (const value of [text(), number(), `a${text()}`]) {
      expect(() => new Accounts(newStack(), 'Accounts', { [name]: value })).toThrow(
        `Setting ${name} must be known when the template is made, and not a reference that AWS resolves later`,
      );
    }
  });

  it('is refused as a reference in the list of providers, because the list is a file beside the code', () => {
    const identityProviders = [{ issuer: 'https://id.example.com', audiences: [text()] }];

    expect(() => new Accounts(newStack(), 'Accounts', { identityProviders })).toThrow(
      'Setting identityProviders must be known when the template is made',
    );
  });

  it.each(['tags', 'passkeys'])('is refused where it is an object as a whole: %s', (name) => {
    const whole = Lazy.any({ produce: () => ({}) });

    expect(() => new Accounts(newStack(), 'Accounts', { [name]: whole })).toThrow(
      `Setting ${name} must be known when the template is made`,
    );
  });
});

describe('Checks between settings', () => {
  it.each<[string, AccountsProps]>([
    [
      'Setting auditStreamArn must be the stream of the table auditTableName',
      {
        auditTableName: 'audit',
        usersTableName: 'users',
        events: 'on',
        auditStreamArn: 'arn:aws:dynamodb:eu-west-1:123456789012:table/other/stream/2026',
      },
    ],
    [
      'Setting certificateArn requires domainName',
      { certificateArn: Fn.importValue('Certificate') },
    ],
    ['Setting tags must be an object', { tags: { team: Fn.importValue('Team'), 'aws:x': 'y' } }],
  ])('still report faults of known values: %s', (sentence, props) => {
    expect(() => new Accounts(newStack(), 'Accounts', props)).toThrow(sentence);
  });
});
