import { App, Stack } from 'aws-cdk-lib';
import { Template } from 'aws-cdk-lib/assertions';
import { HttpApi, HttpMethod } from 'aws-cdk-lib/aws-apigatewayv2';
import { HttpUrlIntegration } from 'aws-cdk-lib/aws-apigatewayv2-integrations';
import { Distribution } from 'aws-cdk-lib/aws-cloudfront';
import { HttpOrigin } from 'aws-cdk-lib/aws-cloudfront-origins';
import { Code, Function as LambdaFunction, Runtime } from 'aws-cdk-lib/aws-lambda';
import { Secret } from 'aws-cdk-lib/aws-secretsmanager';
import { Construct } from 'constructs';
import { describe, expect, it } from 'vitest';
import { Accounts, type AccountsProps, AccountsStack } from '../../../infra/stack/accounts.ts';
import { parameterNameOf } from '../../../infra/stack/name.ts';
import { everything, production, resourcesOf, withoutBundling } from './template.ts';

const stackOfOthers = (stackName = 'Shop') =>
  new Stack(
    new App({
      // Two services with everything on have more than the 500 resources that are allowed.
      context: { ...withoutBundling, '@aws-cdk/core:stackResourceLimit': 0 },
      builtinCloudFormationValidation: false,
    }),
    'Others',
    { stackName },
  );

/** The names that a template gives to resources, but for stages, whose names are of their APIs. */
const namesIn = (resources: object): readonly string[] =>
  Object.values(resources)
    .filter(({ Type }) => Type !== 'AWS::ApiGatewayV2::Stage')
    .flatMap(({ Type, Properties = {} }) =>
      Object.entries(Properties)
        .filter(([key]) => key === 'Name' || key === `${Type.split('::')[2]}Name`)
        .map(([, name]) => `${Type} ${JSON.stringify(name)}`),
    );

const { tags: _, ...settings } = everything;
const all = { ...settings, domainName: undefined, certificateArn: undefined, edge: undefined };

describe('Services in an existing stack', () => {
  it('are several beside other resources, and their names differ', () => {
    const stack = stackOfOthers();
    const shops = [new Accounts(stack, 'Accounts', all as AccountsProps)];
    shops.push(new Accounts(new Construct(stack, 'Staff'), 'Accounts', all as AccountsProps));
    const api = shops.map((each) => each.api.apiId);

    const names = namesIn(Template.fromStack(stack).toJSON().Resources);

    expect(new Set(api).size).toBe(2);
    expect(names.length).toBeGreaterThan(20);
    expect(names.filter((name, i) => names.indexOf(name) !== i)).toEqual([]);
    expect(names).toContain('AWS::SSM::Parameter "/accounts/Shop/Accounts"');
    expect(names).toContain('AWS::SSM::Parameter "/accounts/Shop/Staff/Accounts"');
  });

  it('are found by another parameter if the settings name one', () => {
    const stack = stackOfOthers();
    new Accounts(stack, 'Accounts', { parameterName: '/shop/accounts' });

    expect(namesIn(Template.fromStack(stack).toJSON().Resources)).toContain(
      'AWS::SSM::Parameter "/shop/accounts"',
    );
  });

  it('require another parameter if their path has characters that no parameter may have', () => {
    const place = new Construct(stackOfOthers(), 'Our staff');

    expect(() => new Accounts(place, 'Accounts')).toThrow(
      'Setting parameterName is required, because no parameter is called /accounts/Shop/Our staff/Accounts',
    );
    expect(new Accounts(place, 'Others', { parameterName: '/staff' }).outputs).not.toEqual({});
  });

  // biome-ignore format: a table
  it.each([
    'staff', 'shop/staff', '/our staff', '/shop//staff', '/shop/', '', '/aws/staff',
    '/SSM-staff', '/1/2/3/4/5/6/7/8/9/10/11/12/13/14/15/16',
  ])('have no parameter %j, because AWS does not allow its name', (parameterName) => {
    expect(() => parameterNameOf(stackOfOthers(), parameterName)).toThrow(
      'Setting parameterName must be a path such as /shop/accounts: at most 15 names of letters, digits, dots, hyphens and underscores, of which the first does not begin with aws or ssm',
    );
  });

  it('may have a stack of their own with another parameter', () => {
    const app = new App({ context: withoutBundling, builtinCloudFormationValidation: false });
    const stack = new AccountsStack(app, 'Own', { parameterName: '/shop/own' });

    expect(namesIn(Template.fromStack(stack).toJSON().Resources)).toContain(
      'AWS::SSM::Parameter "/shop/own"',
    );
  });

  it('have properties that other resources need', () => {
    const accounts = new Accounts(stackOfOthers(), 'Accounts', {
      events: 'on',
      alarmEmail: 'a@example.com',
    });

    expect(Object.keys(accounts.functions)).toEqual(
      expect.arrayContaining(['auth-login', 'users-list', 'publish-audit']),
    );
    expect([accounts.bus, accounts.alarmTopic]).not.toContain(undefined);
    expect(accounts.url).toBe(accounts.api.apiEndpoint);
  });

  it.each<[string, object]>([
    ['Setting sessionDays must be a whole number from 0 to 400', { sessionDays: 401 }],
    ['Setting sesionDays is unknown; infra/settings.md has all settings', { sesionDays: 90 }],
    ['Setting selfDeletion requires that sessionDays is not 0', { selfDeletion: 'on' }],
    ['Setting parameterName must be a path such as /shop/accounts', { parameterName: 'staff' }],
    ['Setting tags must be an object of at most 40 tags as AWS allows them', { tags: [] }],
  ])('are refused with the message %j', (sentence, props) => {
    expect(() => new Accounts(stackOfOthers(), 'Accounts', props)).toThrow(sentence);
  });

  it('have the settings of stage production if a prop is undefined', () => {
    const stack = stackOfOthers();
    const accounts = new Accounts(stack, 'Accounts', { stage: 'production', docs: undefined });

    expect(accounts.functions).not.toHaveProperty('docs');
  });
});

describe('An authorizer of another API', () => {
  const madeWith = (props: AccountsProps) => {
    const stack = stackOfOthers();
    const accounts = new Accounts(stack, 'Accounts', props);
    const distribution = new Distribution(stack, 'Distribution', {
      defaultBehavior: { origin: new HttpOrigin('origin.example.com') },
    });
    const orders = new HttpApi(stack, 'Orders');
    const route = (defaultAuthorizer: ReturnType<Accounts['authorizer']>) => {
      const integration = new HttpUrlIntegration('Backend', 'https://orders.example.com');
      const at = { path: '/orders', methods: [HttpMethod.GET], integration };
      orders.addRoutes({ ...at, authorizer: defaultAuthorizer });
      const { Resources } = Template.fromStack(stack).toJSON();
      const ids = Object.keys(Resources);
      const one = ids.find((id) => Resources[id].Type === 'AWS::ApiGatewayV2::Authorizer') ?? '';
      return { ...Resources[one], Resources };
    };
    return { accounts, distribution, route };
  };
  const behindCloudFront = {
    tokenSigning: 'RS256',
    edge: 'cloudfront',
    domainName: production.domainName,
    certificateArn: production.certificateArn,
  } as const;

  it('trusts the address of the service, once its keys are published', () => {
    const { accounts, route } = madeWith({ tokenSigning: 'RS256' });

    const { Properties, DependsOn, Resources } = route(accounts.authorizer('Orders'));

    const { Issuer, Audience } = Properties.JwtConfiguration;
    expect(Audience).toEqual([Issuer]);
    expect(JSON.stringify(Issuer)).toContain('ApiEndpoint');
    const types = DependsOn.map((id: string) => Resources[id].Type);
    expect(types).toEqual(
      expect.arrayContaining([
        'AWS::ApiGatewayV2::Route',
        'AWS::ApiGatewayV2::Stage',
        'AWS::IAM::Policy',
        'AWS::Lambda::Function',
      ]),
    );
    expect(types).not.toContain('AWS::CloudFront::Distribution');
  });

  it('trusts the issuer and the audience of the settings', () => {
    const [tokenIssuer, tokenAudience] = ['https://id.example.com', 'shop'];
    const { accounts, route } = madeWith({ tokenSigning: 'RS256', tokenIssuer, tokenAudience });

    expect(route(accounts.authorizer('Orders')).Properties.JwtConfiguration).toEqual({
      Issuer: tokenIssuer,
      Audience: [tokenAudience],
    });
  });

  it('is made after the distribution through which the keys are read', () => {
    const { accounts, distribution, route } = madeWith(behindCloudFront);

    const { DependsOn, Resources } = route(accounts.authorizer('Orders', distribution));

    const types = DependsOn.map((id: string) => Resources[id].Type);
    expect(types).toContain('AWS::CloudFront::Distribution');
    expect(types).toContain('AWS::ApiGatewayV2::ApiMapping');
  });

  it('is refused if tokens cannot be verified through it', () => {
    expect(() => madeWith({}).accounts.authorizer('Orders')).toThrow(
      'Setting tokenSigning is HS256, whose tokens only the service itself verifies: an authorizer requires RS256',
    );
    expect(() => madeWith(behindCloudFront).accounts.authorizer('Orders')).toThrow(
      'Setting edge is cloudfront: an authorizer requires the distribution, as in authorizer(id, distribution)',
    );
  });
});

describe('A function that writes its trail', () => {
  const ordersOf = (stack: Stack) =>
    new LambdaFunction(stack, 'Orders', {
      runtime: Runtime.NODEJS_22_X,
      handler: 'index.handler',
      code: Code.fromInline('exports.handler = async () => undefined;'),
    });
  const granted = () => {
    const stack = stackOfOthers();
    const accounts = new Accounts(stack, 'Accounts', { machines: 'on' });
    const [orders, secret] = [ordersOf(stack), new Secret(stack, 'TrailKey')];
    accounts.grantTrail(orders, secret);
    const template = Template.fromStack(stack);
    const propertiesOf = (type: string, id: string) =>
      resourcesOf(template, type).get(id)?.Properties;
    return {
      ...{ address: stack.resolve(accounts.url), arn: stack.resolve(secret.secretArn) },
      orders: propertiesOf('AWS::Lambda::Function', 'Orders'),
      policy: propertiesOf('AWS::IAM::Policy', 'OrdersServiceRoleDefaultPolicy'),
      secret: propertiesOf('AWS::SecretsManager::Secret', 'TrailKey'),
    };
  };

  it('finds the address of the service and the secret in its environment', () => {
    const { orders, address, arn } = granted();

    expect(orders?.Environment.Variables).toEqual({
      ACCOUNTS_URL: address,
      ACCOUNTS_TRAIL_KEY_ARN: arn,
    });
  });

  it('may read the secret, and nothing else', () => {
    const { policy, arn } = granted();

    expect(policy?.PolicyDocument.Statement).toEqual([
      {
        Effect: 'Allow',
        Action: ['secretsmanager:GetSecretValue', 'secretsmanager:DescribeSecret'],
        Resource: arn,
      },
    ]);
  });

  it('is given the secret as it is: no key of a machine is made', () => {
    expect(granted().secret).toEqual({ GenerateSecretString: {} });
  });

  it('is refused while the service has no machines', () => {
    const stack = stackOfOthers();
    const accounts = new Accounts(stack, 'Accounts');

    expect(() => accounts.grantTrail(ordersOf(stack), new Secret(stack, 'TrailKey'))).toThrow(
      'Setting machines is off, so that the service takes no entries of others: grantTrail requires on',
    );
  });
});
