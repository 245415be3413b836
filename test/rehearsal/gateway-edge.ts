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

/** The emulator invents a type for answers of a function that have none and no body. */
const keepsHeader = (name: string, status: number) => !(name === 'content-type' && status === 204);

/** Lets so many in at a time; the others wait in line. */
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
 * Copies of functions that run at once. The emulator starts a process for each, and a hundred of
 * them on the processors of one machine would exceed timeouts that hold where each has its own.
 */
const copies = 4;

/**
 * The address of a deployed HTTP API on this machine, where the name that the emulator gives it
 * resolves nowhere.
 * @param apiUrl the stack's output
 */
export const startGatewayEdge = (target: number, apiUrl: string): Promise<Edge> => {
  const enter = turnstile(copies);
  // The emulator does not honour reserved concurrency. Here the one copy's callers wait; on AWS
  // they are refused while it is busy.
  const enterInMemory = turnstile(1);
  return startEdge({
    target,
    host: new URL(apiUrl).host,
    refuse: refuseLargeHeaders,
    admit: ({ url = '' }) => (url.startsWith('/api/v1/') ? enterInMemory() : enter()),
    keepsHeader,
  });
};
