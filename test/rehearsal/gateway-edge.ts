import type { IncomingMessage, ServerResponse } from 'node:http';
import { type Edge, startEdge } from './edge.ts';

/** Bytes, request line and headers together: API Gateway's quota for HTTP APIs. */
const headerLimit = 10_240;

/** The emulator has no such limit. */
const refuseLargeHeaders = (incoming: IncomingMessage, outgoing: ServerResponse): boolean => {
  const { rawHeaders, url = '' } = incoming;
  const size = rawHeaders.reduce((sum, text) => sum + text.length, url.length);
  if (size <= headerLimit) return false;
  outgoing.writeHead(431, { 'content-type': 'application/json' });
  outgoing.end(JSON.stringify({ message: 'Request Header Fields Too Large' }));
  return true;
};

/** The emulator adds a content type to responses of a function that have no content type and no body. */
const keepsHeader = (name: string, status: number) => !(name === 'content-type' && status === 204);

/** Lets a number of requests in at a time; the others wait in line. */
const turnstile = (places: number) => {
  let free = places;
  const waiting: (() => void)[] = [];
  const leave = () => {
    const next = waiting.shift();
    if (next) next();
    else free += 1;
  };
  return async (): Promise<() => void> => {
    if (free > 0) free -= 1;
    else await new Promise<void>((resolve) => waiting.push(resolve));
    let left = false;
    return () => {
      if (!left) leave();
      left = true;
    };
  };
};

/**
 * How many copies of functions run at once. The emulator starts a process for each copy. A hundred processes on the
 * processors of one machine would exceed timeouts that are long enough if each copy has its own processor.
 */
const copies = 4;

/**
 * Makes a deployed HTTP API reachable on this machine, as nothing resolves the name that the emulator gives the API.
 * @param apiUrl the output of the stack
 */
export const startGatewayEdge = (target: number, apiUrl: string): Promise<Edge> => {
  const enter = turnstile(copies);
  // The emulator does not apply reserved concurrency. Here callers wait while the only copy is busy; on AWS they are
  // refused.
  const enterInMemory = turnstile(1);
  return startEdge({
    target,
    host: new URL(apiUrl).host,
    refuse: refuseLargeHeaders,
    admit: ({ url = '' }) => (url.startsWith('/api/v1/') ? enterInMemory() : enter()),
    keepsHeader,
  });
};
