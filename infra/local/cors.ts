import type { IncomingMessage } from 'node:http';
import { cors } from '../routes.ts';

/** Whether a browser asks what it may send. */
export const isPreflight = ({ method, headers }: IncomingMessage) =>
  method === 'OPTIONS' && headers.origin && headers['access-control-request-method'];

/** What a browser is told: nothing, unless a page of an allowed origin asks. */
export const corsHeaders = (message: IncomingMessage, origins: readonly string[]) => {
  const { origin } = message.headers;
  const allowed = origins.includes('*') ? '*' : origins.find((candidate) => candidate === origin);
  if (!origin || !allowed) return {};
  if (!isPreflight(message)) {
    return {
      'Access-Control-Allow-Origin': allowed,
      'Access-Control-Expose-Headers': cors.responseHeaders.join(','),
    };
  }
  return {
    'Access-Control-Allow-Origin': allowed,
    'Access-Control-Allow-Methods': cors.methods.join(','),
    'Access-Control-Allow-Headers': cors.requestHeaders.join(','),
    'Access-Control-Max-Age': String(cors.maxAge),
  };
};
