import { once } from 'node:events';
import type { IncomingMessage, Server } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';

/** Milliseconds for which a server waits before it ends. */
const limits = {
  /** For the next request of a client on an open connection. */
  next: 200,
  /** For the rest of a request. */
  request: 5000,
  /** For handlers and responses: longer than a handler may take. */
  all: 40_000,
};

/**
 * Ends a server, but lets it respond to the requests that it has received. From now on, its responses must close their
 * connections.
 * @param works the work on each unfinished request, even if its client has gone away
 */
export async function drain(
  server: Server,
  works: ReadonlyMap<IncomingMessage, Promise<unknown>>,
): Promise<void> {
  if (!server.listening) return;
  // A client learns from the response to its next request that the connection ends.
  await after(limits.next);
  const closed = once(server, 'close');
  // Closes idle connections too (Node's closeIdleConnections).
  server.close();
  await Promise.race([closed, after(limits.request)]);
  for (const message of works.keys()) if (!message.complete) message.destroy();
  await Promise.race([Promise.allSettled(works.values()), after(limits.all)]);
  server.closeAllConnections();
}

function after(milliseconds: number) {
  return sleep(milliseconds, undefined, { ref: false });
}
