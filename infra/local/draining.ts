import { once } from 'node:events';
import type { IncomingMessage, Server } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';

/** Milliseconds for which a server that is ending still waits. */
const limits = {
  /** For a client's next request on a connection that it keeps. */
  next: 200,
  /** For the rest of a request. */
  request: 5000,
  /** For handlers and responses: longer than a handler may take. */
  all: 40_000,
};

const after = (milliseconds: number) => sleep(milliseconds, undefined, { ref: false });

export interface Draining {
  /** Whether the server is ending, so that its responses must close their connections. */
  readonly begun: boolean;
  /** Makes the server wait for a piece of work before it ends, even if the client has gone. */
  track(work: Promise<unknown>): void;
  /** Ends the server when all requests are answered and all work is done, or its time is up. */
  drain(): Promise<void>;
}

/** Lets a server end without cutting off the requests that it has received. */
export const drainable = (server: Server): Draining => {
  const requests = new Set<IncomingMessage>();
  const works = new Set<Promise<unknown>>();
  let begun = false;

  const track = (work: Promise<unknown>) => {
    works.add(work);
    const done = () => works.delete(work);
    work.then(done, done);
  };
  server.on('request', (message, response) => {
    requests.add(message);
    response.once('close', () => requests.delete(message));
    track(once(response, 'close'));
  });

  return {
    get begun() {
      return begun;
    },
    track,
    drain: async () => {
      begun = true;
      if (!server.listening) return;
      // The response to its next request tells a client that the connection ends.
      await after(limits.next);
      const closed = once(server, 'close');
      // Closes idle connections too (Node's closeIdleConnections).
      server.close();
      await Promise.race([closed, after(limits.request)]);
      for (const message of requests) if (!message.complete) message.destroy();
      await Promise.race([Promise.allSettled(works), after(limits.all)]);
      server.closeAllConnections();
    },
  };
};
