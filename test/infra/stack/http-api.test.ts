import { describe, expect, it } from 'vitest';
import { functionsOf, idOf, plainId, resourcesOf, synthesise, target } from './template.ts';

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

  it('may invoke each function by one permission: for its one route, or for all its routes', () => {
    const sources = [...resourcesOf(template, 'AWS::Lambda::Permission').values()].map(
      ({ Properties: { FunctionName, SourceArn } }) => [
        target(FunctionName),
        target(SourceArn).replace(/^.*:Api/, ''),
      ],
    );
    const expected = functions.map((definition) => {
      const [route, ...others] = definition.routes;
      const path = route && others.length === 0 ? `/*/*${deployed(route.path)}` : '/*/*/*';
      return [idOf(definition, 'Function'), path];
    });

    expect(sources.sort()).toEqual(expected.sort());
  });

  it('lets only pages of the configured origins call the API', () => {
    const context = { corsOrigins: 'https://a.example,https://b.example' };

    expect(only(context, 'AWS::ApiGatewayV2::Api')?.Properties.CorsConfiguration).toMatchObject({
      AllowOrigins: ['https://a.example', 'https://b.example'],
    });
  });
});

describe('the stage', () => {
  it('is throttled as the settings say, and more strictly where passwords are hashed', () => {
    const hashing = functions
      .filter(({ uses }) => uses.has('passwords'))
      .flatMap(({ routes }) => routes);
    const throttle = { throttleRate: 40, throttleBurst: 80 };
    const tighter = { credentialsThrottleRate: 4, credentialsThrottleBurst: 8 };

    expect(only({ ...throttle, ...tighter }, 'AWS::ApiGatewayV2::Stage')?.Properties).toMatchObject(
      {
        DefaultRouteSettings: { ThrottlingRateLimit: 40, ThrottlingBurstLimit: 80 },
        RouteSettings: Object.fromEntries(
          hashing.map(({ key }) => [key, { ThrottlingRateLimit: 4, ThrottlingBurstLimit: 8 }]),
        ),
      },
    );
  });

  it('is made after the routes that it names', () => {
    const dependencies = only({}, 'AWS::ApiGatewayV2::Stage')?.DependsOn.map(plainId);

    expect(dependencies).toContain('ApiPOSTapilogin');
    expect(dependencies).toContain('ApiPOSTapiauthregister');
  });

  it('logs one line of JSON for each request, without headers and query', () => {
    const { Format } = only({}, 'AWS::ApiGatewayV2::Stage')?.Properties.AccessLogSettings ?? {};

    for (const variable of Object.values<string>(JSON.parse(Format))) {
      expect(variable).toMatch(/^\$context\.[\w.]+$/);
      expect(variable).not.toMatch(/header|query|authorizer/i);
    }
  });
});
