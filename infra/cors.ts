/** The rules for pages of other origins, in a deployment and on one machine. */
import type { Setting } from '../lib/ground/setting.ts';

/** The origins whose pages may call the API from a browser. Only the gateway reads them. */
export const corsOrigins = {
  allowed: {
    rule: '* or a comma-separated list of origins without a final slash, such as https://app.example.com',
    isAllowed: (text) => originsIn(text).every(isOrigin),
  },
  default: '*',
  isPassedOn: true,
} as const satisfies Setting;

/** The headers that pages of other origins may send and read. The origins are a setting. */
export const cors = {
  methods: ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'],
  requestHeaders: [
    'authorization',
    'content-type',
    // Tracing libraries in browsers add these headers to every request.
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

export function originsIn(text: string): string[] {
  return text.split(',').map((each) => each.trim());
}

/** Whether a text is an http or https origin in the form that browsers send. */
export function isOrigin(text: string): boolean {
  return /^https?:[^*]+$/.test(text) && URL.parse(text)?.origin === text;
}
