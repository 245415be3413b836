import { once } from 'node:events';
import type { IncomingMessage, Server } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';

/** Milliseconds for which a server that is ending still waits. */
const limits = {
  /** For a client's next request on a connection that it keeps open. */
  next: 200,
  /** For the rest of a request. */
  request: 5000,
  /** For handlers and responses: longer than a handler may take. */
  all: 40_000,
};

/**
 * Ends a server without cutting off the requests that it has received. Its responses must close their
 * connections from now on.
 * @param works the work on each request that is under way, even if its client has gone
 */
export async function drain(
  server: Server,
  works: ReadonlyMap<IncomingMessage, Promise<unknown>>,
): Promise<void> {
  if (!server.listening) return;
  // The response to its next request tells a client that the connection ends.
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
