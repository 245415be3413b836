import type { APIGatewayProxyStructuredResultV2 } from 'aws-lambda';
import type { ApiResponse, Middleware } from '../endpoint.ts';

/** What every answer carries: never kept, and never more to a browser than data (ASVS 5.0, V3.4). */
export const commonHeaders = {
  'Cache-Control': 'no-store',
  'Content-Security-Policy': "default-src 'none'; frame-ancestors 'none'; sandbox",
  'Referrer-Policy': 'no-referrer',
  'Strict-Transport-Security': 'max-age=31536000; includeSubDomains',
  'X-Content-Type-Options': 'nosniff',
};

const jsonHeaders = { 'Content-Type': 'application/json; charset=utf-8' };

/**
 * Renders what a handler returned, and gives every answer, errors included, the headers that all
 * of them carry (decisions, Answers).
 */
export const answer = (): Middleware => {
  const headersFor = (requestId: string | undefined, response: ApiResponse) => ({
    ...response.headers,
    ...commonHeaders,
    ...(response.body === undefined ? {} : jsonHeaders),
    'X-Request-Id': requestId ?? '',
  });

  const answerAfter: NonNullable<Middleware['after']> = (request) => {
    const response = request.response as ApiResponse;
    request.response = {
      statusCode: response.statusCode,
      headers: headersFor(request.event.requestContext?.requestId, response),
      ...(response.body === undefined ? {} : { body: JSON.stringify(response.body) }),
    } satisfies APIGatewayProxyStructuredResultV2;
  };

  const answerOnError: NonNullable<Middleware['onError']> = (request) => {
    if (request.response) {
      request.response.headers = headersFor(
        request.event.requestContext?.requestId,
        request.response,
      );
    }
  };

  return { after: answerAfter, onError: answerOnError };
};
