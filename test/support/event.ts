import type { APIGatewayProxyEventV2 } from 'aws-lambda';

interface EventFields {
  readonly method?: string;
  readonly path?: string;
  /** The path of the route, if it differs from the path. */
  readonly route?: string;
  readonly pathParameters?: Readonly<Record<string, string>>;
  readonly query?: Readonly<Record<string, string>> | undefined;
  readonly headers?: Readonly<Record<string, string>>;
  /** The token of the caller. */
  readonly token?: string | undefined;
  readonly body?: string;
  /** A body that is sent as JSON. */
  readonly json?: object | undefined;
  readonly isBase64Encoded?: boolean;
  readonly sourceIp?: string | undefined;
  readonly userAgent?: string;
}

/** The event with which the gateway would invoke a function. Tests choose the fields that matter to them. */
export const gatewayEvent = (fields: EventFields = {}): APIGatewayProxyEventV2 => {
  const { method = 'POST', path = '/', route = path, query, headers = {}, ...others } = fields;
  const { sourceIp = '192.0.2.1', userAgent = 'test', token, json, ...rest } = others;
  const routeKey = `${method} ${route}`;
  return {
    version: '2.0',
    routeKey,
    rawPath: path,
    rawQueryString: new URLSearchParams(query).toString(),
    ...(query ? { queryStringParameters: query } : {}),
    headers: {
      ...(token ? { authorization: `Bearer ${token}` } : {}),
      ...(json ? { 'content-type': 'application/json' } : {}),
      ...headers,
    },
    requestContext: {
      accountId: 'test',
      apiId: 'test',
      domainName: 'test',
      domainPrefix: 'test',
      http: { method, path, protocol: 'HTTP/1.1', sourceIp, userAgent },
      requestId: 'request-1',
      routeKey,
      stage: '$default',
      time: '21/Nov/2026:09:05:00 +0000',
      timeEpoch: 1_795_251_900_000,
    },
    isBase64Encoded: false,
    ...(json ? { body: JSON.stringify(json) } : {}),
    ...rest,
  };
};
