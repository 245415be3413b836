import type { APIGatewayProxyEventV2 } from 'aws-lambda';

export interface Call {
  /** Method and path as the route has them: `GET /api/users/{id}`. */
  readonly routeKey: string;
  readonly pathParameters?: Readonly<Record<string, string>>;
  readonly token?: string | undefined;
  /** Sent as JSON. */
  readonly json?: unknown;
}

const fill = (path: string, parameters: Readonly<Record<string, string>>) =>
  path.replace(/\{(\w+)\}/g, (_, name: string) => parameters[name] ?? '');

/** The event, payload format 2.0, with which an HTTP API invokes a function. */
export const gatewayEvent = ({
  routeKey,
  pathParameters = {},
  token,
  json,
}: Call): APIGatewayProxyEventV2 => {
  const [method = '', pattern = ''] = routeKey.split(' ');
  const path = fill(pattern, pathParameters);
  return {
    version: '2.0',
    routeKey,
    rawPath: path,
    rawQueryString: '',
    headers: {
      host: 'api.example.org',
      ...(token ? { authorization: `Bearer ${token}` } : {}),
      ...(json === undefined ? {} : { 'content-type': 'application/json' }),
    },
    ...(Object.keys(pathParameters).length > 0 ? { pathParameters } : {}),
    requestContext: {
      accountId: '123456789012',
      apiId: 'api',
      domainName: 'api.example.org',
      domainPrefix: 'api',
      http: { method, path, protocol: 'HTTP/1.1', sourceIp: '192.0.2.1', userAgent: 'test' },
      requestId: 'request',
      routeKey,
      stage: '$default',
      time: '21/Nov/2026:09:05:00 +0000',
      timeEpoch: 1_795_251_900_000,
    },
    ...(json === undefined ? {} : { body: JSON.stringify(json) }),
    isBase64Encoded: false,
  };
};
