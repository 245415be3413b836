import { describe, expect, it } from 'vitest';
import {
  functionsOf,
  idOf,
  plainId,
  production,
  resourcesOf,
  synthesise,
  target,
} from './template.ts';

const functions = functionsOf();

const template = synthesise();
const only = (context: Readonly<Record<string, unknown>>, type: string) => {
  const [[, resource] = []] = resourcesOf(synthesise(context), type);
  return resource;
};

/** Pages have files at any depth below them, so that `/console/` too reaches the function. */
const deployed = (path: string) => path.replace('{file}', '{file+}');

describe('the HTTP API', () => {
  it('leads every route to the function of that endpoint', () => {
    const integrations = resourcesOf(template, 'AWS::ApiGatewayV2::Integration');
    const routes = [...resourcesOf(template, 'AWS::ApiGatewayV2::Route').values()];

    const functionOf = Object.fromEntries(
      routes.map(({ Properties: { RouteKey, Target } }) => {
        const integration = integrations.get(target(Target).replace('integrations/', ''));
        return [RouteKey, target(integration?.Properties.IntegrationUri)];
      }),
    );

    const expected = functions.flatMap((definition) =>
      definition.routes.map((route) => [deployed(route.key), idOf(definition, 'Function')]),
    );
    expect(functionOf).toEqual(Object.fromEntries(expected));
  });

  it('sends functions events of payload format 2.0', () => {
    for (const { Properties } of resourcesOf(template, 'AWS::ApiGatewayV2::Integration').values()) {
      expect(Properties).toMatchObject({
        IntegrationType: 'AWS_PROXY',
        PayloadFormatVersion: '2.0',
      });
    }
  });

  it('may invoke each function for its own routes only', () => {
    const sources = [...resourcesOf(template, 'AWS::Lambda::Permission').values()].map(
      ({ Properties: { FunctionName, SourceArn } }) => [
        target(FunctionName),
        target(SourceArn).replace(/^.*\/\*\/\*/, ''),
      ],
    );
    const expected = functions.flatMap((definition) =>
      definition.routes.map(({ path }) => [idOf(definition, 'Function'), deployed(path)]),
    );

    expect(sources.sort()).toEqual(expected.sort());
  });

  it('lets pages of any origin call it by default, without credentials of the browser', () => {
    expect(only({}, 'AWS::ApiGatewayV2::Api')?.Properties.CorsConfiguration).toEqual({
      AllowOrigins: ['*'],
      AllowMethods: ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'],
      AllowHeaders: [
        'authorization',
        'content-type',
        'traceparent',
        'tracestate',
        'baggage',
        'sentry-trace',
        'x-amzn-trace-id',
      ],
      ExposeHeaders: ['apigw-requestid', 'error-code', 'link', 'retry-after', 'x-request-id'],
      MaxAge: 3600,
    });
  });

  it('lets only pages of the configured origins call it', () => {
    const context = { corsOrigins: 'https://a.example,https://b.example' };

    expect(only(context, 'AWS::ApiGatewayV2::Api')?.Properties.CorsConfiguration).toMatchObject({
      AllowOrigins: ['https://a.example', 'https://b.example'],
    });
  });
});

describe('the stage', () => {
  it('is throttled, more tightly where passwords are hashed', () => {
    const limits = (rate: number, burst: number) => ({
      ThrottlingRateLimit: rate,
      ThrottlingBurstLimit: burst,
    });
    const hashing = functions
      .filter(({ uses }) => uses.has('passwords'))
      .flatMap(({ routes }) => routes);
    const settingsOf = (limit: object) =>
      Object.fromEntries(hashing.map(({ key }) => [key, limit]));
    const context = {
      throttleRate: 40,
      throttleBurst: 80,
      credentialsThrottleRate: 4,
      credentialsThrottleBurst: 8,
    };

    expect(only({}, 'AWS::ApiGatewayV2::Stage')?.Properties).toMatchObject({
      StageName: '$default',
      AutoDeploy: true,
      DefaultRouteSettings: limits(500, 1000),
      RouteSettings: settingsOf(limits(50, 100)),
    });
    expect(only(context, 'AWS::ApiGatewayV2::Stage')?.Properties).toMatchObject({
      DefaultRouteSettings: limits(40, 80),
      RouteSettings: settingsOf(limits(4, 8)),
    });
  });

  it('is made after the routes that it names', () => {
    const dependencies = only({}, 'AWS::ApiGatewayV2::Stage')?.DependsOn.map(plainId);

    expect(dependencies).toContain('ApiPOSTapilogin');
    expect(dependencies).toContain('ApiPOSTapiauthregister');
  });

  it('logs one line of JSON for each request, with neither headers nor query', () => {
    const { DestinationArn, Format } =
      only({}, 'AWS::ApiGatewayV2::Stage')?.Properties.AccessLogSettings ?? {};

    const fields: Record<string, string> = JSON.parse(Format);

    expect(target(DestinationArn)).toBe('AccessLogs');
    expect(fields).toMatchObject({
      requestId: '$context.requestId',
      routeKey: '$context.routeKey',
      sourceIp: '$context.identity.sourceIp',
      status: '$context.status',
    });
    for (const variable of Object.values(fields)) {
      expect(variable).toMatch(/^\$context\.[\w.]+$/);
      expect(variable).not.toMatch(/header|query|authorizer/i);
    }
  });
});

describe('a custom domain', () => {
  it('closes the endpoint of API Gateway, which is open without one', () => {
    const disabled = (context: Parameters<typeof only>[0]) =>
      only(context, 'AWS::ApiGatewayV2::Api')?.Properties.DisableExecuteApiEndpoint;

    expect(disabled(production)).toBe(true);
    expect(disabled({})).toBe(false);
  });

  it('is served with its certificate over TLS 1.2 and later', () => {
    expect(only(production, 'AWS::ApiGatewayV2::DomainName')?.Properties).toEqual({
      DomainName: 'accounts.example.com',
      DomainNameConfigurations: [
        {
          CertificateArn: production.certificateArn,
          EndpointType: 'REGIONAL',
          SecurityPolicy: 'TLS_1_2',
        },
      ],
    });
    expect(only(production, 'AWS::ApiGatewayV2::ApiMapping')?.Properties).toMatchObject({
      Stage: '$default',
    });
  });

  it('is an output of the stack, beside the target for DNS', () => {
    const { ApiUrl, ConsoleUrl, DomainTarget, DomainTargetZoneId } =
      synthesise(production).findOutputs('*');

    expect(target(ApiUrl?.Value)).toBe('https://Domain');
    expect(target(ConsoleUrl?.Value)).toBe('https://Domain/console');
    expect(DomainTarget?.Value['Fn::GetAtt'][1]).toBe('RegionalDomainName');
    expect(DomainTargetZoneId?.Value['Fn::GetAtt'][1]).toBe('RegionalHostedZoneId');
  });

  it('is made only where the settings name it', () => {
    expect(only({}, 'AWS::ApiGatewayV2::DomainName')).toBeUndefined();
    expect(only({}, 'AWS::ApiGatewayV2::ApiMapping')).toBeUndefined();
  });
});
