/** The headers that pages of other origins may send and read. The origins are a setting. */
export const cors = {
  methods: ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'],
  requestHeaders: [
    'authorization',
    'content-type',
    // Tracing libraries in browsers add these to every request.
    'traceparent',
    'tracestate',
    'baggage',
    'sentry-trace',
    'x-amzn-trace-id',
  ],
  responseHeaders: ['apigw-requestid', 'error-code', 'link', 'retry-after', 'x-request-id'],
  /** Seconds for which a browser may cache the response to a preflight request. */
  maxAge: 3600,
} as const;
