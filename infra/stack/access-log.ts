import { AccessLogFormat } from 'aws-cdk-lib/aws-apigateway';

/**
 * One line of JSON for each request. Neither headers nor the query, which may hold secrets. The
 * client's own text comes first: a quotation mark in it cannot replace a later field.
 */
export const accessLogFormat = AccessLogFormat.custom(
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
