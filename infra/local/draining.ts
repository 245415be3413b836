import { once } from 'node:events';
import type { IncomingMessage, Server } from 'node:http';
import type { Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

/** Milliseconds after which a server that ends gives up what it still waits for. */
const limits = {
  /** A client's next request, on a connection that it keeps. */
  next: 200,
  /** The rest of a request. */
  request: 5000,
  /** Everything else: longer than a handler may take. */
  all: 40_000,
};

const after = (milliseconds: number) => sleep(milliseconds, undefined, { ref: false });

export interface Draining {
  /** Whether the server is ending, so that connections are not to be kept. */
  readonly begun: boolean;
  /** Has the end wait for a piece of work, whether or not its client does. */
  track(work: Promise<unknown>): void;
  /** Ends the server when what it was asked is answered and done, or out of time. */
  drain(): Promise<void>;
}

/** Lets a server end without cutting short what it is asked. */
export const drainable = (server: Server): Draining => {
  const sockets = new Set<Socket>();
  const underWay = new Set<IncomingMessage>();
  const works = new Set<Promise<unknown>>();
  let begun = false;

  server.on('connection', (socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
  });
  server.on('request', (message, response) => {
    underWay.add(message);
    response.once('close', () => underWay.delete(message));
  });

  const cutUnfinished = () => {
    const received = [...underWay].filter(({ complete }) => complete);
    const busy = new Set(received.map(({ socket }) => socket));
    for (const socket of sockets) if (!busy.has(socket)) socket.destroy();
  };
  const close = async () => {
    const closed = once(server, 'close');
    server.close();
    const lateRequests = setTimeout(cutUnfinished, limits.request);
    await closed;
    clearTimeout(lateRequests);
    await Promise.allSettled(works);
  };

  return {
    get begun() {
      return begun;
    },
    track: (work) => {
      works.add(work);
      const done = () => works.delete(work);
      work.then(done, done);
    },
    drain: async () => {
      begun = true;
      if (!server.listening) return;
      // Each client that is at work learns from its answer that the connection ends.
      if (sockets.size > 0) await after(limits.next);
      await Promise.race([close(), after(limits.all)]);
      server.closeAllConnections();
    },
  };
};
