import { Duration, Fn, Token, Validations } from 'aws-cdk-lib';
import { AccessLogFormat } from 'aws-cdk-lib/aws-apigateway';
import * as gateway from 'aws-cdk-lib/aws-apigatewayv2';
import { HttpLambdaIntegration } from 'aws-cdk-lib/aws-apigatewayv2-integrations';
import { Certificate } from 'aws-cdk-lib/aws-certificatemanager';
import type { LogGroup } from 'aws-cdk-lib/aws-logs';
import type { Construct } from 'constructs';
import { cors, originsIn } from '../cors.ts';
import type { DeploymentSettings } from '../deployment-settings.ts';
import type { Use } from '../permissions.ts';
import type { Route } from '../uses.ts';
import type { ServiceFunction } from './function.ts';
import { nameOf } from './name.ts';

/**
 * One line of JSON for each request, without headers and query, because these may contain secrets. The path is first,
 * because a quotation mark in the path then cannot replace another field.
 */
const accessLogFormat = AccessLogFormat.custom(
  JSON.stringify({
    path: '$context.path',
    requestId: '$context.requestId',
    time: '$context.requestTime',
    sourceIp: '$context.identity.sourceIp',
    routeKey: '$context.routeKey',
    method: '$context.httpMethod',
    protocol: '$context.protocol',
    status: '$context.status',
    responseLength: '$context.responseLength',
    latency: '$context.responseLatency',
    integrationStatus: '$context.integrationStatus',
    integrationLatency: '$context.integrationLatency',
    integrationError: '$context.integrationErrorMessage',
    gatewayError: '$context.error.responseType',
  }),
);

/**
 * Creates the HTTP API in front of the functions, with its only stage.
 * @returns the API, the resources that publish the keys of tokens, and the outputs
 */
export function createHttpApi(
  scope: Construct,
  settings: DeploymentSettings,
  { functions, accessLogs }: { functions: readonly ServiceFunction[]; accessLogs: LogGroup },
) {
  const api = createApi(scope, settings);
  const routes = functions.flatMap((each) => addRoutes(api, each));
  const domain = createDomain(scope, settings);
  const stage = new gateway.HttpStage(scope, 'Stage', {
    httpApi: api,
    autoDeploy: true,
    throttle: { rateLimit: settings.throttleRate, burstLimit: settings.throttleBurst },
    accessLogSettings: {
      destination: new gateway.LogGroupLogDestination(accessLogs),
      format: accessLogFormat,
    },
  });
  const { credentialsThrottleRate: rateLimit, credentialsThrottleBurst: burstLimit } = settings;
  throttleRoutes(stage, routes, 'passwords', { rateLimit, burstLimit });
  throttleRoutes(stage, routes, 'audit.post', postThrottle);
  const mapping = domain
    ? [new gateway.ApiMapping(scope, 'DomainMapping', { api, domainName: domain, stage })]
    : [];
  const publishers = functions.filter(({ definition }) => definition.name === 'well-known');
  const published = routes.filter(({ key }) => key.includes('/.well-known/'));
  const publishing = [...publishers, ...published.map(({ route }) => route), stage, ...mapping];
  Validations.of(api).acknowledge({
    id: 'AwsSolutions-APIG4',
    reason:
      'The functions verify the bearer token: the specification sets the body of each 401, which an authorizer cannot return, and register, login and /api/v1 are public.',
  });
  return { api, publishing, outputs: outputsOf(api, domain, settings) };
}

function createApi(scope: Construct, settings: DeploymentSettings): gateway.HttpApi {
  return new gateway.HttpApi(scope, 'Api', {
    apiName: nameOf(scope),
    createDefaultStage: false,
    // If the API has a domain of its own, the default endpoint would bypass what protects the domain.
    disableExecuteApiEndpoint: settings.domainName !== undefined,
    corsPreflight: {
      allowOrigins: allowedOrigins(settings.corsOrigins),
      allowMethods: cors.methods.map((method) => gateway.CorsHttpMethod[method]),
      allowHeaders: [...cors.requestHeaders],
      exposeHeaders: [...cors.responseHeaders],
      maxAge: Duration.seconds(cors.maxAge),
    },
  });
}

/** The origins in a text. If the text is or contains a reference, CloudFormation splits it. */
function allowedOrigins(text: string): string[] {
  return Token.isUnresolved(text) ? Fn.split(',', originsIn(text).join(',')) : originsIn(text);
}

function addRoutes(api: gateway.HttpApi, { definition, lambda }: ServiceFunction) {
  const integration = new HttpLambdaIntegration(`${definition.name}-integration`, lambda, {
    // There is one permission: for the route or, if the function has several routes, for the whole API.
    scopePermissionToRoute: definition.routes.length === 1,
  });
  return definition.routes.flatMap((wanted) =>
    api
      .addRoutes({
        path: gatewayPath(wanted),
        methods: [gateway.HttpMethod[wanted.method]],
        integration,
      })
      .map((route) => ({ route, key: wanted.key, uses: definition.uses })),
  );
}

/**
 * API Gateway accepts no route that ends with a slash. It may match `/console/` with the route `/console`, or with the
 * greedy parameter of a route below it: in both cases the request reaches the function, which redirects to `/console`.
 */
function gatewayPath({ path }: Route): string {
  return path.replace('{file}', '{file+}');
}

function createDomain(scope: Construct, { domainName, certificateArn }: DeploymentSettings) {
  return domainName && certificateArn
    ? new gateway.DomainName(scope, 'Domain', {
        domainName,
        certificate: Certificate.fromCertificateArn(scope, 'Certificate', certificateArn),
        securityPolicy: gateway.SecurityPolicy.TLS_1_2,
      })
    : undefined;
}

/**
 * Requests a second, and at once, of machines that post entries: each may have 25 entries, and the sealer must keep up
 * with them.
 */
const postThrottle = { rateLimit: 20, burstLimit: 20 };

/** Throttles the routes with a use more than their stage. The routes must be created before the stage. */
function throttleRoutes(
  stage: gateway.HttpStage,
  routes: ReturnType<typeof addRoutes>,
  use: Use,
  { rateLimit, burstLimit }: { rateLimit: number; burstLimit: number },
): void {
  const throttled = routes.filter(({ uses }) => uses.has(use));
  const throttle = { ThrottlingRateLimit: rateLimit, ThrottlingBurstLimit: burstLimit };
  const resource = stage.node.defaultChild as gateway.CfnStage;
  const own = Object.fromEntries(throttled.map(({ key }) => [key, throttle]));
  resource.routeSettings = { ...(resource.routeSettings as object), ...own };
  for (const { route } of throttled) stage.node.addDependency(route);
}

function outputsOf(
  api: gateway.HttpApi,
  domain: gateway.DomainName | undefined,
  settings: DeploymentSettings,
) {
  const url = domain ? `https://${domain.name}` : api.apiEndpoint;
  return {
    ApiUrl: url,
    ...(settings.console === 'on' ? { ConsoleUrl: `${url}/console` } : {}),
    ...(domain
      ? {
          // The target of the domain's DNS record.
          DomainTarget: domain.regionalDomainName,
          DomainTargetZoneId: domain.regionalHostedZoneId,
        }
      : {}),
  };
}
